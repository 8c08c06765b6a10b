import { guardedHost, hostResource, type GuardedHost } from '../builders/agents';
import { organization, type Organization } from '../builders/organization';
import { AgentProcess } from '../harness/agent-process';
import type { Session } from '../harness/api-client';
import { Drawbridge } from '../harness/drawbridge';
import { hasNetworks, HOST, Network, sayNotTested, VISITOR } from '../harness/network';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('an agent on a host');

onNetworks('An agent guards a host', () => {
  let drawbridge: Drawbridge;
  let org: Organization;
  let network: Network;
  let server: string;
  let host: GuardedHost;
  let agent: AgentProcess;
  let ssh: number;
  let web: number;

  beforeAll(async () => {
    [drawbridge, network] = await Promise.all([Drawbridge.start(), Network.start()]);
    org = await organization(drawbridge, []);
    server = await network.reachable(() => drawbridge.apiServer.port);
    [ssh, web] = await Promise.all([network.host.listen(), network.host.listen()]);
    host = await guardedHost(org, 'db-host-1', { port: ssh });
    agent = AgentProcess.start(network, { server, name: host.name, key: host.plainKey });
    await guards(ssh);
    await org.admin.expect(200, host.verify());
  });
  afterAll(async () => {
    await agent.stop('SIGKILL');
    network.stop();
    await drawbridge.stop();
  });

  const at = (port: number, address: string = HOST.ipv4): { address: string; port: number } => ({ address, port });
  const guards = (port: number): Promise<boolean> =>
    until('the port is guarded', async () => !(await network.visitor.reaches(at(port))));
  const start = (given: object = {}): Promise<Session> =>
    org.started({ ipv4Address: VISITOR.ipv4, resourceIds: [host.resourceId], ...given });
  const stop = (id: string): Promise<unknown> => org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));

  it('refuses; a session, and it lets in; stopped, and it refuses again', async () => {
    expect(await network.visitor.reaches(at(ssh))).toBe(false);
    const { id } = await start();
    await org.reaches(id, 'ACTIVE');
    expect(await network.visitor.reaches(at(ssh))).toBe(true);
    expect(await network.visitor.reaches({ ...at(ssh), from: VISITOR.otherIpv4 })).toBe(false);
    await stop(id);
    await org.reaches(id, 'CANCELLED');
    expect(await network.visitor.reaches(at(ssh))).toBe(false);
  });
});
