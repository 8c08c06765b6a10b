import { parseArgs, type ParseArgsConfig } from 'node:util';
import { canonicalCidr, PROTOCOLS, type Traffic } from '#rules';
import type { Limits } from './guarding/limits';
import { messageOf } from './log';
import { isPort, readTraffic } from './state/host-state';

export type Command =
  | 'serve'
  | 'release'
  | 'confirm'
  | 'restore'
  | 'dry-run'
  | 'status'
  | 'remove'
  | 'help'
  | 'version';

export interface AgentOptions {
  readonly command: Command;
  /** null: the command does not connect */
  readonly connection: Connection | null;
  readonly stateFile: string;
  /** traffic to close while no state and no guard file is readable */
  readonly guard: readonly Traffic[];
  readonly limits: Limits;
  readonly keepEstablished: boolean;
  /** of `release` and `confirm`; null: everything that waits for a confirmation */
  readonly named: readonly Traffic[] | null;
  /** errors in settings that the command does without */
  readonly unusable: readonly string[];
}

export interface Connection {
  /** without a trailing slash */
  readonly server: string;
  readonly name: string;
  readonly key: { readonly file: string } | { readonly value: string };
}

/** Invalid arguments or environment; the message says what to write instead. */
export class UsageError extends Error {}

export const HELP = `drawbridge-agent: applies Drawbridge's access rules to this host's firewall

  drawbridge-agent --server https://drawbridge.example.com --name db-host-1

  --server URL          DRAWBRIDGE_SERVER          Drawbridge's address: https, or http on this host
  --name NAME           DRAWBRIDGE_AGENT_NAME      the resource's identifier
  --key-file FILE       DRAWBRIDGE_AGENT_KEY_FILE  file with an API key of the scope agent:connect
                        DRAWBRIDGE_AGENT_KEY       the key itself; never an argument
  --state-file FILE     DRAWBRIDGE_AGENT_STATE     default /var/lib/drawbridge-agent/state.json
  --config FILE                                    file with these variables, default
                                                   /etc/drawbridge-agent/environment
What the server may decide on this host:
  --only PORTS          DRAWBRIDGE_ONLY            it may guard these and no others: tcp/22,udp/53,icmp,all
  --never PORTS         DRAWBRIDGE_NEVER           these are never guarded
  --always-allow CIDRS  DRAWBRIDGE_ALWAYS_ALLOW    these addresses always reach guarded ports: 192.0.2.0/24
  --guard PORTS         DRAWBRIDGE_GUARD           closed while nothing else is known
  --keep-established    DRAWBRIDGE_KEEP_ESTABLISHED=true  keeps connections when their access ends; else they are cut

Instead of serving:
  confirm [PORTS]       guards what waits for a confirmation, though it cuts connections
  release PORTS         opens guarded ports that no resource names any more
  --restore             loads the guard from its files and exits: for use before the network is up
  --dry-run             prints the ruleset for the server's current state and what it would cut, and changes nothing
  --status              prints what is guarded, and which addresses are allowed for how long
  --remove              removes the guard and its files: every port is reachable as before. Stop the agent first
  --help, --version
`;

/** Commands that need every setting: the others tolerate errors in them. */
const USES_LIMITS: readonly Command[] = ['serve', 'dry-run', 'release', 'confirm'];
const COMMANDS = ['restore', 'dry-run', 'status', 'remove', 'help', 'version'] as const;

/** Of the settings that `--restore` does without when they have an error. */
const VARIABLES = {
  guard: 'DRAWBRIDGE_GUARD',
  only: 'DRAWBRIDGE_ONLY',
  never: 'DRAWBRIDGE_NEVER',
  'always-allow': 'DRAWBRIDGE_ALWAYS_ALLOW',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Arguments count before the environment, and the environment before the configuration file.
 * @param args without the program name
 * @param readConfig reads a configuration file as variables; null: there is none at the path. @throws Error
 * @throws UsageError
 */
export function readOptions(
  args: readonly string[],
  environment: Environment,
  readConfig: (path: string) => Environment | null = () => null,
): AgentOptions {
  const { values: given, positionals } = parse(args);
  const command = commandOf(given, positionals);
  const unusable: string[] = [];
  // at boot, a setting with an error leaves neither the host unguarded nor the other settings without effect
  const isLenient = !USES_LIMITS.includes(command);
  const lenient = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      if (!isLenient || !(error instanceof UsageError)) throw error;
      unusable.push(error.message);
      return otherwise;
    }
  };
  const config = lenient(() => configOf(given.config, readConfig), {});
  const env = definedIn({ ...config, ...definedIn(environment) });
  const setting = <T>(option: keyof typeof VARIABLES, read: (list: string) => T, otherwise: T): T => {
    const list = given[option] ?? env[VARIABLES[option]];
    return list === undefined ? otherwise : lenient(() => read(list), otherwise);
  };
  const connects = command === 'serve' || command === 'dry-run';
  return {
    command,
    connection: connects ? connectionOf(given, env) : null,
    stateFile: stateFileOf(given['state-file'], env),
    guard: setting('guard', (list) => readTrafficList(list, '--guard'), []),
    limits: {
      only: setting('only', (list) => readTrafficList(list, '--only'), null),
      never: setting('never', readNever, []),
      alwaysAllow: setting('always-allow', readCidrs, []),
    },
    keepEstablished: given['keep-established'] ?? env['DRAWBRIDGE_KEEP_ESTABLISHED'] === 'true',
    named: namedBy(positionals),
    unusable,
  };
}

