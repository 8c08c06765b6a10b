import { CommanderError } from 'commander';
import { registerAccessCommands } from './commands/register-access';
import { registerOrganizationCommands } from './commands/register-organization';
import { registerSessionCommands } from './commands/register-sessions';
import { EXIT } from './exit-codes';
import { Output } from './output';
import { completeCommands, createProgram, type Runner } from './program';

const runner: Runner = async (work, { output: format }, isResult = true) => {
  const output = new Output(format);
  try {
    process.exitCode = await work(output);
  } catch (error) {
    const report = await (await import('./failure-report.js')).reportOf(error);
    output.failure(report, isResult);
    process.exitCode = report.exitCode;
  }
};

async function main(): Promise<void> {
  const program = createProgram();
  registerSessionCommands(program, runner);
  registerAccessCommands(program, runner);
  registerOrganizationCommands(program, runner);
  completeCommands(program);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    // commander has said what is wrong, to people
    if (error.exitCode === 0 || !wantsJson(process.argv)) return;
    const message = error.message.replace(/^error: /, '');
    new Output('json').result({ error: { exitCode: EXIT.usage, message, fix: null, fields: {} } }, '');
  }
}

const wantsJson = (given: readonly string[]): boolean =>
  given.some(
    (one, at) => one === '--output=json' || (one === 'json' && /^(?:-o|--output)$/.test(given[at - 1]!)),
  );

// the reader of a pipe has read enough
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void main();
