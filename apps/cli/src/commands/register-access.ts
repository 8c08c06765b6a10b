import { Option, type Command } from 'commander';
import { READY_SECONDS } from '#client';
import {
  breakGlassOption,
  type Call,
  define,
  groundsOptions,
  hoursOption,
  leaseOption,
  numberOption,
  resourceOption,
  timeoutOption,
} from '../program';
import type { McpOptions } from '../mcp/server';
import type { AccessOptions } from './access-options';
import { dryRunOption } from './plan';
import type { RunOptions } from './run';
import type { WatchOptions } from './watch';

const addressesOption = (): Option =>
  new Option(
    '--addresses <which>',
    'observed: the address as the server sees it; all: a session for each of a pool',
  )
    .choices(['observed', 'all'])
    .default('observed');

/** What all commands take that hold access while they work. */
const accessOptions = (): Option[] => [
  resourceOption(),
  hoursOption(),
  ...groundsOptions(),
  leaseOption(),
  timeoutOption(),
  new Option('--allow-partial', 'go on when some rules are refused'),
];

/** The commands that hold access while they work. */
export function registerAccessCommands(program: Command): void {
  define(program, {
    usage: 'run <command...>',
    about: 'give access while a command runs; the command and its arguments come after --',
    examples: [
      'run --resource database -- psql -h db.example.com',
      'run --resource database --probe db.example.com:5432 -- npm test',
      'run --resource database --reason "INC-12: the disk is full" -- psql -h db.example.com',
    ],
    options: [
      ...accessOptions(),
      breakGlassOption(),
      addressesOption(),
      new Option('--probe <host:port>', 'wait until this accepts TCP connections, for a minute at most'),
      new Option(
        '--ready <command>',
        'then run this command until it succeeds, such as az acr login --name contoso',
      ),
      numberOption('--ready-seconds <n>', 'for this long at most', 3600).default(READY_SECONDS),
      new Option('--detached', 'go on when the process that started this one ends'),
      dryRunOption(),
      new Option('--without-key', 'do not pass DRAWBRIDGE_API_KEY on to the command'),
    ],
    isWrapper: true,
    passesOptions: true,
    run: async (call: Call<RunOptions>) => (await import('./run.js')).run(call),
  });
  define(program, {
    usage: 'connect <host> <port>',
    about: 'give access while one connection is open, for ssh’s ProxyCommand',
    examples: [
      'connect --resource bastion bastion.example.com 22',
      "ssh -o ProxyCommand='drawbridge connect -r bastion %h %p' bastion.example.com",
    ],
    options: [...accessOptions(), addressesOption()],
    isWrapper: true,
    run: async (call: Call<AccessOptions>) => (await import('./connect.js')).connect(call),
  });
  define(program, {
    usage: 'watch',
    about: 'give access until Ctrl-C, also when your address changes',
    examples: ['watch --resource database --hours 8'],
    options: [
      ...accessOptions(),
      numberOption('--interval <seconds>', 'how often to ask for the address', 3600).default(15),
    ],
    run: async (call: Call<WatchOptions>) => (await import('./watch.js')).watch(call),
  });
  define(program, {
    usage: 'mcp',
    about: 'serve an agent over the Model Context Protocol (stdio): it can request leased access',
    examples: ['mcp --resource staging-database --max-hours 2'],
    options: [
      resourceOption('a resource that may be requested'),
      numberOption('--max-hours <n>', 'the longest access that may be requested', 24).default(1),
      leaseOption(),
    ],
    isWrapper: true,
    run: async (call: Call<McpOptions>) => (await import('../mcp/server.js')).serveMcp(call),
  });
}
