import { parseArgs } from 'node:util';
import { PROTOCOLS } from '#rules';
import { isPort, readTraffic, type Traffic } from './state/host-state';

type Command = 'serve' | 'release' | 'restore' | 'dry-run' | 'status' | 'remove' | 'help' | 'version';

export interface AgentOptions {
  readonly command: Command;
  /** null: the command does not connect */
  readonly connection: Connection | null;
  readonly stateFile: string;
  /** traffic to close while no state and no guard file is readable */
  readonly guard: readonly Traffic[];
  readonly keepEstablished: boolean;
  /** of `release` */
  readonly released: readonly Traffic[];
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

  --server URL        DRAWBRIDGE_SERVER          Drawbridge's address: https, or http on this host
  --name NAME         DRAWBRIDGE_AGENT_NAME      the resource's identifier
  --key-file FILE     DRAWBRIDGE_AGENT_KEY_FILE  file with an API key of the scope agent:connect
                      DRAWBRIDGE_AGENT_KEY       the key itself; never an argument
  --state-file FILE   DRAWBRIDGE_AGENT_STATE     default /var/lib/drawbridge-agent/state.json
  --guard PORTS       ports to close while nothing else is known: tcp/22,tcp/5432,udp/53,icmp,all
  --keep-established  keeps connections when their access ends; else they are cut

Instead of serving:
  release PORTS       opens guarded ports that no resource names any more: tcp/22,udp/53,icmp,all
  --restore           loads the guard from its files and exits: for use before the network is up
  --dry-run           prints the ruleset for the server's current state, and changes nothing
  --status            prints what is guarded, and which addresses are allowed for how long
  --remove            removes the guard and its files: every port is reachable as before. Stop the agent first
  --help, --version
`;

const COMMANDS = ['restore', 'dry-run', 'status', 'remove', 'help', 'version'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** @param args without the program name. @throws UsageError */
export function readOptions(args: readonly string[], env: Environment): AgentOptions {
  const { values: given, positionals } = parse(args);
  const chosen = COMMANDS.filter((name) => given[name] === true);
  const released = releasedBy(positionals);
  if (chosen.length > 1)
    throw new UsageError(`Choose one of ${chosen.map((name) => `--${name}`).join(' and ')}`);
  if (released && chosen.length > 0) throw new UsageError(`Choose one of release and --${chosen[0]}`);
  const [command = released ? 'release' : 'serve'] = chosen;
  const connects = command === 'serve' || command === 'dry-run';
  return {
    command,
    connection: connects ? connectionOf(given, env) : null,
    stateFile: stateFileOf(given['state-file'], env),
    guard: given.guard === undefined ? [] : readTrafficList(given.guard, '--guard'),
    keepEstablished: given['keep-established'] ?? false,
    released: released ?? [],
  };
}

interface Given {
  readonly server?: string;
  readonly name?: string;
  readonly guard?: string;
  readonly 'key-file'?: string;
  readonly 'state-file'?: string;
  readonly 'keep-established'?: boolean;
  readonly restore?: boolean;
  readonly 'dry-run'?: boolean;
  readonly status?: boolean;
  readonly remove?: boolean;
  readonly help?: boolean;
  readonly version?: boolean;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

function parse(args: readonly string[]): { values: Given; positionals: string[] } {
  if (args.some((arg) => /^--(api-)?key(=|$)/.test(arg))) {
    throw new UsageError(
      'A key cannot be an argument, every user of the host could read it: use --key-file, or DRAWBRIDGE_AGENT_KEY',
    );
  }
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        server: text,
        name: text,
        guard: text,
        'key-file': text,
        'state-file': text,
        'keep-established': flag,
        restore: flag,
        'dry-run': flag,
        status: flag,
        remove: flag,
        help: flag,
        version: flag,
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
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

/** @returns null without the command `release`. @throws UsageError */
function releasedBy([command, list, ...more]: readonly string[]): Traffic[] | null {
  if (command === undefined) return null;
  if (command !== 'release') throw new UsageError(`There is no command ${command}`);
  if (list === undefined || more.length > 0) throw new UsageError('Name what to release: release tcp/5432');
  return readTrafficList(list, 'release');
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
