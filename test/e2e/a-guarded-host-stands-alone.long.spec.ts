import { readFileSync, statSync } from 'node:fs';
import { guardedHost, type GuardedHost } from '../builders/agents';
import { auditRecords } from '../builders/audit-trail';
import { organization, type Organization } from '../builders/organization';
import { seedHolders } from '../builders/seeded-holders';
import { AgentProcess, stateFile, writeStateFile, type AgentSetting } from '../harness/agent-process';
import type { Session } from '../harness/api-client';
import { Drawbridge } from '../harness/drawbridge';
import { hasNetworks, HOST, Network, sayNotTested, VISITOR } from '../harness/network';
import { hasFaketime, skewedClock } from '../harness/skewed-clock';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
const onFaketime = hasFaketime ? describe : describe.skip;
if (!hasNetworks) sayNotTested('what a host does without its server, its agent or its power');
if (!hasFaketime)
  process.stderr.write('\n*** faketime is not here: a wrong clock on a guarded host WAS NOT TESTED ***\n\n');

/** A host of its own for each test, with a guarded port and an agent. */
onNetworks('A guarded host stands alone', () => {
  let drawbridge: Drawbridge;
  let org: Organization;
  let network: Network;
  let host: GuardedHost;
  let setting: AgentSetting;
  let agents: AgentProcess[] = [];
  let place: { address: string; port: number };
  let isAway = false;
  let hosts = 0;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start();
    org = await organization(drawbridge, []);
  });
  afterAll(() => drawbridge.stop());

  beforeEach(async () => {
    network = await Network.start();
    isAway = false;
    place = { address: HOST.ipv4, port: await network.host.listen() };
    host = await guardedHost(org, `alone-${(hosts += 1)}`, { port: place.port });
    const server = await network.reachable(() => (isAway ? null : drawbridge.apiServer.port));
    setting = { server, name: host.name, key: host.plainKey };
  });
  afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.stop('SIGKILL')));
    agents = [];
    network.stop();
  });

  function serve(more: Partial<AgentSetting> = {}, where = network): AgentProcess {
    const agent = AgentProcess.start(where, { ...setting, ...more });
    agents.push(agent);
    return agent;
  }

  async function served(more: Partial<AgentSetting> = {}): Promise<AgentProcess> {
    const agent = serve(more);
    await until('the port is guarded', async () => !(await isOpen()));
    await org.admin.expect(200, host.verify());
    return agent;
  }

  const isOpen = (): Promise<boolean> => network.visitor.reaches(place);
  const closes = (): Promise<boolean> => until('the port is closed', async () => !(await isOpen()));
  const start = (given: object = {}): Promise<Session> =>
    org.started({ ipv4Address: VISITOR.ipv4, resourceIds: [host.resourceId], holder: host.name, ...given });
  const stop = (id: string): Promise<unknown> =>
    org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
  const statusOf = async (id: string): Promise<string> => (await org.session(id)).status;
  const run = (...args: readonly string[]): Promise<{ code: number | null; output: string }> =>
    AgentProcess.run(network, {}, ...args);

  async function active(given: object = {}): Promise<string> {
    const { id } = await start(given);
    await org.reaches(id, 'ACTIVE');
    return id;
  }

  function serverGoes(): void {
    isAway = true;
    network.cut();
  }

  /** The session's end is moved, and the agent has been told. */
  async function endsIn(id: string, seconds: number): Promise<void> {
    await org.expire(id, seconds * 1000);
    // what an extension does, too
    await drawbridge.query(
      `UPDATE rules SET revision = revision + 1 WHERE id IN (
         SELECT rule_id FROM rule_holders JOIN resource_ips ip ON ip.id = resource_ip_id WHERE session_id = $1)`,
      [id],
    );
    await until('the host has the new end', async () =>
      new RegExp(`tcp ${place.port} +\\d s`).test((await run('--status')).output),
    );
  }

  it('its agent is killed: what is open ends at its time, and is told when an agent is back', async () => {
    const agent = await served();
    const id = await active();
    await endsIn(id, 4);
    await agent.stop('SIGKILL');
    const connection = await network.visitor.hold(place);
    await closes();
    expect(await network.visitor.answers(connection)).toBe(false);
    await org.reaches(id, 'EXPIRING');
    serve();
    await org.reaches(id, 'EXPIRED');
    expect(await isOpen()).toBe(false);
  });

  it('its server is gone: what is open stays and ends at its time, nothing is added; back, all is caught up', async () => {
    await served();
    const id = await active();
    const other = await active({ ipv4Address: VISITOR.otherIpv4, holder: `${host.name} other` });
    await endsIn(id, 4);
    serverGoes();
    expect(await isOpen()).toBe(true);
    const [late] = await Promise.all([
      start({ ipv6Address: VISITOR.ipv6, ipv4Address: undefined, holder: `${host.name} late` }),
      stop(other),
    ]);
    await closes();
    const elsewhere = { ...place, from: VISITOR.otherIpv4 };
    expect(await network.visitor.reaches(elsewhere)).toBe(true);
    expect(await network.visitor.reaches({ ...place, address: HOST.ipv6 })).toBe(false);
    expect([await statusOf(other), await statusOf(late.id)]).toEqual(['EXPIRING', 'PENDING']);
    isAway = false;
    await Promise.all([
      org.reaches(other, 'CANCELLED'),
      org.reaches(late.id, 'ACTIVE'),
      org.reaches(id, 'EXPIRED'),
    ]);
    expect(await network.visitor.reaches(elsewhere)).toBe(false);
    expect(await network.visitor.reaches({ ...place, address: HOST.ipv6 })).toBe(true);
  });

  it('its agent starts again without a server: what stood stands, and nothing comes back that was taken out', async () => {
    const agent = await served();
    await active();
    serverGoes();
    await agent.stop();
    expect(await isOpen()).toBe(true);
    network.nft('flush', 'set', 'inet', 'drawbridge', 'host4_port');
    serve();
    await agents.at(-1)!.says('cannot be reached');
    expect(await isOpen()).toBe(false);
  });

  describe('and its machine is started again, without a server,', () => {
    const file = (): string => stateFile(network);
    interface KeptRule {
      readonly cidr: string;
      readonly leftMs: number | null;
    }
    /** The file is written once the host is so, and before that is reported. */
    const isKept = (isIt: (rule: KeptRule) => boolean): Promise<boolean> =>
      until('it is in the state file', async () => {
        const { state } = JSON.parse(readFileSync(file(), 'utf8')) as { state: { rules: KeptRule[] } };
        return state.rules.some(isIt);
      });
    const powerCut = async (agent: AgentProcess): Promise<void> => {
      serverGoes();
      await agent.stop('SIGKILL');
      network.nft('delete', 'table', 'inet', 'drawbridge');
      expect(await isOpen()).toBe(true);
    };

    it('the guard is loaded before the agent serves, and what has no end stands', async () => {
      const agent = await served();
      const range = { label: 'office', ipAddress: VISITOR.otherIpv4, resourceIds: [host.resourceId] };
      await org.admin.expect(201, org.admin.post('/static-ip-rules', range));
      await until('it is let in', () => network.visitor.reaches({ ...place, from: VISITOR.otherIpv4 }));
      await isKept(({ cidr }) => cidr === `${VISITOR.otherIpv4}/32`);
      await powerCut(agent);
      expect(await run('--restore')).toEqual({ code: 0, output: '' });
      expect(await isOpen()).toBe(false);
      expect(await network.visitor.reaches({ ...place, from: VISITOR.otherIpv4 })).toBe(true);
    });

    it('a session goes on for the time it had left, as far as the machine’s own clocks tell', async () => {
      const agent = await served();
      const id = await active();
      await endsIn(id, 9);
      await isKept(({ leftMs }) => leftMs !== null && leftMs < 10_000);
      await powerCut(agent);
      expect((await run('--restore')).code).toBe(0);
      expect(await isOpen()).toBe(true);
      await closes();
    });

    it('a session waits for the server where nobody can say how long the machine was off', async () => {
      const agent = await served();
      await active();
      await powerCut(agent);
      const kept = JSON.parse(readFileSync(file(), 'utf8')) as { moment: object };
      Object.assign(kept.moment, { bootId: 'the one before', batterySeconds: null });
      writeStateFile(file(), JSON.stringify(kept));
      serve();
      await agents.at(-1)!.says('cannot be reached');
      expect(await isOpen()).toBe(false);
      isAway = false;
      await until('it is let in again', isOpen);
    });

    it('a broken state file is said to be broken; the ports of --guard are closed until the server answers', async () => {
      const agent = await served();
      await powerCut(agent);
      writeStateFile(file(), '{"format": 1, "inst');
      const again = serve({ args: ['--guard', `tcp/${place.port}`] });
      await again.says('cannot be used');
      expect(await closes()).toBe(true);
    });
  });

  it('nobody else on the host may read who is let in', async () => {
    await served();
    expect(statSync(stateFile(network)).mode & 0o777).toBe(0o600);
  });

  it('another program flushes the whole ruleset: the guard and its openings are back within seconds', async () => {
    const agent = await served();
    await active();
    network.nft('flush', 'ruleset');
    await agent.says('made anew');
    expect(await isOpen()).toBe(true);
    expect(await network.visitor.reaches({ ...place, from: VISITOR.otherIpv4 })).toBe(false);
  });

  it.each([
    ['empties a set', 'flush set inet drawbridge host4_port'],
    ['lets somebody in', `add element inet drawbridge host4_any { ${VISITOR.otherIpv4} }`],
    ['takes out a rule', 'flush chain inet drawbridge check'],
    ['adds a rule', 'insert rule inet drawbridge guard accept'],
  ])('another program %s: that is mended too', async (_, command) => {
    const agent = await served();
    await active();
    network.nft(command);
    await agent.says('made anew');
    expect(await isOpen()).toBe(true);
    expect(await network.visitor.reaches({ ...place, from: VISITOR.otherIpv4 })).toBe(false);
  });

  it('tables of others are as they were, whatever the agent does', async () => {
    network.nft(
      'table inet theirs { set s { type ipv4_addr; elements = { 192.0.2.1 }; }; chain c { counter; }; }',
    );
    const theirs = network.nft('list', 'table', 'inet', 'theirs');
    const agent = await served();
    await stop(await active());
    await closes();
    // one that serves makes its table anew
    await agent.stop();
    expect((await run('--remove')).code).toBe(0);
    expect(network.nft('list', 'tables')).toBe('table inet theirs\n');
    expect(network.nft('list', 'table', 'inet', 'theirs')).toBe(theirs);
  });

  it('its resource is deleted: the port stays closed until somebody on the host takes the guard away', async () => {
    const agent = await served();
    await org.admin.expect(204, org.admin.delete(`/resources/${host.resourceId}`));
    await agent.says('stays closed to everybody');
    expect(await isOpen()).toBe(false);
    await agent.stop();
    expect(await isOpen()).toBe(false);
    expect(await run('--remove')).toEqual({ code: 0, output: '' });
    expect(await isOpen()).toBe(true);
  });

  it('a host that is closed as a whole still reaches out, resolves its neighbours and lets sessions in', async () => {
    await served();
    await org.admin.expect(
      200,
      org.admin.patch(`/resources/${host.resourceId}`, { config: { protocol: 'all' } }),
    );
    const other = await network.host.listen();
    await until(
      'every port is closed',
      async () => !(await network.visitor.reaches({ ...place, port: other })),
    );
    const elsewhere = await network.visitor.listen();
    for (const address of [VISITOR.ipv4, VISITOR.ipv6]) {
      expect(await network.host.reaches({ address, port: elsewhere })).toBe(true);
    }
    await active();
    expect(await network.visitor.reaches({ ...place, port: other })).toBe(true);
    expect(await network.visitor.reaches({ ...place, port: other, from: VISITOR.otherIpv4 })).toBe(false);
  });

  it('twenty thousand openings stand after one transaction, and one more opens and closes among them', async () => {
    await served();
    await seedHolders(org, host, { port: place.port, count: 20_000 });
    await until('all stand', () => Promise.resolve(standing() === 20_000), 90_000);
    const id = await active();
    expect(await isOpen()).toBe(true);
    expect(standing()).toBe(20_001);
    await stop(id);
    await org.reaches(id, 'CANCELLED');
    expect([await isOpen(), standing()]).toEqual([false, 20_000]);
  });

  const standing = (): number =>
    network.nft('list', 'set', 'inet', 'drawbridge', 'host4_port').match(/expires/g)?.length ?? 0;

  it('with --keep-established a connection goes on when its session is stopped, and no new one is made', async () => {
    await served({ args: ['--keep-established'] });
    const id = await active();
    const connection = await network.visitor.hold(place);
    expect(await network.visitor.answers(connection)).toBe(true);
    await stop(id);
    await org.reaches(id, 'CANCELLED');
    expect(await isOpen()).toBe(false);
    expect(await network.visitor.answers(connection)).toBe(true);
  });

  it('a second host under its name is refused and told of; the first one serves on', async () => {
    await served();
    const second = await Network.start();
    try {
      const server = await second.reachable(() => drawbridge.apiServer.port);
      const rival = serve({ server, installation: 'second' }, second);
      await rival.says('Another agent serves as');
      const records = await auditRecords(org.admin, '?eventType=AGENT_DUPLICATED&size=100');
      expect(records).toContainEqual(expect.objectContaining({ resourceName: host.name, result: 'FAILURE' }));
      await active();
      expect(await isOpen()).toBe(true);
      await rival.stop('SIGKILL');
    } finally {
      second.stop();
    }
  });

  onFaketime('With a wrong clock on the host', () => {
    it('nothing changes', async () => {
      await served({ env: skewedClock(-7 * 86_400) });
      const id = await active();
      await endsIn(id, 3);
      expect(await isOpen()).toBe(true);
      await closes();
      await org.reaches(id, 'EXPIRED');
    });
  });

  it('a session is FAILED in nft’s words while another program owns the table, and all is mended when it lets go', async () => {
    const agent = await served();
    const before = await active();
    const owner = network.ownTable('inet drawbridge');
    await agent.says('nft: Operation not permitted');
    const { id } = await start({ ipv4Address: VISITOR.otherIpv4, holder: `${host.name} second` });
    const failed = await org.reaches(id, 'FAILED');
    expect(failed.resourceIps[0]!.errorMessage).toContain('no other program may own the table');
    owner.letGo();
    await agent.says('The guard stands');
    await until('it is let in', isOpen);
    expect(await network.visitor.reaches({ ...place, from: VISITOR.otherIpv4 })).toBe(false);
    await stop(before);
    await org.reaches(before, 'CANCELLED');
    await org.reaches((await start({ holder: `${host.name} third` })).id, 'ACTIVE');
  });

  describe('What is wrong is said in words:', () => {
    const begun = (more: Partial<AgentSetting>): AgentProcess => serve(more);

    it('no right to the firewall', async () => {
      const agent = begun({ mayGuard: false });
      expect(await agent.gone).toBe(1);
      expect(agent.output).toContain('the agent needs CAP_NET_ADMIN');
    });

    it('no nft', async () => {
      const hidden = 'for f in /usr/sbin /usr/local/sbin; do mount -t tmpfs none $f; done; exec "$@"';
      const agent = begun({ prefix: ['sh', '-c', hidden, 'sh'] });
      expect(await agent.gone).toBe(1);
      expect(agent.output).toContain('nft is not installed');
    });

    it('a key that is refused; once a new one is in its file, the agent serves without a restart', async () => {
      const file = `${stateFile(network)}.key`;
      writeStateFile(file, 'not-a-key\n');
      const agent = begun({ key: '', args: ['--key-file', file] });
      await agent.says('The server refuses the key');
      writeStateFile(file, `${host.plainKey}\n`);
      expect(await until('the port is guarded', async () => !(await isOpen()), 90_000)).toBe(true);
    });

    it.each([
      ['a server over plain HTTP', { server: 'http://drawbridge.example.com' }, 'has to be https'],
      ['a key as an argument', { args: ['--key', 'secret'] }, 'A key is no argument'],
      ['no name', { name: '' }, 'What do resources call this host?'],
    ])('%s', async (_, more, words) => {
      const agent = begun(more);
      expect(await agent.gone).toBe(2);
      expect(agent.output).toContain(words);
    });
  });
});
