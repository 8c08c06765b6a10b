import { Console } from 'node:console';
import type { Command } from 'commander';
import type { OverdueRuleRow } from '#engine-store';
import { engineStore, withDatabase } from './deployment';
import { EXIT, type ExitCode, note, print, run, verb } from './program';

const MAX_LISTED = 1000;
/** Characters of a provider's answer in the table. */
const MAX_ANSWER = 60;

/** Columns of the table. */
const COLUMNS =
  'unwantedSince organizations provider identifier address protocol ports credentialId cause lastError'.split(
    ' ',
  );

/** Lists rules that should be gone; exits with 1 when there are any. */
export function addOverdue(program: Command): void {
  verb(program, 'overdue', 'list rules that should be gone and are still in a cloud, the oldest first', [
    '',
    '--json',
  ])
    .option('--json', 'everything that is known of them, as JSON')
    .action(run(listOverdue));
}

const listOverdue = ({ json }: { json?: boolean }): Promise<ExitCode> =>
  withDatabase(async ({ autocommit }) => {
    const { rows, total } = await engineStore.backlog.overdueRules(autocommit, { page: 0, size: MAX_LISTED });
    if (json) print(JSON.stringify(rows, null, 2));
    else if (total === 0) print('Nothing is overdue.');
    // it makes control characters in what a provider has answered visible
    else new Console(process.stdout).table(rows.map(toTableRow), COLUMNS);
    if (total > rows.length) note(`${total - rows.length} more are not listed.`);
    return total > 0 ? EXIT.found : EXIT.done;
  });

const toTableRow = (row: OverdueRuleRow): object => ({
  ...row,
  organizations: row.organizations.map(({ slug }) => slug).join(),
  lastError: row.lastError && shortened(row.lastError),
});

const shortened = (text: string): string =>
  text.length > MAX_ANSWER ? `${text.slice(0, MAX_ANSWER)}…` : text;
