import { Command, InvalidArgumentError, Option } from 'commander';
import type { Api } from '#client';
import { EXIT, usageFailure } from './exit-codes';
import { Output, type Format } from './output';
import { connect, type Connection, type ConnectionOptions } from './profiles/connection';
import { VERSION } from './version';

/** One call of a command. */
export class Call<O = object> {
  private connected: Connection | undefined;

  constructor(
    readonly given: readonly string[],
    readonly options: O & ConnectionOptions,
    readonly output: Output,
  ) {}

  get connection(): Connection {
    return (this.connected ??= connect(this.options, this.output));
  }

  get api(): Api {
    return this.connection.api;
  }

  /** The first argument. */
  get name(): string {
    return this.given[0]!;
  }
}

export interface Definition<O> {
  /** with its arguments: `create <name> [note]` */
  readonly usage: string;
  readonly about: string;
  readonly examples: readonly [string, ...string[]];
  /** options without which nothing is done */
  readonly required?: readonly Option[];
  readonly options?: readonly Option[];
  /** what its parent does without a word for it */
  readonly isDefault?: boolean;
  /** standard output is another program's: messages go to standard error */
  readonly isWrapper?: boolean;
  /** what follows the first argument is another program's */
  readonly passesOptions?: boolean;
  /** loads what takes long to load. @returns the exit code; nothing: 0 */
  readonly run: (call: Call<O>) => Promise<number | void>;
}

/** Adds a command. All that is missing is reported at once; commander would report one thing at a time. */
export function define<O>(parent: Command, definition: Definition<O>): void {
  const { usage, about, examples, required = [], options = [], isWrapper = false } = definition;
  const [name = '', ...words] = usage.split(' ');
  const command = parent
    .command(name, { isDefault: definition.isDefault ?? false })
    .usage(`${words.join(' ')} [options]`.trim())
    .description(about)
    .allowExcessArguments()
    .addHelpText('after', examplesText(examples));
  // commander shows the parent's help for it
  if (definition.isDefault)
    parent.addHelpText('after', () => `\nWithout a command: ${name}\n\n${command.helpInformation()}`);
  for (const word of words) command.argument(word.replace('<', '[').replace('>', ']'));
  for (const option of required) option.description = `${option.description} (required)`;
  for (const option of [...required, ...options, ...commonOptions()]) command.addOption(option);
  if (definition.passesOptions) command.passThroughOptions();
  command.action(async () => {
    const chosen = command.opts<O & { output: Format }>();
    const output = new Output(chosen.output);
    try {
      if (!definition.passesOptions) requireFitting(command, words);
      requireAll(command, words, required, examples[0]);
      process.exitCode = (await definition.run(new Call(command.args, chosen, output))) ?? EXIT.ok;
    } catch (error) {
      const report = await (await import('./failure-report.js')).reportOf(error);
      output.failure(report, !isWrapper);
      process.exitCode = report.exitCode;
    }
  });
}

/** A word that several commands begin with. */
export const group = (program: Command, name: string, about: string): Command =>
  program.command(name).description(about).usage('[command] [options]');

function requireFitting(command: Command, words: readonly string[]): void {
  const given = command.args;
  if (given.includes('')) {
    throw usageFailure('An argument is empty', 'check the variable that it comes from');
  }
  const excess = given[words.length];
  if (excess === undefined || words.at(-1)?.includes('...')) return;
  // a word that is none of the parent's commands
  const [path, what] =
    words.length === 0 && command.parent?.parent
      ? [pathOf(command.parent), `There is no command "${pathOf(command.parent)} ${excess}"`]
      : [pathOf(command), `"${excess}" is one argument too many`];
  throw usageFailure(what, `${path} --help`);
}

