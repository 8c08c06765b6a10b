import { existsSync, readFileSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { guardedHost, verifiedByAgent, type GuardedHost } from '../builders/resources/agents';
import { organization, type Organization } from '../builders/accounts/organization';
import { DisposableMachine, hasOverlays, type Ran } from '../harness/machines/disposable-machine';
import { Drawbridge } from '../harness/product/drawbridge';
import { neededInCi } from '../harness/needed-in-ci';
import { hasNetworks, HOST, Network, sayNotTested } from '../harness/network/network';
import { until } from '../harness/until';

const SUMS = resolve(__dirname, '../../dist/downloads/SHA256SUMS');
const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
const hasPackages = neededInCi(
  'npm run build:agent-packages',
  existsSync(SUMS) && readFileSync(SUMS, 'utf8').includes(`_${arch}.deb`),
);

const isTestable = hasNetworks && hasOverlays && hasPackages;
const onMachines = isTestable ? describe : describe.skip;
if (!isTestable)
  sayNotTested('the installer of the agent, which also needs npm run build:agent-packages and overlays,');

const SETTINGS = '/etc/drawbridge-agent';
const UNIT = '/etc/systemd/system/drawbridge-agent.service';
const NAME = 'db-host-1';

onMachines('An agent is installed in one line', () => {
  let drawbridge: Drawbridge;
  let org: Organization;
  let network: Network;
  let host: GuardedHost;
  let server: string;
  let ssh: number;
  let machine: DisposableMachine;
  let damaged: Server;

  beforeAll(async () => {
    [drawbridge, network] = await Promise.all([Drawbridge.start(), Network.start()]);
    server = await network.reachable(() => drawbridge.apiServer.port);
    ssh = await network.host.listen();
    org = await organization(drawbridge, []);
    host = await guardedHost(org, NAME, { port: ssh });
    damaged = await serveDamaged(() => drawbridge.apiServer.port);
  });
  afterAll(async () => {
    damaged.close();
    network.stop();
    await drawbridge.stop();
  });

  beforeEach(async () => (machine = await DisposableMachine.start(network)));
  afterEach(() => machine.stop());

  /** The documented command, with the key in the environment. */
  const install = (args = '', from = server, env = {}): Promise<Ran> =>
    machine.run(
      `curl -fsSL ${from}/downloads/install-agent.sh | sh -s -- --server ${from} --name ${NAME} ${args}`,
      {
        DRAWBRIDGE_AGENT_KEY: host.plainKey,
        ...env,
      },
    );

  const settings = (): string => machine.read(`${SETTINGS}/environment`) ?? '';
  const modeOf = async (path: string): Promise<string> =>
    (await machine.run(`stat -c '%a %U' ${path}`)).output.trim();
  const isUntouched = (): boolean =>
    [SETTINGS, UNIT, '/usr/bin/drawbridge-agent', '/usr/local/bin/drawbridge-agent'].every(
      (path) => machine.read(path) === undefined,
    ) && machine.systemctl.length === 0;

  it.each([
    ['deb', '/usr/bin/drawbridge-agent', '/usr/lib/systemd/system/drawbridge-agent.service'],
    ['executable', '/usr/local/bin/drawbridge-agent', UNIT],
    ['bundle', '/usr/local/bin/drawbridge-agent', UNIT],
  ])('as %s: program, units, settings, key, a dry run, and the service', async (format, program, unit) => {
    const { code, output } = await install(
      `--as ${format} --never tcp/22 --always-allow 192.0.2.0/24,2001:db8::/32`,
    );
    expect([code, output]).toEqual([0, expect.stringContaining('Installed and started: drawbridge-agent/')]);
    expect(output).toContain(`guarded_ports { 6 . ${ssh} }`);
    expect(output).not.toContain(host.plainKey);
    expect(machine.read(unit)).toContain(`ExecStart=${program}\n`);
    expect(settings()).toContain(
      `DRAWBRIDGE_SERVER=${server}\nDRAWBRIDGE_AGENT_NAME=${NAME}\n` +
        'DRAWBRIDGE_NEVER=tcp/22\nDRAWBRIDGE_ALWAYS_ALLOW=192.0.2.0/24,2001:db8::/32\n',
    );
    expect(machine.read(`${SETTINGS}/key`)).toBe(`${host.plainKey}\n`);
    expect(await modeOf(`${SETTINGS}/key`)).toBe('600 root');
    expect(await modeOf(`${SETTINGS}/environment`)).toBe('644 root');
    expect(machine.systemctl.slice(-3)).toEqual([
      'reenable drawbridge-guard drawbridge-agent',
      'start drawbridge-guard',
      'restart drawbridge-agent',
    ]);
  });

  it('takes the package where dpkg is, else the executable', async () => {
    expect((await install('--no-start')).output).toContain('Setting up drawbridge-agent');
    await machine.run('dpkg --purge drawbridge-agent && rm /var/lib/dpkg/status');
    expect((await install('--no-start')).code).toBe(0);
    expect((await machine.run('head -c 4 /usr/local/bin/drawbridge-agent')).output).toContain('ELF');
  });

  it('what it installs guards the host', async () => {
    expect((await install('--as executable')).code).toBe(0);
    expect(await network.visitor.reaches({ address: HOST.ipv4, port: ssh })).toBe(true);
    const agent = serve();
    try {
      await verifiedByAgent(org, host.resourceId);
      await until(
        'the port is guarded',
        async () => !(await network.visitor.reaches({ address: HOST.ipv4, port: ssh })),
      );
    } finally {
      // a removed program opens nothing
      agent.kill('SIGKILL');
    }
    expect(await network.visitor.reaches({ address: HOST.ipv4, port: ssh })).toBe(false);
    network.nft('delete', 'table', 'inet', 'drawbridge');
  });

  const serve = (): ChildProcess => {
    const setting = ['--server', server, '--name', NAME, '--key-file', `${SETTINGS}/key`];
    const [program, args] = machine.inside('drawbridge-agent', ...setting, '--state-file', '/tmp/state.json');
    return spawn(program, args, { stdio: 'ignore' });
  };

  it('a second run upgrades, and changes only what it is told', async () => {
    await install('--as executable --no-start --only tcp/5432');
    machine.write(`${SETTINGS}/environment`, `${settings()}# own remark\nDRAWBRIDGE_GUARD=tcp/22\n`);
    const again = await machine.run(
      `curl -fsSL ${server}/downloads/install-agent.sh | sh -s -- --as bundle --never tcp/22`,
    );
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('Installed and started')]);
    expect(settings()).toBe(
      `DRAWBRIDGE_SERVER=${server}\nDRAWBRIDGE_AGENT_NAME=${NAME}\nDRAWBRIDGE_ONLY=tcp/5432\n` +
        '# own remark\nDRAWBRIDGE_GUARD=tcp/22\nDRAWBRIDGE_NEVER=tcp/22\n',
    );
    expect(machine.read(`${SETTINGS}/key`)).toBe(`${host.plainKey}\n`);
    expect(machine.read('/usr/local/bin/drawbridge-agent')).toMatch(/^#!\/usr\/bin\/env node/);

    const packaged = await install('--as deb');
    expect(packaged.code).toBe(0);
    expect([machine.read(UNIT), machine.read('/usr/local/bin/drawbridge-agent')]).toEqual([
      undefined,
      undefined,
    ]);
    expect(settings()).toContain('# own remark\n');
    expect((await install('--as bundle')).output).toContain('The package drawbridge-agent is installed');
  });

  it('asks for the key on the terminal, without showing it', async () => {
    const script = `curl -fsSL ${server}/downloads/install-agent.sh | sh -s -- --server ${server} --name ${NAME} --as bundle`;
    const { code, output } = await machine.run(script, {}, host.plainKey);
    expect([code, output]).toEqual([0, expect.stringContaining(`API key of ${NAME}`)]);
    expect(output).not.toContain(host.plainKey);
    expect(machine.read(`${SETTINGS}/key`)).toBe(`${host.plainKey}\n`);
  });

  it('takes the key from a file', async () => {
    machine.write('/root/host.key', `${host.plainKey}\n`, 0o600);
    expect(
      (await install('--as bundle --key-file /root/host.key', server, { DRAWBRIDGE_AGENT_KEY: '' })).code,
    ).toBe(0);
    expect(machine.read(`${SETTINGS}/key`)).toBe(`${host.plainKey}\n`);
  });

  it.each(['deb', 'executable', 'bundle'])('a wrong checksum of %s: nothing is installed', async (format) => {
    const from = await network.reachable(() => (damaged.address() as AddressInfo).port);
    const { code, output } = await install(`--as ${format}`, from);
    expect([code, output]).toEqual([1, expect.stringContaining('does not have the checksum')]);
    expect(isUntouched()).toBe(true);
  });

  it('a download that is cut off runs nothing', async () => {
    const script = readFileSync(resolve(SUMS, '../install-agent.sh'), 'utf8');
    const cuts = Array.from({ length: 12 }, (_, index) => Math.floor((script.length * (index + 1)) / 13));
    for (const length of [...cuts, script.length - 6]) {
      machine.write('/root/cut.sh', script.slice(0, length));
      await machine.run(`sh /root/cut.sh --server ${server} --name ${NAME}`, {
        DRAWBRIDGE_AGENT_KEY: host.plainKey,
      });
    }
    expect(isUntouched()).toBe(true);
  });

  it.each([
    ['a key as an argument', '--key dbk_x', 'A key cannot be an argument'],
    ['an unknown option', '--nmae x', 'There is no option --nmae'],
    ['an option without its value', '--only', '--only needs a value'],
    ['a value that would be two lines', `--only "tcp/22\nX=1"`, 'has a character that is not possible'],
    ['a server without https', '--server http://drawbridge.example.com', 'must be https'],
    ['an unknown format', '--as rpm', '--as must be deb, executable or bundle'],
    ['a key file that is not there', '--key-file /nowhere', 'The key file cannot be read: /nowhere'],
  ])('%s: says what to do, and installs nothing', async (_, args, message) => {
    const { code, output } = await install(args);
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
    expect(isUntouched()).toBe(true);
  });

  it.each([
    ['no root', 'setpriv --reuid=65534 --clear-groups', 'This must run as root'],
    ['no systemd', 'rmdir /run/systemd/system;', 'systemd does not run here'],
    ['no nft', 'rm /usr/sbin/nft;', 'nft is missing: apt-get update && apt-get install -y nftables'],
    [
      'another architecture without Node.js',
      'rm $(command -v node); printf "#!/bin/sh\\nif [ \\$1 = -m ]; then echo riscv64; else echo Linux; fi" >/usr/bin/uname;',
      'There is no executable for riscv64',
    ],
  ])('%s: says what to do, and installs nothing', async (_, before, message) => {
    machine.write('/tmp/install.sh', readFileSync(resolve(SUMS, '../install-agent.sh'), 'utf8'));
    const { code, output } = await machine.run(
      `${before} sh /tmp/install.sh --server ${server} --name ${NAME}`,
      { DRAWBRIDGE_AGENT_KEY: host.plainKey },
    );
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
    expect(isUntouched()).toBe(true);
  });

  it('a key that the server refuses: installed, not started, the reason is shown', async () => {
    const { code, output } = await install('--as bundle', server, { DRAWBRIDGE_AGENT_KEY: 'dbk_wrong' });
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('the server refuses the API key, so nothing was started'),
    ]);
    expect(output).toContain('The API key is invalid');
    expect(machine.systemctl).toEqual(['daemon-reload']);
  });

  it('the package: enables the guard, keeps settings when it is removed, leaves nothing when it is purged', async () => {
    await install('--as deb --no-start');
    expect(machine.systemctl).toContainEqual(
      expect.stringMatching(/(?:enable|preset) .*drawbridge-guard\.service/),
    );
    expect(machine.systemctl.join()).not.toContain('start');
    await machine.run('mkdir -p /var/lib/drawbridge-agent && touch /var/lib/drawbridge-agent/state.json');
    network.nft('add', 'table', 'inet', 'drawbridge');
    const removed = await machine.run('dpkg --remove drawbridge-agent');
    expect(removed).toEqual({
      code: 0,
      output: expect.stringContaining('nft delete table inet drawbridge') as string,
    });
    expect(network.nft('list', 'tables')).toContain('inet drawbridge');
    expect(machine.systemctl).toContain('disable --now drawbridge-agent.service');
    expect(settings()).toContain(server);
    expect((await machine.run('dpkg --purge drawbridge-agent')).code).toBe(0);
    const left = await machine.run(
      // images that were built on this machine are none of the package's
      'find /etc /usr/bin /usr/lib/systemd /usr/share/man /var/lib -path /var/lib/containers -prune -o -name "drawbridge-*" -print',
    );
    expect(left.output).toBe('');
    network.nft('delete', 'table', 'inet', 'drawbridge');
  });
});

/** An API whose files do not have the checksums that it names. @param port of the API */
async function serveDamaged(port: () => number): Promise<Server> {
  const server = createServer((request, response) => {
    get({ port: port(), path: request.url }, (answer) => {
      response.statusCode = answer.statusCode!;
      if (!request.url!.endsWith('SHA256SUMS')) return answer.pipe(response);
      return answer.on('data', (sums: Buffer) =>
        response.end(sums.toString().replaceAll(/^[\da-f]{4}/gm, '0000')),
      );
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