/** Empty variables count as absent. */
const definedIn = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value));

const DEFAULT_CONFIG = '/etc/drawbridge-agent/environment';

function configOf(given: string | undefined, readConfig: (path: string) => Environment | null): Environment {
  const path = given ?? DEFAULT_CONFIG;
  try {
    const config = readConfig(path);
    if (config === null && given !== undefined) throw new Error('there is no such file');
    return config ?? {};
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

function commandOf(given: Given, [first, list, ...more]: readonly string[]): Command {
  const chosen = COMMANDS.filter((name) => given[name] === true);
  if (chosen.length > 1)
    throw new UsageError(`Choose one of ${chosen.map((name) => `--${name}`).join(' and ')}`);
  if (first === undefined) return chosen[0] ?? 'serve';
  if (first !== 'release' && first !== 'confirm') throw new UsageError(`There is no command ${first}`);
  if (chosen.length > 0) throw new UsageError(`Choose one of ${first} and --${chosen[0]}`);
  if (more.length > 0 || (first === 'release' && list === undefined))
    throw new UsageError(`Name what to ${first}: ${first} tcp/5432`);
  return first;
}

type Given = ReturnType<typeof parse>['values'];

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

const OPTIONS = {
  server: text,
  name: text,
  guard: text,
  only: text,
  never: text,
  'always-allow': text,
  config: text,
  'key-file': text,
  'state-file': text,
  'keep-established': flag,
  restore: flag,
  'dry-run': flag,
  status: flag,
  remove: flag,
  help: flag,
  version: flag,
} as const satisfies ParseArgsConfig['options'];

function parse(args: readonly string[]) {
  if (args.some((arg) => /^--(api-)?key(=|$)/.test(arg))) {
    throw new UsageError(
      'A key cannot be an argument, every user of the host could read it: use --key-file, or DRAWBRIDGE_AGENT_KEY',
    );
  }
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function connectionOf(given: Given, env: Environment): Connection {
  const server = given.server ?? env['DRAWBRIDGE_SERVER'];
  const name = given.name ?? env['DRAWBRIDGE_AGENT_NAME'];
  if (!server) throw new UsageError('The server is missing: --server https://drawbridge.example.com');
  if (!name) throw new UsageError('The host name that resources use is missing: --name db-host-1');
  return { server: readServer(server), name, key: keyOf(given['key-file'], env) };
}

/** @throws UsageError when it is not a URL, or would send the key unencrypted */
function readServer(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash) {
    throw new UsageError('--server must be a URL like https://drawbridge.example.com');
  }
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback) {
    throw new UsageError('--server has to be https: http would send the key unencrypted');
  }
  return url.href.replace(/(?<!\/)\/+$/, '').replace(/\/api\/v1$/, '');
}

function keyOf(file: string | undefined, env: Environment): Connection['key'] {
  const path = file ?? env['DRAWBRIDGE_AGENT_KEY_FILE'];
  if (path) return { file: path };
  const value = env['DRAWBRIDGE_AGENT_KEY'];
  if (value) return { value };
  // systemd: LoadCredential=key:/etc/drawbridge-agent/key
  const credentials = env['CREDENTIALS_DIRECTORY'];
  if (credentials) return { file: `${credentials}/key` };
  throw new UsageError('The key is missing: --key-file /etc/drawbridge-agent/key, or DRAWBRIDGE_AGENT_KEY');
}

const stateFileOf = (given: string | undefined, env: Environment): string =>
  given ??
  env['DRAWBRIDGE_AGENT_STATE'] ??
  `${env['STATE_DIRECTORY'] ?? '/var/lib/drawbridge-agent'}/state.json`;

/** The traffic that `release` or `confirm` names. @throws UsageError */
const namedBy = ([command, list]: readonly string[]): Traffic[] | null =>
  list === undefined ? null : readTrafficList(list, command!);

const MAX_CIDRS = 100;

/** @throws UsageError */
function readCidrs(list: string): string[] {
  const entries = list.split(',').map((entry) => entry.trim());
  if (entries.length > MAX_CIDRS) throw new UsageError(`--always-allow takes at most ${MAX_CIDRS} addresses`);
  return entries.filter(Boolean).map((entry) => {
    const address = canonicalCidr(entry);
    if (address) return address.cidr;
    throw new UsageError('--always-allow must be a list of addresses and ranges: 192.0.2.7,198.51.100.0/24');
  });
}

/** @throws UsageError */
function readNever(list: string): Traffic[] {
  const read = readTrafficList(list, '--never');
  if (read.every(({ protocol }) => protocol !== 'all')) return read;
  throw new UsageError('--never all would guard nothing: do not run the agent on this host instead');
}

function readTrafficList(list: string, option: string): Traffic[] {
  return list.split(',').map((entry) => {
    const [protocol, port, ...more] = entry.trim().split('/');
    const ports = port === undefined ? [] : [Number(port)];
    const traffic = more.length === 0 && ports.every(isPort) ? readTraffic({ protocol, ports }) : null;
    if (traffic) return traffic;
    throw new UsageError(
      `${option} must be a list like tcp/22,udp/53,icmp; protocols are ${PROTOCOLS.join(', ')}`,
    );
  });
}