function requireAll(
  command: Command,
  words: readonly string[],
  required: readonly Option[],
  example: string,
): void {
  const values = command.opts<Record<string, unknown>>();
  const missing = [
    ...words.filter((word, index) => word.startsWith('<') && command.args[index] === undefined),
    ...required.filter((option) => isEmpty(values[option.attributeName()])).map(({ long }) => long!),
  ];
  if (missing.length === 0) return;
  throw usageFailure(`Missing: ${missing.join(', ')}`, `for example: drawbridge ${example}`);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

const COMMON = 'Common options:';

/** Options of every command. */
const commonOptions = (): Option[] => [
  new Option('-o, --output <format>', 'text, or json: one object')
    .choices(['text', 'json'])
    .default('text')
    .helpGroup(COMMON),
  new Option('--json', 'short for --output json').implies({ output: 'json' }).helpGroup(COMMON),
  new Option('--profile <name>', 'of drawbridge login (also DRAWBRIDGE_PROFILE)').helpGroup(COMMON),
];

function examplesText(examples: readonly string[]): string {
  const lines = examples.map((example) => `  $ drawbridge ${example}`.replace('$ drawbridge ssh', '$ ssh'));
  return `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.join('\n')}`;
}

/** Errors of this command and those below are thrown instead of ending the process. */
export function throwErrors(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwErrors(inner);
}

/** @param before false: what the option's negation has set */
const repeated = (value: string, before?: readonly string[] | false): string[] => [...(before || []), value];

/** An option that may be repeated. */
export const listOption = (flags: string, description: string, fallback?: string): Option =>
  new Option(flags, `${description}, may be repeated`).argParser(repeated).default([], fallback ?? 'none');

/** Reads a whole number within bounds. @param hint what else to do, for any other text */
const whole =
  (minimum: number, maximum: number, hint = '') =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}${hint}.`);
  };

const port = whole(1, 65535, ': repeat --port for several; ranges are not taken');

/** Ports that are to be opened: a text that is no port must never open another one. */
export const portOption = (): Option =>
  listOption('--port <n>', 'a port').argParser((text: string, previous: readonly number[]) => [
    ...previous,
    port(text),
  ]);

export const resourceOption = (description = 'a resource', fallback = 'all of your roles'): Option =>
  listOption('-r, --resource <name|id>', description, fallback);

export const numberOption = (flags: string, description: string, maximum: number, minimum = 1): Option =>
  new Option(flags, description).argParser(whole(minimum, maximum));

export const hoursOption = (): Option =>
  numberOption('--hours <n>', 'how long (default: set by the server)', 24);

/** Why access is wanted. Where a role asks for approval, the command asks with them, and waits. */
export const groundsOptions = (): Option[] => [
  new Option('--reason <text>', 'why, where your role asks for a reason or for approval'),
  new Option('--ticket <text>', 'what it is recorded under elsewhere'),
];

export const breakGlassOption = (): Option =>
  new Option('--break-glass', 'start without approval, with a second-factor code; others are notified');

export const leaseOption = (): Option =>
  numberOption(
    '--lease <seconds>',
    'access ends this long after this program was last heard of',
    3600,
    60,
  ).default(300);

export const timeoutOption = (): Option =>
  numberOption('--timeout <seconds>', 'how long to wait for the rules', 600).default(120);

export function createProgram(): Command {
  return new Command('drawbridge')
    .description('Temporary network access: start it, keep it while something runs, end it.')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .configureHelp({
      subcommandTerm: (one) => `${one.name()} ${one.usage().replace(/ ?\[(?:options|command)\]/g, '')}`,
    })
    .configureOutput({ outputError: (text, write) => write(withoutValue(text)) })
    .showHelpAfterError('(--help shows the options and examples)')
    .addHelpText('after', HELP);
}

/** What an unknown option was given may be a secret. */
export const withoutValue = (error: string): string => error.replace(/(unknown option '[^'=]+)=[^]*'/, "$1'");

const HELP = `
Examples:
  $ drawbridge login --url https://drawbridge.example.com
  $ drawbridge run --resource database -- psql -h db.example.com
  $ drawbridge start --resource database --hours 2

Environment: DRAWBRIDGE_URL and DRAWBRIDGE_API_KEY come before a profile; DRAWBRIDGE_ID_TOKEN is that of a CI job.
Exit codes: 0 done, 2 usage, 3 some rules refused, 4 failed, 5 denied, 6 server not reachable.`;
