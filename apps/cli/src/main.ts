import { CommanderError } from 'commander';
import { waitForSlowLinks } from '#client';
import { IN_BACKGROUND } from './access/closing';
import { registerAccessCommands } from './commands/register-access';
import { registerSessionCommands } from './commands/register-sessions';
import { registerSignInCommands } from './commands/register-sign-in';
import { registerRequests } from './commands/requests';
import { registerBilling } from './commands/setup/billing';
import { registerAccounts } from './commands/setup/accounts';
import { registerCredentials } from './commands/setup/credentials';
import { registerKeys } from './commands/setup/keys';
import { registerLockdown } from './commands/setup/lockdown';
import { registerRecords } from './commands/setup/records';
import { registerReviews } from './commands/setup/reviews';
import { registerResources } from './commands/setup/resources';
import { registerRoles } from './commands/setup/roles';
import { registerStaticRules } from './commands/setup/static-rules';
import { registerTrusts } from './commands/setup/trusts';
import { registerUsers } from './commands/setup/users';
import { EXIT } from './exit-codes';
import { Output } from './output';
import { createProgram, throwErrors, withoutValue } from './program';

/** In the order of the help. */
const REGISTERS = [
  registerSignInCommands,
  registerSessionCommands,
  registerAccessCommands,
  registerRequests,
  registerCredentials,
  registerAccounts,
  registerResources,
  registerRoles,
  registerUsers,
  registerLockdown,
  registerKeys,
  registerTrusts,
  registerStaticRules,
  registerRecords,
  registerReviews,
  registerBilling,
];

async function main(): Promise<void> {
  waitForSlowLinks();
  if (process.argv[2] === IN_BACKGROUND) return (await import('./commands/in-background.js')).endAccess();
  const program = createProgram();
  for (const register of REGISTERS) register(program);
  throwErrors(program);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    // commander has reported what is wrong, to people
    if (error.exitCode === 0 || !wantsJson(process.argv)) return;
    const message = withoutValue(error.message.replace(/^error: /, ''));
    new Output('json').result({ error: { exitCode: EXIT.usage, message, fix: null, fields: {} } }, '');
  }
}

const wantsJson = (given: readonly string[]): boolean =>
  given.some(
    (one, at) =>
      one === '--json' ||
      one === '--output=json' ||
      (one === 'json' && /^(?:-o|--output)$/.test(given[at - 1]!)),
  );

// the reader of a pipe has read enough
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void main();
