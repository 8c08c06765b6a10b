import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardedHost, hostResource, verifiedByAgent, type GuardedHost } from '../builders/resources/agents';
import { ownOrganization } from '../builders/accounts/organization';
import { staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import { AgentProcess } from '../harness/product/agent-process';
import type { Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasNetworks, HOST, Network, sayNotTested, VISITOR } from '../harness/network/network';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('an agent on a host');

onNetworks('An agent guards a host', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let network: Network;
  let server: string;
  let host: GuardedHost;
  let agent: AgentProcess;
  let ssh: number;
  let web: number;

  beforeAll(async () => {
    network = await Network.start();
    server = await network.reachable(() => drawbridge.apiServer.port);
    [ssh, web] = await Promise.all([network.host.listen(), network.host.listen()]);
    host = await guardedHost(org, 'db-host-1', { port: ssh });
    agent = AgentProcess.start(network, { server, name: host.name, key: host.plainKey });
    await verifiedByAgent(org, host.resourceId);
    await guards(ssh);
  });
  afterAll(async () => {
    await agent.stop('SIGKILL');
    network.stop();
  });

  const at = (port: number, address: string = HOST.ipv4): { address: string; port: number } => ({
    address,
    port,
  });
  const guards = (port: number): Promise<boolean> =>
    until('the port is guarded', async () => !(await network.visitor.reaches(at(port))));
  const opened = (given: object = {}): Promise<Session> =>
    org.opened({ ipv4Address: VISITOR.ipv4, resourceIds: [host.resourceId], ...given });

  /** Deletes a resource, and releases on the host what only that one named. */
  const deleteAndRelease = async (resourceId: string, traffic: string): Promise<void> => {
    await org.admin.expect(204, org.admin.delete(`/resources/${resourceId}`));
    await until('nothing else names the port', async () => {
      await AgentProcess.run(network, {}, 'release', traffic);
      return agent.output.includes(`Released: ${traffic.replace('/', ' ')}`);
    });
  };

  it('blocks without a session, allows during a session, and blocks again after it', async () => {
    expect(await network.visitor.reaches(at(ssh))).toBe(false);
    const { id } = await opened();
    expect(await network.visitor.reaches(at(ssh))).toBe(true);
    expect(await network.visitor.reaches({ ...at(ssh), from: VISITOR.otherIpv4 })).toBe(false);
    await org.closed(id);
    expect(await network.visitor.reaches(at(ssh))).toBe(false);
  });

  it('allows IPv6 like IPv4', async () => {
    expect(await network.visitor.reaches(at(ssh, HOST.ipv6))).toBe(false);
    const { id } = await opened({ ipv4Address: undefined, ipv6Address: VISITOR.ipv6 });
    expect(await network.visitor.reaches(at(ssh, HOST.ipv6))).toBe(true);
    await org.closed(id);
    expect(await network.visitor.reaches(at(ssh, HOST.ipv6))).toBe(false);
  });

  it('cuts the connections of a session when it is stopped', async () => {
    const { id } = await opened();
    const connection = await network.visitor.hold(at(ssh));
    expect(await network.visitor.answers(connection)).toBe(true);
    await org.closed(id);
    expect(await network.visitor.answers(connection)).toBe(false);
  });

  it('guards the ports of its resources, and no others', async () => {
    expect(await network.visitor.reaches(at(web))).toBe(true);
    expect(await network.host.reaches({ address: '127.0.0.1', port: ssh })).toBe(true);
    expect(await network.host.reaches(at(ssh))).toBe(true);
    const elsewhere = await network.visitor.listen();
    expect(await network.host.reaches({ address: VISITOR.ipv4, port: elsewhere })).toBe(true);
  });

  it('allows a session the ports of its own resource only', async () => {
    const webResource = await hostResource(org, host.credentialId, host.name, { ports: [web] });
    await verifiedByAgent(org, webResource);
    await guards(web);
    const { id } = await opened({ resourceIds: [webResource] });
    expect([await network.visitor.reaches(at(web)), await network.visitor.reaches(at(ssh))]).toEqual([
      true,
      false,
    ]);
    await org.closed(id);
    await deleteAndRelease(webResource, `tcp/${web}`);
    await until('the port is open', () => network.visitor.reaches(at(web)));
  });

  it('guards a port that is redirected by DNAT, such as one published by a container', async () => {
    network.nft(
      `table ip other { chain pre { type nat hook prerouting priority dstnat; tcp dport 9022 redirect to :${web}; }; }`,
    );
    expect(await network.visitor.reaches(at(9022))).toBe(true);
    const published = await hostResource(org, host.credentialId, host.name, { port: 9022 });
    await verifiedByAgent(org, published);
    await guards(9022);
    const { id } = await opened({ resourceIds: [published] });
    expect(await network.visitor.reaches(at(9022))).toBe(true);
    await org.closed(id);
    expect(await network.visitor.reaches(at(9022))).toBe(false);
    await deleteAndRelease(published, 'tcp/9022');
  });

  it('guards UDP and allows a session', async () => {
    const port = await network.host.listenUdp(5300);
    expect(await network.visitor.reachesUdp(at(port))).toBe(true);
    const dns = await hostResource(org, host.credentialId, host.name, { port, protocol: 'udp' });
    await verifiedByAgent(org, dns);
    await until('the port is guarded', async () => !(await network.visitor.reachesUdp(at(port))));
    const { id } = await opened({ resourceIds: [dns] });
    expect(await network.visitor.reachesUdp(at(port))).toBe(true);
    await org.closed(id);
    expect(await network.visitor.reachesUdp(at(port))).toBe(false);
    await deleteAndRelease(dns, `udp/${port}`);
  });

  it('allows ranges within others without touching the rest of the table', async () => {
    const madeAs = (): string | undefined =>
      /table .* # handle \d+/.exec(network.nft('-a', 'list', 'table', 'inet', 'drawbridge'))?.[0];
    const before = madeAs();
    const rules: string[] = [];
    for (const ipAddress of ['10.99.0.0/25', '10.99.0.0/24', '10.99.0.0/23']) {
      const { id } = await staticIpRule(org, { ipAddress, resourceIds: [host.resourceId] });
      rules.push(id);
      await staticIpRuleReaches(org, id, 'ACTIVE');
    }
    for (const id of rules) await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${id}`));
    const isLeft = (): boolean => network.nft('list', 'ruleset').includes('10.99.0.');
    await until('the ranges are removed', () => Promise.resolve(!isLeft()));
    expect(madeAs()).toBe(before);
  });

  it('allows the range of a static rule until the rule is deleted; a session within it changes nothing', async () => {
    const range = { label: 'office', ipAddress: '10.77.0.0/24', resourceIds: [host.resourceId] };
    const { id } = await org.admin.expect(201, org.admin.post<{ id: string }>('/static-ip-rules', range));
    await until('the range is let in', () =>
      network.visitor.reaches({ ...at(ssh), from: VISITOR.otherIpv4 }),
    );
    const session = await opened();
    await org.closed(session.id);
    expect(await network.visitor.reaches(at(ssh))).toBe(true);
    expect((await org.admin.delete(`/static-ip-rules/${id}`)).status).toBe(204);
    await guards(ssh);
  });

  it('ends a session at its time, and an extended one at its new time', async () => {
    const { id } = await opened();
    const connection = await network.visitor.hold(at(ssh));
    await org.expire(id, 1000);
    await org.reaches(id, 'EXPIRED');
    expect(await network.visitor.reaches(at(ssh))).toBe(false);
    expect(await network.visitor.answers(connection)).toBe(false);

    const extended = await opened({ durationHours: 1 });
    await org.admin.expect(200, org.admin.post(`/sessions/${extended.id}/extend`, { additionalHours: 1 }));
    expect(await status()).toContain(`Guarded: tcp ${ssh}`);
    await until('the host has the new end', async () =>
      /10\.77\.0\.2 +tcp \d+ +1 h 59 min/.test(await status()),
    );
    await org.closed(extended.id);
    expect(await status()).toContain('No address is allowed');
  });

  it('names the chains of other programs that may drop what a session lets in', async () => {
    const chain = 'input { type filter hook input priority 0; policy';
    network.nft(`table inet quiet { chain ${chain} accept; tcp dport 1 accept; }; }`);
    network.nft(`table ip strict { chain ${chain} drop; ct state established,related,new accept; }; }`);
    // another program changes the guard: the agent reads the whole ruleset again
    network.nft('add chain inet drawbridge other');
    let warnings: string[] = [];
    await until('a chain is named', async () => {
      const verify = org.admin.post<{ warnings: string[] }>(`/resources/${host.resourceId}/verify`);
      ({ warnings } = await org.admin.expect(200, verify));
      return warnings.length > 0;
    });
    expect(warnings).toEqual(['Addresses of sessions may be blocked by the nftables chain ip strict input']);
    network.nft('delete table ip strict; delete table inet quiet');
  });

  const status = async (): Promise<string> => (await AgentProcess.run(network, {}, '--status')).output;

  it('does not use a key that every user of the host may read', async () => {
    const file = join(network.folder, 'key');
    writeFileSync(file, host.plainKey, { mode: 0o644 });
    const args = ['--key-file', file, '--dry-run', '--server', server, '--name', host.name];
    expect(await AgentProcess.run(network, {}, ...args)).toEqual({
      code: 1,
      output: expect.stringContaining(`chmod 600 ${file}`) as string,
    });
  });

  it('says which Node.js it needs before it does anything', async () => {
    const older = join(network.folder, 'older.cjs');
    writeFileSync(older, `Object.defineProperty(process, 'version', { value: 'v18.20.4' });`, {
      mode: 0o644,
    });
    const env = { NODE_OPTIONS: `--require ${older}` };
    expect(await AgentProcess.run(network, { env }, '--version')).toEqual({
      code: 1,
      output: expect.stringContaining('needs Node.js 22 or newer, and this is v18.20.4') as string,
    });
  });
});
