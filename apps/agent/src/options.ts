import { parseArgs } from 'node:util';
import { PROTOCOLS } from '#rules';
import { isPort, readTraffic, type Traffic } from './state/host-state';

export type Command = 'serve' | 'restore' | 'dry-run' | 'status' | 'remove' | 'help' | 'version';

export interface AgentOptions {
  readonly command: Command;
  /** null: it was not given, and the command has no use for it */
  readonly connection: Connection | null;
  readonly stateFile: string;
  /** closed before the first state says what is */
  readonly guard: readonly Traffic[];
  readonly keepEstablished: boolean;
}

export interface Connection {
  /** without a slash at the end */
  readonly server: string;
  readonly name: string;
  readonly key: { readonly file: string } | { readonly value: string };
}

/** What was asked for cannot be done: the words say what to write instead. */
export class UsageError extends Error {}

export const HELP = `drawbridge-agent: keeps this host's firewall as Drawbridge says

  drawbridge-agent --server https://drawbridge.example.com --name db-host-1

  --server URL        DRAWBRIDGE_SERVER          where Drawbridge is; https, or http on this very host
  --name NAME         DRAWBRIDGE_AGENT_NAME      the resource's identifier
  --key-file FILE     DRAWBRIDGE_AGENT_KEY_FILE  holds an API key with the scope agent:connect
                      DRAWBRIDGE_AGENT_KEY       the key itself; never an argument
  --state-file FILE   DRAWBRIDGE_AGENT_STATE     default /var/lib/drawbridge-agent/state.json
  --guard PORTS       closed until the first state arrives: tcp/22,tcp/5432,udp/53,icmp,all
  --keep-established  connections go on when their access ends; else they are cut

Instead of serving:
  --restore           loads the guard from the state file and ends: before the network is up
  --dry-run           prints the ruleset for what the server says now, and changes nothing
  --status            what is open, to whom and for how long
  --remove            takes the guard and the state file away: every port is as it was before
  --help, --version
`;

const COMMANDS = ['restore', 'dry-run', 'status', 'remove', 'help', 'version'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** @param args without the program. @throws UsageError */
export function readOptions(args: readonly string[], env: Environment): AgentOptions {
  const given = parsed(args);
  const chosen = COMMANDS.filter((name) => given[name] === true);
  if (chosen.length > 1)
    throw new UsageError(`Choose one of ${chosen.map((name) => `--${name}`).join(' and ')}`);
  const [command = 'serve'] = chosen;
  const connects = command === 'serve' || command === 'dry-run';
  return {
    command,
    connection: connects ? connectionOf(given, env) : null,
    stateFile: stateFileOf(given['state-file'], env),
    guard: given.guard === undefined ? [] : given.guard.split(',').map(readGuard),
    keepEstablished: given['keep-established'] ?? false,
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

function parsed(args: readonly string[]): Given {
  if (args.some((arg) => /^--(api-)?key(=|$)/.test(arg))) {
    throw new UsageError(
      'A key is no argument, every user of the host could read it: use --key-file, or DRAWBRIDGE_AGENT_KEY',
    );
  }
  try {
    return parseArgs({
      args: [...args],
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
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function connectionOf(given: Given, env: Environment): Connection {
  const server = given.server ?? env['DRAWBRIDGE_SERVER'];
  const name = given.name ?? env['DRAWBRIDGE_AGENT_NAME'];
  if (!server) throw new UsageError('Where is Drawbridge? --server https://drawbridge.example.com');
  if (!name) throw new UsageError('What do resources call this host? --name db-host-1');
  return { server: readServer(server), name, key: keyOf(given['key-file'], env) };
}

/** @throws UsageError for what is no address, or would carry the key in the clear */
function readServer(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash) {
    throw new UsageError('--server is an address like https://drawbridge.example.com');
  }
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isHere) {
    throw new UsageError('--server has to be https: over http, everybody on the way could read the key');
  }
  return url.href.replace(/(?<!\/)\/+$/, '').replace(/\/api\/v1$/, '');
}

function keyOf(file: string | undefined, env: Environment): Connection['key'] {
  const named = file ?? env['DRAWBRIDGE_AGENT_KEY_FILE'];
  if (named) return { file: named };
  const value = env['DRAWBRIDGE_AGENT_KEY'];
  if (value) return { value };
  // of systemd: LoadCredential=key:/etc/drawbridge-agent/key
  const credentials = env['CREDENTIALS_DIRECTORY'];
  if (credentials) return { file: `${credentials}/key` };
  throw new UsageError('Which key? --key-file /etc/drawbridge-agent/key, or DRAWBRIDGE_AGENT_KEY');
}

const stateFileOf = (given: string | undefined, env: Environment): string =>
  given ??
  env['DRAWBRIDGE_AGENT_STATE'] ??
  `${env['STATE_DIRECTORY'] ?? '/var/lib/drawbridge-agent'}/state.json`;

function readGuard(entry: string): Traffic {
  const [protocol, port, ...more] = entry.trim().split('/');
  const ports = port === undefined ? [] : [Number(port)];
  const traffic = more.length === 0 && ports.every(isPort) ? readTraffic({ protocol, ports }) : null;
  if (traffic) return traffic;
  throw new UsageError(`--guard is a list like tcp/22,udp/53,icmp; protocols are ${PROTOCOLS.join(', ')}`);
}
