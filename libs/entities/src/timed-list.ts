import { createHash } from 'node:crypto';
import type { OrganizationId } from '#rules';
import type { Tx } from './database';
import type { Slice, Sliced } from './slice';

/** rows from one mark to the next: what counting and skipping read at most, besides rows that are not settled */
const STEP = 250;
/** rows that one statement walks to set marks, well within its time limit */
const WALKED = 100_000;

/**
 * SQL: a time that every transaction which may still write has begun after. Far above the limits of `data-source.ts` for
 * statements and idle transactions.
 */
export const NO_LONGER_WRITTEN = `now() - interval '10 minutes'`;

/**
 * A list of an organization, newest first, that grows without bound. Each row has a time, which never changes, and a
 * tie that orders rows of the same time. `list_marks` keeps, for about every 250th row, its time and how many rows are
 * older: a total, and the beginning of any page, is counted from the nearest mark. Marks are set by the first request
 * that counts many rows behind the last one, and only where the list is settled: they stay exact.
 */
export interface TimedList {
  /** what determines its rows besides parameter $1, the organization: lists with the same share their marks */
  readonly identity: readonly unknown[];
  /**
   * SQL: `at` and `tie` of each row with `from` <= `at` < `until`. Several queries that have no row in common, if an index
   * returns the rows of each in order, but not those of all; `condition` restricts rows further.
   */
  readonly keys: (from: string, until: string, condition?: string) => readonly string[];
  /** SQL: the rows for the keys of one page, `page`, without their order */
  readonly rows: string;
  /** SQL: the time before which no row comes, changes or goes any more */
  readonly settled: string;
  /** Rows before `from` that an interval includes nevertheless: few, not older than `since`. */
  readonly reaching?: (from: string) => { readonly since: string; readonly condition: string };
  /** parameters of the SQL; the first is the organization */
  readonly given: readonly [OrganizationId, ...unknown[]];
}

/** null: unbounded */
export interface Interval {
  readonly from: Date | null;
  /** inclusive, with millisecond precision */
  readonly to: Date | null;
}

/** Where a page is in its list. */
interface Position {
  readonly total: number;
  /** the page is `offset` rows before this time */
  readonly until: string;
  readonly offset: number;
}

/** Reads one page of a list that grows without bound. Its cost does not depend on the length of the list. */
export async function timedSlice<Row>(
  tx: Tx,
  list: TimedList,
  interval: Interval,
  slice: Slice,
): Promise<Sliced<Row>> {
  let position = await locate(tx, list, interval, slice, 2 * STEP);
  if (position === 'uncounted') {
    await setMarks(tx, list);
    position = await locate(tx, list, interval, slice, null);
  }
  const { total, until, offset } = position;
  if (slice.page * slice.size >= total) return { rows: [], total };
  const given = [...list.given, until, interval.from];
  const [untilAt, fromAt] = placeholders(list, 2).map((placeholder) => `${placeholder}::timestamptz`);
  const { since = fromAt!, condition } = list.reaching?.(fromAt!) ?? {};
  const keys = interval.from ? list.keys(since, untilAt!, condition) : list.keys(`'-infinity'`, untilAt!);
  const order = 'ORDER BY at DESC, tie DESC';
  // literals: a plan for an unknown number of rows may sort the whole list
  const rows = await tx.query<Row[]>(
    `WITH page AS (${merged(keys, order, offset + slice.size)} ${order} LIMIT ${slice.size} OFFSET ${offset})
     ${list.rows} ${order}`,
    interval.from ? given : given.slice(0, -1),
  );
  return { rows, total };
}

/** SQL: at least the first `limit` rows of these queries together, in no order. */
const merged = (queries: readonly string[], order: string, limit: number): string =>
  `SELECT at, tie FROM (${queries.map((query) => `(${query} ${order} LIMIT ${limit})`).join(' UNION ALL ')}) k`;

/** SQL: how many rows these queries have; with a limit, only up to that many of each. */
const countOf = (queries: readonly string[], limit: number | null): string =>
  queries
    .map((query) => `(SELECT count(*) FROM (${query} ${limit === null ? '' : `LIMIT ${limit}`}) k)`)
    .join(' + ');

