import { Option, type Command } from 'commander';
import {
  countOption,
  hoursOption,
  resourceOption,
  subcommand,
  timeoutOption,
  type Common,
  type Runner,
} from '../program';
import type { IpOptions } from './ip';
import type { LoginOptions } from './login';
import type { ListOptions, StartOptions, StopOptions } from './sessions';

const STATUSES = ['PENDING', 'ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRING', 'EXPIRED', 'CANCELLED'];

/** Signing in, and sessions that last until they are stopped. */
export function registerSessionCommands(program: Command, runner: Runner): void {
  subcommand(program, 'login', 'sign in, and remember it', [
    'login --url https://drawbridge.example.com',
    'login --api-key-stdin < key.txt',
  ])
    .option('--url <url>', 'the server')
    .option('--email <address>')
    .option('--organization <slug>', 'when the same e-mail and password are in several')
    .option('--password-stdin', 'read the password from standard input')
    .option('--api-key-stdin', 'store an API key, read from standard input, instead')
    .action((options: LoginOptions & Common) =>
      runner(async (output) => (await import('./login.js')).login(options, output), options),
    );

  subcommand(program, 'logout', 'end the sign-in, and forget it', ['logout']).action((options: Common) =>
    runner(async (output) => (await import('./login.js')).logout(options, output), options),
  );

  subcommand(program, 'ip', 'show your addresses as the server observes them', [
    'ip',
    'ip --egress --output json',
  ])
    .option('--egress', 'over several fresh connections: several addresses mean a NAT pool')
    .action((options: IpOptions & Common) =>
      runner(async (output) => (await import('./ip.js')).ip(options, output), options),
    );

  subcommand(program, 'start', 'start a session, and wait until its rules are applied', [
    'start --resource database --hours 2',
    'start --ipv4 203.0.113.10 --no-wait',
  ])
    .addOption(resourceOption())
    .addOption(hoursOption())
    .option('--ipv4 <address>', 'allow this address (default: the observed ones)')
    .option('--ipv6 <address>', 'allow this address')
    .option('--holder <name>', 'tells parallel sessions behind one address apart (default: random)')
    .addOption(timeoutOption())
    .option('--no-wait', 'do not wait for the rules')
    .action((options: StartOptions & Common) =>
      runner(async (output) => (await import('./sessions.js')).start(options, output), options),
    );

  subcommand(program, 'stop', 'stop sessions, and wait until their rules are gone', [
    'stop SESSION',
    'stop --all',
  ])
    .argument('[session...]', 'ids of sessions')
    .option('--all', 'all of your live sessions')
    .addOption(timeoutOption())
    .option('--no-wait', 'do not wait for the rules')
    .action((ids: string[], options: StopOptions & Common) =>
      runner(async (output) => (await import('./sessions.js')).stop(ids, options, output), options),
    );

  subcommand(program, 'extend', 'make a session last longer', ['extend SESSION --hours 2'])
    .argument('<session>', 'its id')
    .addOption(countOption('--hours <n>', 'hours to add', 24).default(1))
    .action((id: string, options: Common & { hours: number }) =>
      runner(async (output) => (await import('./sessions.js')).extend(id, options, output), options),
    );

  subcommand(program, 'status', 'show a session, or your live ones, with their rules', [
    'status',
    'status SESSION',
  ])
    .argument('[session]', 'its id')
    .action((id: string | undefined, options: Common) =>
      runner(async (output) => (await import('./sessions.js')).showStatus(id, options, output), options),
    );

  subcommand(program, 'list', 'list your live sessions', ['list', 'list --all --resource database'])
    .option('--all', 'ended ones too')
    .addOption(new Option('--status <status...>', 'only these').choices(STATUSES))
    .addOption(resourceOption('only sessions of this resource', 'any'))
    .action((options: ListOptions & Common) =>
      runner(async (output) => (await import('./sessions.js')).list(options, output), options),
    );
}
