import { Option, type Command } from 'commander';
import type { McpOptions } from '../mcp/server';
import {
  countOption,
  hoursOption,
  intervalOption,
  leaseOption,
  resourceOption,
  subcommand,
  timeoutOption,
  type Common,
  type Runner,
} from '../program';
import type { RunOptions } from './run';
import type { AccessOptions } from './access-options';
import type { WatchOptions } from './watch';

const addressesOption = (): Option =>
  new Option(
    '--addresses <which>',
    'observed: the address as the server sees it; all: a session for each of a pool',
  )
    .choices(['observed', 'all'])
    .default('observed');

const partialOption = (): Option => new Option('--allow-partial', 'go on when some rules are refused');

/** The commands that hold access while they work. */
export function registerAccessCommands(program: Command, runner: Runner): void {
  subcommand(program, 'run', 'give access while a command runs', [
    'run --resource database -- psql -h db.example.com',
    'run --resource database --probe db.example.com:5432 -- npm test',
  ])
    .argument('<command...>', 'the command and its arguments, after --')
    .passThroughOptions()
    .addOption(resourceOption())
    .addOption(hoursOption())
    .addOption(leaseOption())
    .addOption(addressesOption())
    .addOption(timeoutOption())
    .addOption(partialOption())
    .option('--probe <host:port>', 'wait until this accepts TCP connections, for a minute at most')
    .option('--detached', 'go on when the process that started this one ends')
    .option('--without-key', 'do not pass DRAWBRIDGE_API_KEY on to the command')
    .action((command: string[], options: RunOptions & Common) =>
      runner(async (output) => (await import('./run.js')).run(command, options, output), options, false),
    );

  subcommand(program, 'connect', 'give access while one connection is open, for ssh’s ProxyCommand', [
    'connect --resource bastion bastion.example.com 22',
    "ssh -o ProxyCommand='drawbridge connect -r bastion %h %p' bastion.example.com",
  ])
    .argument('<host>')
    .argument('<port>')
    .addOption(resourceOption())
    .addOption(hoursOption())
    .addOption(leaseOption())
    .addOption(addressesOption())
    .addOption(timeoutOption())
    .addOption(partialOption())
    .action((host: string, port: string, options: AccessOptions & Common) =>
      runner(
        async (output) => (await import('./connect.js')).connect(host, port, options, output),
        options,
        false,
      ),
    );

  subcommand(program, 'watch', 'give access until Ctrl-C, also when your address changes', [
    'watch --resource database --hours 8',
  ])
    .addOption(resourceOption())
    .addOption(hoursOption())
    .addOption(leaseOption())
    .addOption(timeoutOption())
    .addOption(partialOption())
    .addOption(intervalOption())
    .action((options: WatchOptions & Common) =>
      runner(async (output) => (await import('./watch.js')).watch(options, output), options),
    );

  subcommand(
    program,
    'mcp',
    'serve an agent over the Model Context Protocol (stdio): it can request leased access',
    ['mcp --resource staging-database --max-hours 2'],
  )
    .addOption(resourceOption('a resource that may be requested, may be repeated'))
    .addOption(countOption('--max-hours <n>', 'the longest access that may be requested', 24).default(1))
    .addOption(leaseOption())
    .action((options: McpOptions & Common) =>
      runner(async (output) => (await import('../mcp/server.js')).serveMcp(options, output), options, false),
    );
}