/** @param limit of rows to count behind a mark @returns 'uncounted' when there are more: marks are missing */
async function locate(
  tx: Tx,
  list: TimedList,
  interval: Interval,
  slice: Slice,
  limit: null,
): Promise<Position>;
async function locate(
  tx: Tx,
  list: TimedList,
  interval: Interval,
  slice: Slice,
  limit: number | null,
): Promise<Position | 'uncounted'>;
async function locate(
  tx: Tx,
  list: TimedList,
  { from, to }: Interval,
  { page, size }: Slice,
  limit: number | null,
): Promise<Position | 'uncounted'> {
  const until = to ? new Date(to.getTime() + 1).toISOString() : 'infinity';
  const skipped = page * size;
  const [mark, untilAt, skip, fromAt] = placeholders(list, 4);
  const marks = `FROM list_marks WHERE organization_id = $1 AND list = ${mark}::uuid`;
  const rank = (at: string): string =>
    `SELECT last.rows_before, ${countOf(list.keys('last.at', at), limit)} AS counted
     FROM (${lastMark(`${marks} AND at <= ${at}`)}) last`;
  const start = `${fromAt}::timestamptz`;
  const reaching = from && list.reaching?.(start);
  const [found] = await tx.query<
    { all: number; older: number; reaching: number; most: number; at: string | null; before: number | null }[]
  >(
    `WITH newest AS MATERIALIZED (${rank(`${untilAt}::timestamptz`)}),
     oldest AS MATERIALIZED (${from ? rank(start) : 'SELECT 0 AS rows_before, 0 AS counted'})
     SELECT (newest.rows_before + newest.counted)::int AS all, (oldest.rows_before + oldest.counted)::int AS older,
       greatest(newest.counted, oldest.counted)::int AS most, mark.at::text, mark.rows_before::int AS before,
       (${reaching ? countOf(list.keys(reaching.since, start, reaching.condition), null) : '0'})::int AS reaching
     FROM newest CROSS JOIN oldest LEFT JOIN LATERAL (
       SELECT at, rows_before ${marks} AND at < ${untilAt}::timestamptz
         AND rows_before >= greatest(newest.rows_before + newest.counted - ${skip}::bigint, oldest.rows_before + oldest.counted)
       ORDER BY rows_before LIMIT 1) mark ON true`,
    [...list.given, digestOf(list), until, skipped, ...(from ? [from] : [])],
  );
  const { all, older, most, at, before } = found!;
  if (limit !== null && most >= limit) return 'uncounted';
  const total = all - older + found!.reaching;
  if (at === null || before === null) return { total, until, offset: skipped };
  return { total, until: at, offset: before - (all - skipped) };
}

/** Sets marks behind the last one, up to where the list is settled. One that is interrupted is continued by the next. */
async function setMarks(tx: Tx, list: TimedList): Promise<void> {
  const [mark] = placeholders(list, 1);
  const setSome = async (): Promise<number> => {
    const set = await tx.query<unknown[]>(
      `WITH last AS (
         ${lastMark(`FROM list_marks WHERE organization_id = $1 AND list = ${mark}::uuid`)}
       ), walked AS (
         SELECT k.at, rank() OVER (ORDER BY k.at) - 1 AS passed, row_number() OVER (ORDER BY k.at) AS number
         FROM last CROSS JOIN LATERAL (
           ${merged(list.keys('last.at', list.settled), 'ORDER BY at', WALKED)} ORDER BY at LIMIT ${WALKED}) k
       )
       INSERT INTO list_marks (organization_id, list, at, rows_before)
       SELECT $1, ${mark}::uuid, walked.at, last.rows_before + walked.passed FROM last CROSS JOIN walked
       WHERE walked.number % ${STEP} = 0 AND walked.passed > 0
       ON CONFLICT DO NOTHING RETURNING 1`,
      [...list.given, digestOf(list)],
    );
    return set.length;
  };
  for (let count = 1; count > 0;) count = await setSome();
}

/** SQL: the newest of these marks, or one before all rows. */
const lastMark = (marks: string): string => `(SELECT at, rows_before ${marks} ORDER BY at DESC LIMIT 1)
  UNION ALL SELECT '-infinity', 0 LIMIT 1`;

/** The next placeholders after the list's own parameters. */
const placeholders = ({ given }: TimedList, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `$${given.length + index + 1}`);

/** Of lists and filters, as a UUID. */
const digestOf = ({ identity }: TimedList): string =>
  createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
