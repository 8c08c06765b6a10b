import { Command, InvalidArgumentError, Option } from 'commander';
import type { Output } from './output';
import { VERSION } from './version';

/** Where commands report to: they are loaded when they run, so that every start is quick. */
export interface Runner {
  /** @param isResult whether standard output is the command's own */
  (
    work: (output: Output) => Promise<number>,
    options: { output: 'text' | 'json' },
    isResult?: boolean,
  ): Promise<void>;
}

const MAX_LEASE_SECONDS = 3600;
const MIN_LEASE_SECONDS = 60;
const MAX_HOURS = 24;

const repeated = (value: string, previous: readonly string[]): string[] => [...previous, value];

/** Reads a whole number within bounds. */
const whole =
  (minimum: number, maximum: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };

export const resourceOption = (
  description = 'a resource, may be repeated',
  fallback = 'all of your roles',
): Option => new Option('-r, --resource <name|id>', description).argParser(repeated).default([], fallback);

export const hoursOption = (): Option =>
  new Option('--hours <n>', 'how long (default: set by the server)').argParser(whole(1, MAX_HOURS));

export const leaseOption = (): Option =>
  new Option('--lease <seconds>', 'access ends this long after this program was last heard of')
    .argParser(whole(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS))
    .default(300);

export const timeoutOption = (): Option =>
  new Option('--timeout <seconds>', 'how long to wait for the rules').argParser(whole(1, 600)).default(120);

export const intervalOption = (): Option =>
  new Option('--interval <seconds>', 'how often to ask for the address')
    .argParser(whole(1, 3600))
    .default(15);

export const countOption = (flags: string, description: string, maximum: number): Option =>
  new Option(flags, description).argParser(whole(1, maximum));

const COMMON = 'Common options:';

/** A command with its examples. */
export function subcommand(
  parent: Command,
  name: string,
  description: string,
  examples: readonly string[],
): Command {
  const lines = examples.map((example) => `  $ drawbridge ${example}`.replace('$ drawbridge ssh', '$ ssh'));
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', `\n${title}:\n${lines.join('\n')}`);
}

/** Completes every command: the options that all have, and errors that are thrown instead of ending the process. */
export function completeCommands(program: Command): void {
  program.exitOverride();
  for (const command of program.commands) {
    command
      .addOption(
        new Option('-o, --output <format>', 'text, or json: one object')
          .choices(['text', 'json'])
          .default('text')
          .helpGroup(COMMON),
      )
      .addOption(
        new Option('--profile <name>', 'of drawbridge login (also DRAWBRIDGE_PROFILE)').helpGroup(COMMON),
      );
    completeCommands(command);
  }
}

/** Options that several actions hand on. */
export type Common = { readonly output: 'text' | 'json'; readonly profile?: string };

export function createProgram(): Command {
  return new Command('drawbridge')
    .description('Temporary network access: start it, keep it while something runs, end it.')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows the options and examples)')
    .addHelpText('after', HELP);
}

const HELP = `
Examples:
  $ drawbridge login --url https://drawbridge.example.com
  $ drawbridge run --resource database -- psql -h db.example.com
  $ drawbridge start --resource database --hours 2

Environment: DRAWBRIDGE_URL and DRAWBRIDGE_API_KEY come before a profile; DRAWBRIDGE_ID_TOKEN is that of a CI job.
Exit codes: 0 done, 2 usage, 3 some rules refused, 4 failed, 5 denied, 6 server not reachable.`;
