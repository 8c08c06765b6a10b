import { Command, InvalidArgumentError } from 'commander';

/** What scripts may rely on. */
export const EXIT = {
  done: 0,
  /** something is wrong or left: a rule is overdue, a chain is broken, a month or a key stays */
  found: 1,
  /** nothing, or not all, could be done or found out; wrong arguments, too */
  failed: 2,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const COMMON = `
The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR (.data) and is running.
Exits with 0 when it is done, 1 when something is wrong or left, 2 when nothing, or not all, could be done.`;

export function createProgram(): Command {
  return new Command('drawbridge-admin')
    .description('What operators of a deployment do beside its API.')
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows the options and examples)')
    .addHelpText('after', COMMON);
}

/**
 * Adds a verb.
 * @param examples its arguments
 * @param notes what its options do not tell
 */
export function verb(
  parent: Command,
  name: string,
  description: string,
  examples: readonly string[],
  notes = '',
): Command {
  const path = parent.parent ? `drawbridge-admin ${parent.name()} ${name}` : `drawbridge-admin ${name}`;
  const lines = examples.map((example) => `  $ ${path} ${example}`.trimEnd());
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', `${notes && `\n${notes}\n`}\nExamples:\n${lines.join('\n')}\n${COMMON}`);
}

/** The action of a verb: exits with its code, `done` if it has none, or says what went wrong; no stack, which may hold a secret. */
export const run = <Given extends unknown[]>(work: (...given: Given) => Promise<ExitCode | void>) =>
  async function (this: Command, ...given: Given): Promise<void> {
    try {
      process.exitCode = (await work(...given)) ?? EXIT.done;
    } catch (error) {
      this.error(`error: ${error instanceof Error ? error.message : String(error)}`, {
        exitCode: EXIT.failed,
      });
    }
  };

/** For an option: the value that a text stands for. @param read returns undefined for a text without one */
export const parsed =
  <Value>(expected: string, read: (text: string) => Value | undefined) =>
  (text: string): Value => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${expected}.`);
    return value;
  };

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** For people who watch: not part of the result. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);
