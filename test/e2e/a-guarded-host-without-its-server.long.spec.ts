import { readFileSync, statSync } from 'node:fs';
import { LoneHost } from '../builders/resources/lone-host';
import { ownOrganization } from '../builders/accounts/organization';
import { seedHolders } from '../builders/sessions/seeded-holders';
import { type AgentProcess, stateFile, writeStateFile } from '../harness/product/agent-process';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasNetworks, HOST, sayNotTested, VISITOR } from '../harness/network/network';
import { hasServiceManager, ServiceManagerSocket } from '../harness/machines/service-manager';
import { hasFaketime, skewedClock } from '../harness/machines/skewed-clock';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
const onFaketime = hasFaketime ? describe : describe.skip;
const onServiceManager = hasServiceManager ? describe : describe.skip;
if (!hasNetworks) sayNotTested('what a host does without its server, its agent or its power');
if (!hasFaketime)
  process.stderr.write('\n*** faketime is not here: a wrong clock on a guarded host WAS NOT TESTED ***\n\n');
if (!hasServiceManager)
  process.stderr.write('\n*** no systemd-notify or python3: the watchdog WAS NOT TESTED ***\n\n');

/** A host of its own for each test, with a guarded port and an agent. */
onNetworks('A guarded host without its server or agent', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  const lone = LoneHost.forEachTest(drawbridge, org, 'alone');

  it('its agent is killed: open rules end at their time, and are reported when an agent is back', async () => {
    const agent = await lone.served();
    const id = await lone.active();
    await lone.endsIn(id, 4);
    await agent.stop('SIGKILL');
    const connection = await lone.network.visitor.hold(lone.place);
    await lone.closes();
    expect(await lone.network.visitor.answers(connection)).toBe(false);
    await org.reaches(id, 'EXPIRING');
    lone.serve();
    await org.reaches(id, 'EXPIRED');
    expect(await lone.isOpen()).toBe(false);
  });

  it('its server is unreachable: open rules stay and end at their time, nothing is added; then all changes are applied', async () => {
    await lone.served();
    const id = await lone.active();
    const other = await lone.active({ ipv4Address: VISITOR.otherIpv4, holder: `${lone.host.name} other` });
    await lone.endsIn(id, 4);
    lone.disconnect();
    expect(await lone.isOpen()).toBe(true);
    const [late] = await Promise.all([
      lone.start({ ipv6Address: VISITOR.ipv6, ipv4Address: undefined, holder: `${lone.host.name} late` }),
      lone.stop(other),
    ]);
    await lone.closes();
    const elsewhere = { ...lone.place, from: VISITOR.otherIpv4 };
    expect(await lone.network.visitor.reaches(elsewhere)).toBe(true);
    expect(await lone.network.visitor.reaches({ ...lone.place, address: HOST.ipv6 })).toBe(false);
    expect([await lone.statusOf(other), await lone.statusOf(late.id)]).toEqual(['EXPIRING', 'PENDING']);
    lone.isServerAway = false;
    await Promise.all([
      org.reaches(other, 'CANCELLED'),
      org.reaches(late.id, 'ACTIVE'),
      org.reaches(id, 'EXPIRED'),
    ]);
    expect(await lone.network.visitor.reaches(elsewhere)).toBe(false);
    expect(await lone.network.visitor.reaches({ ...lone.place, address: HOST.ipv6 })).toBe(true);
  });

  it('its server is silent for longer than the session allows: it ends, and is back with the server; a static rule stays', async () => {
    const agent = await lone.served();
    // shorter than the API accepts
    await drawbridge.query(
      `UPDATE resources SET config = config || '{"maxSilenceSeconds": 6}' WHERE id = $1`,
      [lone.host.resourceId],
    );
    const range = { label: 'office', ipAddress: VISITOR.otherIpv4, resourceIds: [lone.host.resourceId] };
    await org.admin.created('/static-ip-rules', range);
    const elsewhere = { ...lone.place, from: VISITOR.otherIpv4 };
    await until('the range is let in', () => lone.network.visitor.reaches(elsewhere));
    await lone.active();
    lone.disconnect();
    await lone.closes();
    expect(await lone.network.visitor.reaches(elsewhere)).toBe(true);
    await agent.says('The server is silent: 1 rules were closed before their end');
    lone.isServerAway = false;
    await until('the session is let in again', () => lone.isOpen());
  });

  it('its agent restarts without a server: rules stay, and removed rules do not return', async () => {
    const agent = await lone.served();
    await lone.active();
    lone.disconnect();
    await agent.stop();
    expect(await lone.isOpen()).toBe(true);
    lone.network.nft('flush', 'set', 'inet', 'drawbridge', 'host4_port');
    lone.serve();
    await lone.agents.at(-1)!.says('cannot be reached');
    expect(await lone.isOpen()).toBe(false);
  });

  describe('when its machine restarts without a server', () => {
    const file = (): string => stateFile(lone.network);
    interface KeptRule {
      readonly ipAddress: string;
      readonly secondsLeft: number | null;
    }
    /** The file is written once the host is so, and before that is reported. */
    const isKept = (isIt: (rule: KeptRule) => boolean): Promise<boolean> =>
      until('it is in the state file', async () => {
        const { state } = JSON.parse(readFileSync(file(), 'utf8')) as { state: { rules: KeptRule[] } };
        return state.rules.some(isIt);
      });
    const powerCut = async (agent: AgentProcess): Promise<void> => {
      lone.disconnect();
      await agent.stop('SIGKILL');
      lone.network.nft('delete', 'table', 'inet', 'drawbridge');
      expect(await lone.isOpen()).toBe(true);
    };

    it('the guard is loaded before the agent starts, and rules without an end are restored', async () => {
      const agent = await lone.served();
      const range = { label: 'office', ipAddress: VISITOR.otherIpv4, resourceIds: [lone.host.resourceId] };
      await org.admin.expect(201, org.admin.post('/static-ip-rules', range));
      await until('it is let in', () =>
        lone.network.visitor.reaches({ ...lone.place, from: VISITOR.otherIpv4 }),
      );
      await isKept(({ ipAddress }) => ipAddress === `${VISITOR.otherIpv4}/32`);
      await powerCut(agent);
      expect(await lone.run('--restore')).toEqual({ code: 0, output: '' });
      expect(await lone.isOpen()).toBe(false);
      expect(await lone.network.visitor.reaches({ ...lone.place, from: VISITOR.otherIpv4 })).toBe(true);
    });

    it('a session continues for its remaining time, measured by the machine’s clocks', async () => {
      const agent = await lone.served();
      const id = await lone.active();
      await lone.endsIn(id, 9);
      await isKept(({ secondsLeft }) => secondsLeft !== null && secondsLeft < 10);
      await powerCut(agent);
      expect((await lone.run('--restore')).code).toBe(0);
      expect(await lone.isOpen()).toBe(true);
      await lone.closes();
    });

    it('a session waits for the server when the time the machine was off is unknown', async () => {
      const agent = await lone.served();
      await lone.active();
      await powerCut(agent);
      const kept = JSON.parse(readFileSync(file(), 'utf8')) as { moment: object };
      Object.assign(kept.moment, { bootId: 'the one before', batterySeconds: null });
      writeStateFile(file(), JSON.stringify(kept));
      lone.serve();
      await lone.agents.at(-1)!.says('cannot be reached');
      expect(await lone.isOpen()).toBe(false);
      lone.isServerAway = false;
      await until('it is let in again', () => lone.isOpen());
    });

    it('an invalid state file is reported, and the ports of --guard are closed until the server responds', async () => {
      const agent = await lone.served();
      await powerCut(agent);
      writeStateFile(file(), '{"format": 1, "inst');
      const again = lone.serve({ args: ['--guard', `tcp/${lone.place.port}`] });
      await again.says('cannot be used');
      expect(await lone.closes()).toBe(true);
    });
  });

  it('only the agent’s user can read the state file', async () => {
    await lone.served();
    expect(statSync(stateFile(lone.network)).mode & 0o777).toBe(0o600);
  });

  it('another program flushes the whole ruleset: the guard and its rules are restored within seconds', async () => {
    const agent = await lone.served();
    await lone.active();
    lone.network.nft('flush', 'ruleset');
    await agent.says('recreated');
    expect(await lone.isOpen()).toBe(true);
    expect(await lone.network.visitor.reaches({ ...lone.place, from: VISITOR.otherIpv4 })).toBe(false);
  });

  it.each([
    ['empties a set', 'flush set inet drawbridge host4_port'],
    ['lets somebody in', `add element inet drawbridge host4_any { ${VISITOR.otherIpv4} }`],
    ['takes out a rule', 'flush chain inet drawbridge check'],
    ['adds a rule', 'insert rule inet drawbridge guard accept'],
  ])('another program %s: the guard is repaired', async (_, command) => {
    const agent = await lone.served();
    await lone.active();
    lone.network.nft(command);
    await agent.says('recreated');
    expect(await lone.isOpen()).toBe(true);
    expect(await lone.network.visitor.reaches({ ...lone.place, from: VISITOR.otherIpv4 })).toBe(false);
  });

  it('the agent does not change tables of other programs', async () => {
    lone.network.nft(
      'table inet theirs { set s { type ipv4_addr; elements = { 192.0.2.1 }; }; chain c { counter; }; }',
    );
    const theirs = lone.network.nft('list', 'table', 'inet', 'theirs');
    const agent = await lone.served();
    await lone.stop(await lone.active());
    await lone.closes();
    // one that serves makes its table anew
    await agent.stop();
    expect((await lone.run('--remove')).code).toBe(0);
    expect(lone.network.nft('list', 'tables')).toBe('table inet theirs\n');
    expect(lone.network.nft('list', 'table', 'inet', 'theirs')).toBe(theirs);
  });

  it('a host with all ports guarded still connects out, resolves neighbours and accepts sessions', async () => {
    await lone.served();
    await org.admin.expect(
      200,
      org.admin.patch(`/resources/${lone.host.resourceId}`, { config: { protocol: 'all' } }),
    );
    const other = await lone.network.host.listen();
    await until(
      'every port is closed',
      async () => !(await lone.network.visitor.reaches({ ...lone.place, port: other })),
    );
    const elsewhere = await lone.network.visitor.listen();
    for (const address of [VISITOR.ipv4, VISITOR.ipv6]) {
      expect(await lone.network.host.reaches({ address, port: elsewhere })).toBe(true);
    }
    await lone.active();
    expect(await lone.network.visitor.reaches({ ...lone.place, port: other })).toBe(true);
    expect(await lone.network.visitor.reaches({ ...lone.place, port: other, from: VISITOR.otherIpv4 })).toBe(
      false,
    );
  });

  it('twenty thousand rules are applied in one transaction, and another one is added and removed', async () => {
    await lone.served();
    await seedHolders(org, lone.host, { port: lone.place.port, count: 20_000 });
    await until('all stand', () => Promise.resolve(standing() === 20_000));
    const id = await lone.active();
    expect(await lone.isOpen()).toBe(true);
    expect(standing()).toBe(20_001);
    await org.closed(id);
    expect([await lone.isOpen(), standing()]).toEqual([false, 20_000]);
  });

  const standing = (): number =>
    lone.network.nft('list', 'set', 'inet', 'drawbridge', 'host4_port').match(/expires/g)?.length ?? 0;

  it('with --keep-established a connection survives the stop of its session, and no new one is accepted', async () => {
    await lone.served({ args: ['--keep-established'] });
    const id = await lone.active();
    const connection = await lone.network.visitor.hold(lone.place);
    expect(await lone.network.visitor.answers(connection)).toBe(true);
    await org.closed(id);
    expect(await lone.isOpen()).toBe(false);
    expect(await lone.network.visitor.answers(connection)).toBe(true);
  });

  onServiceManager('under systemd', () => {
    it('tells when it serves, and that it does not hang', async () => {
      const manager = await ServiceManagerSocket.start(lone.network);
      try {
        const env = { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '900000' };
        const agent = await lone.served({ env });
        await manager.hears('READY=1');
        await manager.hears('WATCHDOG=1', 3);
        process.kill(agent.pid, 'SIGSTOP');
        const isSilent = await until('nothing is on its way any more', async () => {
          const before = manager.count('WATCHDOG=1');
          await new Promise((passed) => setTimeout(passed, 1000));
          return manager.count('WATCHDOG=1') === before;
        });
        expect(isSilent).toBe(true);
      } finally {
        manager.stop();
      }
    });
  });

  it('its log says who was let in, in which session and for how long', async () => {
    const agent = await lone.served();
    const id = await lone.active();
    await lone.stop(id);
    await lone.closes();
    expect(agent.output).toMatch(
      new RegExp(`Opened: .* to tcp ${lone.place.port} \\(.*@.*, session ${id}\\) for `),
    );
    expect(agent.output).toMatch(
      new RegExp(`Closed: .* to tcp ${lone.place.port} \\(.*session ${id}\\) after \\d+ s`),
    );
  });

  onFaketime('with a wrong clock on the host', () => {
    it('sessions end at the right time', async () => {
      await lone.served({ env: skewedClock(-7 * 86_400) });
      const id = await lone.active();
      await lone.endsIn(id, 3);
      expect(await lone.isOpen()).toBe(true);
      await lone.closes();
      await org.reaches(id, 'EXPIRED');
    });
  });

  it('a session is FAILED with nft’s message while another program owns the table, and the guard is repaired afterwards', async () => {
    const agent = await lone.served();
    const before = await lone.active();
    const owner = lone.network.ownTable('inet drawbridge');
    await agent.says('nft: Operation not permitted');
    const { id } = await lone.start({ ipv4Address: VISITOR.otherIpv4, holder: `${lone.host.name} second` });
    const failed = await org.reaches(id, 'FAILED');
    expect(failed.resourceIps[0]!.errorMessage).toContain('no other program may own the table');
    owner.release();
    // the owner's table ends with it, and everybody is let in until the agent has repaired the guard
    const isOtherLetIn = (): Promise<boolean> =>
      lone.network.visitor.reaches({ ...lone.place, from: VISITOR.otherIpv4 });
    await until('the other visitor is refused', async () => !(await isOtherLetIn()));
    await agent.says('The guard is active');
    await until('the visitor is let in', () => lone.isOpen());
    expect(await isOtherLetIn()).toBe(false);
    await org.closed(before);
    await org.reaches((await lone.start({ holder: `${lone.host.name} third` })).id, 'ACTIVE');
  });
});
