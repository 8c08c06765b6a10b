import { chmodSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { verifiedByAgent } from '../builders/resources/agents';
import { LoneHost } from '../builders/resources/lone-host';
import { ownOrganization } from '../builders/accounts/organization';
import { stateFile, writeStateFile, type AgentProcess } from '../harness/product/agent-process';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasMachineId, hasNetworks, Network, sayNotTested, VISITOR } from '../harness/network/network';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('that a guarded host fails closed');
const onMachineId = hasMachineId ? describe : describe.skip;
if (!hasMachineId)
  process.stderr.write('\n*** no /etc/machine-id: a reinstalled host WAS NOT TESTED ***\n\n');

const STATE = 'state.json';
const GUARD = 'guard.json';
const PREVIOUS = 'guard.json.previous';

/** What may have become of a file after a power cut, a full disk or another program. */
const DAMAGE: Readonly<Record<string, (path: string) => void>> = {
  empty: (path) => truncateSync(path, 0),
  truncated: (path) => truncateSync(path, 20),
  'of a newer format': (path) => writeStateFile(path, '{"format":99}'),
  'of another program': (path) => writeStateFile(path, '[1,2,3]'),
  missing: (path) => rmSync(path),
};

/** A stranger never reaches a guarded port, whatever happens to the agent's files, its server or the machine. */
onNetworks('A guarded host fails closed', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  const lone = LoneHost.forEachTest(drawbridge, org, 'closed');

  const fileOf = (name: string): string => join(dirname(stateFile(lone.network)), name);
  const guardPorts = (): string[] => ['--guard', `tcp/${lone.place.port}`];

  /** Who reaches the guarded port: an address without access, and one that the host itself always lets in. */
  const reachedBy = async (): Promise<{ stranger: boolean; owner: boolean }> => ({
    stranger: await lone.isOpen(),
    owner: await lone.network.visitor.reaches({ ...lone.place, from: VISITOR.otherIpv4 }),
  });

  /** The machine stops and starts again: no process, no table. */
  const reboot = async (agent: AgentProcess): Promise<void> => {
    await agent.stop('SIGKILL');
    lone.network.nft('delete', 'table', 'inet', 'drawbridge');
  };

  const revokeKey = async (): Promise<void> => {
    const keys = await org.admin.expect(
      200,
      org.admin.get<{ id: string; agents: string[] }[]>('/api-keys?size=100'),
    );
    const key = keys.find(({ agents }) => agents.includes(lone.host.name))!;
    await org.admin.expect(204, org.admin.delete(`/api-keys/${key.id}`));
  };

  const patchPort = (port: number): Promise<unknown> =>
    org.admin.expect(200, org.admin.patch(`/resources/${lone.host.resourceId}`, { config: { port } }));

  /** The first port is then in the guard file and in the copy before. */
  const guardAnotherPort = async (): Promise<void> => {
    const port = await lone.network.host.listen();
    await patchPort(port);
    await until('the guard file has it', () => contains(fileOf(GUARD), String(port)));
    await until('the copy before has the first port', () =>
      contains(fileOf(PREVIOUS), String(lone.place.port)),
    );
  };

  describe('after a reboot', () => {
    describe.each(Object.keys(DAMAGE))('with a state file that is %s', (kind) => {
      it.each(['is away', 'answers', 'refuses the key'])('while the server %s', async (server) => {
        const owner = ['--always-allow', VISITOR.otherIpv4];
        const agent = await lone.served({ args: owner });
        if (server === 'is away') lone.disconnect();
        if (server === 'refuses the key') await revokeKey();
        await reboot(agent);
        DAMAGE[kind]!(fileOf(STATE));
        expect((await lone.run('--restore', ...owner)).code).toBe(0);
        expect(await reachedBy()).toEqual({ stranger: false, owner: true });
        const again = lone.serve({ args: owner });
        await again.says(server === 'answers' ? 'serves as' : 'Open rules stay');
        expect(await reachedBy()).toEqual({ stranger: false, owner: true });
      });
    });

    it.each([
      ['the guard file', [GUARD], []],
      ['the guard file and the state file', [GUARD, STATE], []],
      ['all files, with --guard from the installation', [GUARD, PREVIOUS, STATE], ['--guard']],
    ])('with damage of %s', async (_, names, given) => {
      const agent = await lone.served();
      // a second port: the guard file has a copy before
      await guardAnotherPort();
      lone.disconnect();
      await reboot(agent);
      for (const name of names) DAMAGE['truncated']!(fileOf(name));
      const args = ['--always-allow', VISITOR.otherIpv4, ...(given.length > 0 ? guardPorts() : [])];
      expect((await lone.run('--restore', ...args)).code).toBe(0);
      expect(await reachedBy()).toEqual({ stranger: false, owner: true });
    });
  });

  onMachineId('known by its machine id', () => {
    it('a reinstalled host takes over at once, and is guarded before', async () => {
      const agent = await lone.served();
      const id = await lone.active();
      await reboot(agent);
      for (const name of [STATE, GUARD]) rmSync(fileOf(name));
      const again = lone.serve({ args: guardPorts() });
      await again.says('serves as');
      await until('the session is allowed again', () => lone.isOpen());
      expect(again.output).not.toContain('another');
      expect(await lone.statusOf(id)).toBe('ACTIVE');
    });
  });

  it('a second host of the same name is refused, and guards what its installation names', async () => {
    await lone.served();
    const second = await Network.start();
    try {
      const server = await second.reachable(() => drawbridge.apiServer.port);
      const port = await second.host.listen();
      const rival = lone.serve({ server, args: ['--guard', `tcp/${port}`] }, second);
      await rival.says('Open rules stay');
      expect(await second.visitor.reaches({ ...lone.place, port })).toBe(false);
    } finally {
      second.stop();
    }
  });

  describe('a port that was guarded once', () => {
    it.each(Object.keys(DAMAGE))(
      'stays closed when the guard file is %s while the agent serves',
      async (kind) => {
        const agent = await lone.served();
        await guardAnotherPort();
        await org.admin.expect(204, org.admin.delete(`/resources/${lone.host.resourceId}`));
        DAMAGE[kind]!(fileOf(GUARD));
        await agent.says('it is written again');
        expect(await lone.isOpen()).toBe(false);
        expect(agent.output).not.toContain('Released');
      },
    );

    it('stays closed when its resource names another port, until it is released', async () => {
      const agent = await lone.served();
      const other = await lone.network.host.listen();
      await patchPort(other);
      await agent.says(`Guarded from now on: tcp ${other}`);
      expect(await lone.isOpen()).toBe(false);
      expect((await lone.run('release', `tcp/${lone.place.port}`)).code).toBe(0);
      await agent.says(`Released: tcp ${lone.place.port}`);
      await until('the port is open', () => lone.isOpen());
      expect(await lone.network.visitor.reaches({ ...lone.place, port: other })).toBe(false);
    });

    it('stays closed while a resource names it, whatever is released', async () => {
      const agent = await lone.served();
      await lone.run('release', `tcp/${lone.place.port}`);
      await agent.says('Still guarded, a resource names it');
      expect(await lone.isOpen()).toBe(false);
    });

    it('is released when its resource is deleted with that wish, and the agent hears of it', async () => {
      const agent = await lone.served();
      await org.admin.expect(204, org.admin.delete(`/resources/${lone.host.resourceId}?releasePorts=true`));
      await agent.says(`Released by the server: tcp ${lone.place.port}`);
      expect(await until('the port is open', () => lone.isOpen())).toBe(true);
    });

    it('is released on a host whose agent does not run', async () => {
      const agent = await lone.served();
      await agent.stop();
      expect((await lone.run('release', `tcp/${lone.place.port}`)).code).toBe(0);
      expect(await lone.isOpen()).toBe(true);
      expect(await lone.run('release', 'udp/1')).toEqual({ code: 1, output: 'Not guarded: udp 1\n' });
    });
  });

  it('a disk that takes nothing: what is done is reported all the same', async () => {
    const agent = await lone.served();
    chmodSync(dirname(fileOf(STATE)), 0o500);
    const id = await lone.active();
    await agent.says('The state cannot be written');
    await lone.stop(id);
    await lone.closes();
    await org.reaches(id, 'CANCELLED');
    chmodSync(dirname(fileOf(STATE)), 0o700);
  });

  it('--remove is refused while an agent serves', async () => {
    await lone.served();
    const { code, output } = await lone.run('--remove');
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('stop it first') as string });
    expect(await lone.isOpen()).toBe(false);
  });

  describe('The agent reports the cause when it cannot start:', () => {
    it('without CAP_NET_ADMIN', async () => {
      const agent = lone.serve({ mayGuard: false });
      expect(await agent.gone).toBe(1);
      expect(agent.output).toContain('the agent needs CAP_NET_ADMIN');
    });

    it('without nft', async () => {
      const hidden = 'for f in /usr/sbin /usr/local/sbin; do mount -t tmpfs none $f; done; exec "$@"';
      const agent = lone.serve({ prefix: ['sh', '-c', hidden, 'sh'] });
      expect(await agent.gone).toBe(1);
      expect(agent.output).toContain('nft is not installed');
    });

    it('a key that is refused; once a new one is in its file, the agent serves without a restart', async () => {
      const file = `${stateFile(lone.network)}.key`;
      writeStateFile(file, 'not-a-key\n');
      const agent = lone.serve({ key: '', args: ['--key-file', file] });
      await agent.says('The server refuses the key');
      writeStateFile(file, `${lone.host.plainKey}\n`);
      await agent.says('serves as');
      await verifiedByAgent(org, lone.host.resourceId);
      expect(await until('the port is guarded', async () => !(await lone.isOpen()))).toBe(true);
    });
  });
});

const contains = (path: string, text: string): Promise<boolean> =>
  Promise.resolve().then(() => {
    try {
      return readFileSync(path, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
