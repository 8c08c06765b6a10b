import { Console } from 'node:console';
import { type Command, Option } from 'commander';
import type { Restore, UnknownRule, UnopenedAddress } from '#engine-store';
import { type Database, type Sliced, SYSTEM_ACTOR, type Tx } from '#entities';
import type { OrganizationId } from '#rules';
import { engineStore, stores, withDatabase } from './deployment';
import { EXIT, type ExitCode, note, print, run, verb } from './program';

const LISTED = { page: 0, size: 1000 };
const NOTHING_WAITS = 'Nothing waits: the database was not restored, or that is confirmed.';

interface Options {
  readonly json?: true;
  readonly begin?: true;
  readonly confirm?: true;
}

/** What a restored database would open and close. */
interface Outlook {
  readonly restore: Restore | null;
  readonly unknown: Sliced<UnknownRule>;
  readonly unopened: Sliced<UnopenedAddress>;
}

const { restores: store } = engineStore;

/** Shows what a database that was restored from a backup would open and close; lets that happen with --confirm. */
export function addRestored(program: Command): void {
  verb(
    program,
    'restored',
    'after a backup was restored: what would be opened and closed, which waits for your confirmation',
    ['', '--json', '--begin', '--confirm'],
    `A restored dump, or a copy of the database, is noticed. Point-in-time recovery of the same cluster is not: say --begin
before API and workers start. Until you confirm, nothing is opened in any cloud, and what is over is closed. Stop the
sessions and delete the static IP rules that were ended since the backup, then confirm.
Exits with 1 while it waits for you.`,
  )
    .option('--json', 'everything that is known of it, as JSON')
    .addOption(new Option('--begin', 'the database was restored from a backup').conflicts('confirm'))
    .option('--confirm', 'close what is unknown, and open what sessions and static IP rules want')
    .action(run((options: Options) => withDatabase((database) => showRestore(database, options))));
}

async function showRestore(database: Database, { json, begin, confirm }: Options): Promise<ExitCode | void> {
  await database.transaction((tx) => store.note(tx, begin ?? false));
  if (confirm) return database.transaction(confirmRestore);
  const outlook = await outlookOf(database.autocommit);
  if (json) print(JSON.stringify(outlook, null, 2));
  else if (outlook.restore === null) print(NOTHING_WAITS);
  else show(outlook, outlook.restore);
  return outlook.restore === null ? EXIT.done : EXIT.found;
}

const outlookOf = async (tx: Tx): Promise<Outlook> => ({
  restore: await store.find(tx),
  unknown: await store.listUnknown(tx, LISTED),
  unopened: await store.listUnopened(tx, LISTED),
});

function show({ unknown, unopened }: Outlook, { since, targets, compared, notCompared }: Restore): void {
  print(`Restored from a backup, noticed ${since.toISOString()}: nothing is opened until you confirm.`);
  const isComplete = compared === targets;
  print(
    `${compared} of ${targets} targets were compared since${isComplete ? '.' : '; what the others hold is not known yet.'}`,
  );
  // JSON makes control characters in names visible
  if (notCompared.length > 0) print(`Not compared: ${JSON.stringify(notCompared)}`);
  print(`\nOpen and unknown to the database; closed when you confirm: ${unknown.total}`);
  table(unknown, 'organizations provider identifier address protocol ports providerRuleId', (row) => ({
    ...row,
    organizations: row.organizations.map(({ slug }) => slug).join(),
  }));
  print(`\nWanted and not open; opened when you confirm, unless you end it before: ${unopened.total}`);
  table(
    unopened,
    'organization sessionId staticIpRuleId holder identifier address protocol ports endsAt',
    (row) => ({ ...row, organization: row.organization.slug }),
  );
}

function table<Row>({ rows, total }: Sliced<Row>, columns: string, toTableRow: (row: Row) => object): void {
  if (total === 0) return;
  // it makes control characters in names visible
  new Console(process.stdout).table(rows.map(toTableRow), columns.split(' '));
  if (total > rows.length) note(`${total - rows.length} more are not listed.`);
}

async function confirmRestore(tx: Tx): Promise<void> {
  const { restore, unknown, unopened } = await outlookOf(tx);
  if (!(await store.confirm(tx))) return print(NOTHING_WAITS);
  const { targets, compared } = restore!;
  await record(tx, restore!, unknown.rows, unopened.rows);
  if (compared < targets)
    note(`${targets - compared} targets were not compared: what is unknown there is closed when they are.`);
  print(`Confirmed: ${unknown.total} unknown rules are being closed, ${unopened.total} wanted ones opened.`);
}

/** One record for each organization that it concerns. */
async function record(
  tx: Tx,
  { since }: Restore,
  unknown: readonly UnknownRule[],
  unopened: readonly UnopenedAddress[],
): Promise<void> {
  const concerned = new Map<OrganizationId, { slug: string; closed: string[]; opened: string[] }>();
  const of = ({ id, slug }: UnopenedAddress['organization']): { closed: string[]; opened: string[] } => {
    const entry = concerned.get(id) ?? { slug, closed: [], opened: [] };
    concerned.set(id, entry);
    return entry;
  };
  for (const rule of unknown) for (const one of rule.organizations) of(one).closed.push(trafficOf(rule));
  for (const address of unopened) of(address.organization).opened.push(trafficOf(address));
  for (const [id, { slug, closed, opened }] of concerned)
    await stores.audit.write(tx, id, {
      ...SYSTEM_ACTOR,
      eventType: 'RESTORE_CONFIRMED',
      resourceType: 'ORGANIZATION',
      resourceId: id,
      resourceName: slug,
      details: { restoredAt: since.toISOString(), closed, opened },
    });
}

const trafficOf = ({ identifier, address, protocol, ports }: UnknownRule | UnopenedAddress): string =>
  `${identifier}: ${address} ${protocol} ${ports}`;
