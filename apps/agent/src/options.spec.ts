import type { Protocol, Traffic } from '#rules';
import { NO_LIMITS } from './guarding/limits';
import { readOptions } from './options';

const KEY = { DRAWBRIDGE_AGENT_KEY: 'k' };
const of = (protocol: Protocol, ...ports: number[]): Traffic => ({ protocol, ports });
const at = (server: string): string =>
  readOptions(['--server', server, '--name', 'n'], KEY).connection!.server;

describe('Agent options', () => {
  it('are read from the command line or from the environment', () => {
    const args = '--server https://d.example.com/ --name db --key-file /key --keep-established'.split(' ');
    expect(readOptions(args, {})).toEqual({
      command: 'serve',
      connection: { server: 'https://d.example.com', name: 'db', key: { file: '/key' } },
      stateFile: '/var/lib/drawbridge-agent/state.json',
      guard: [],
      limits: NO_LIMITS,
      keepEstablished: true,
      named: null,
      unusable: [],
    });
    const env = {
      DRAWBRIDGE_SERVER: 'https://d.example.com',
      DRAWBRIDGE_AGENT_NAME: 'db',
      STATE_DIRECTORY: '/s',
      ...KEY,
    };
    expect(readOptions([], env)).toMatchObject({
      connection: { server: 'https://d.example.com', name: 'db', key: { value: 'k' } },
      stateFile: '/s/state.json',
    });
    const { DRAWBRIDGE_AGENT_KEY: _, ...withoutKey } = env;
    expect(readOptions([], { ...withoutKey, CREDENTIALS_DIRECTORY: '/c' }).connection?.key).toEqual({
      file: '/c/key',
    });
  });

  it.each([
    ['https://d.example.com/api/v1', 'https://d.example.com'],
    ['https://d.example.com/path/', 'https://d.example.com/path'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('accepts the server %s', (given, read) => expect(at(given)).toBe(read));

  it.each([
    'http://d.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://10.0.0.1',
    'ftp://d.example.com',
    'd.example.com',
    'https://user@d.example.com',
  ])('refuses the server %s', (given) => expect(() => at(given)).toThrow('--server'));

  it.each([
    [['--key', 'x']],
    [['--api-key=x']],
    [['--unknown']],
    [['stray']],
    [['--status', '--remove']],
    [['--server', 'https://d.example.com']],
    [['--server', 'https://d.example.com', '--name', 'n']],
  ])('refuses the arguments %j', (args) =>
    expect(() => readOptions(args, {})).toThrow(/key|option|argument|command|Choose|missing/i),
  );

  it.each([
    ['tcp/22,udp/53', [of('tcp', 22), of('udp', 53)]],
    ['tcp, icmp', [of('tcp'), of('icmp')]],
    ['all', [of('all')]],
  ])('reads --guard %s', (given, guard) => {
    expect(readOptions(['--restore', '--guard', given], {}).guard).toEqual(guard);
  });

  it.each(['22', 'tcp/0', 'tcp/ssh', 'icmp/8', 'tcp/22/23x', ''])('refuses --guard %s', (given) => {
    const args = ['release', 'tcp/22', '--guard', given];
    expect(() => readOptions(args, {})).toThrow('--guard');
  });

  it('need neither key nor server for commands that do not connect', () => {
    for (const command of ['--status', '--restore', '--remove', '--help', '--version']) {
      expect(readOptions([command], {}).connection).toBeNull();
    }
  });

  it.each(['release', 'confirm'])('names what `%s` is about', (command) => {
    expect(readOptions([command, 'tcp/22,icmp'], {})).toMatchObject({
      command,
      named: [of('tcp', 22), of('icmp')],
    });
  });

  it('confirms everything that waits when nothing is named', () =>
    expect(readOptions(['confirm'], {}).named).toBeNull());

  it('reads the limits of the host: arguments before variables, these before the configuration file', () => {
    const config = {
      DRAWBRIDGE_ONLY: 'tcp/22,udp/53',
      DRAWBRIDGE_NEVER: 'tcp/80',
      DRAWBRIDGE_ALWAYS_ALLOW: '192.0.2.7, 2001:DB8::/32',
      DRAWBRIDGE_GUARD: '',
    };
    const env = { DRAWBRIDGE_NEVER: 'tcp/443', DRAWBRIDGE_ONLY: '' };
    const args = ['--restore', '--config', '/c', '--only', 'icmp'];
    const read = (path: string) => (path === '/c' ? config : null);
    expect(readOptions(args, env, read).limits).toEqual({
      only: [of('icmp')],
      never: [of('tcp', 443)],
      alwaysAllow: ['192.0.2.7/32', '2001:db8::/32'],
    });
  });

  it.each([
    [{ DRAWBRIDGE_NEVER: 'all' }, '--never all'],
    [{ DRAWBRIDGE_ONLY: 'ssh' }, '--only'],
    [{ DRAWBRIDGE_ALWAYS_ALLOW: 'example.com' }, '--always-allow'],
  ])('refuses %j, and at boot does without it', (env, message) => {
    expect(() => readOptions(['confirm'], env)).toThrow(message);
    const { unusable, limits } = readOptions(['--restore'], { DRAWBRIDGE_GUARD: 'tcp/22', ...env });
    expect({ unusable, limits }).toEqual({
      unusable: [expect.stringContaining(message) as string],
      limits: NO_LIMITS,
    });
  });

  it('refuses a configuration file that is named and missing', () =>
    expect(() => readOptions(['confirm', '--config', '/c'], {})).toThrow('/c cannot be read'));

  it.each([
    [['release']],
    [['release', 'tcp/0']],
    [['release', 'tcp/22', 'udp/53']],
    [['release', 'tcp/22', '--status']],
  ])('refuses %j', (args) => expect(() => readOptions(args, {})).toThrow(/release/));
});
