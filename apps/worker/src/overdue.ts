import 'reflect-metadata';
import { Console } from 'node:console';
import { parseArgs } from 'node:util';
import { BacklogStore, type OverdueRuleRow } from '#engine-store';
import { OperatorError, withDatabase } from './operator-command';

const HELP = `Lists the rules that should be gone and are still in a cloud, the oldest first.

  npm run overdue -- [--json]

  --json  everything that is known of them, as JSON

The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR (.data) and is running.
Exits with 0 when nothing is overdue, 1 when something is, 2 when it could not be found out.
`;
const SOME = 1;
const UNKNOWN = 2;
const MAX_LISTED = 1000;

/** Columns of the table. */
const COLUMNS =
  'unwantedSince organizations provider identifier address protocol ports cause lastError'.split(' ');

const toTableRow = (row: OverdueRuleRow): object => ({
  ...row,
  organizations: row.organizations.map(({ slug }) => slug).join(),
});

/** @returns whether JSON is wanted; null: help @throws OperatorError */
function wantsJson(): boolean | null {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
      },
    });
    return values.help ? null : values.json;
  } catch (error) {
    throw new OperatorError(`${(error as Error).message}\nFor help: npm run overdue -- --help`);
  }
}

async function main(): Promise<void> {
  const json = wantsJson();
  if (json === null) {
    process.stdout.write(HELP);
    return;
  }
  await withDatabase({ applicationName: 'drawbridge-overdue', poolSize: 1 }, async ({ autocommit }) => {
    const { rows, total } = await new BacklogStore().overdueRules(autocommit, { page: 0, size: MAX_LISTED });
    if (total > 0) process.exitCode = SOME;
    if (json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    else if (total === 0) process.stdout.write('Nothing is overdue.\n');
    // it makes control characters in what a provider has answered visible
    else new Console(process.stdout).table(rows.map(toTableRow), COLUMNS);
    if (total > rows.length) process.stderr.write(`${total - rows.length} more are not listed.\n`);
  });
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof OperatorError ? error.message : String((error as Error).stack)}\n`,
  );
  process.exitCode = UNKNOWN;
});
