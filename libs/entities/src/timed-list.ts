import { createHash } from 'node:crypto';
import type { OrganizationId } from '#rules';
import { prepared, type Tx } from './database';
import { keepMarks, keepRows, type ListKind } from './list-marks';
import type { Slice, Sliced } from './slice';

/**
 * rows from one mark to the next, unless the list says less: counting and skipping read at most so many, besides rows that are
 * not settled. Marks of earlier releases are 250 rows apart.
 */
const STEP = 100;
/** rows behind a mark that are counted by each request; more: marks are set */
const MAX_TAIL = 500;
/** rows that one statement walks to set marks, well within its time limit */
const WALKED = 100_000;
/** rows before the first mark that are counted by each request; more: marks are missing there */
const MAX_HEAD = 5000;

/**
 * SQL: a time that every transaction which may still write has begun after. Far above the limits of `data-source.ts` for
 * statements and idle transactions.
 */
export const NO_LONGER_WRITTEN = `now() - interval '10 minutes'`;

/**
 * A list of an organization, newest first, that grows without bound. Each row has a time, which never changes, and a
 * tie that orders rows of the same time. `list_marks` keeps, for about every `step`-th row, its time and how many rows are
 * older: a total, and the beginning of any page, is counted from the nearest mark. Marks are set by the first request
 * that counts many rows behind the last one, and only where the list is settled: they stay exact. Retention deletes the
 * oldest rows together with their marks. The others still count them, so only the difference to the first mark is used; the
 * rows before that are counted.
 */
export interface TimedList {
  readonly kind: ListKind;
  /** its SQL is the same for few different filters, and planning it is expensive */
  readonly isPrepared: boolean;
  /** what determines its rows besides parameter $1, the organization: lists with the same share their marks */
  readonly identity: readonly unknown[];
  /**
   * SQL: `at` and `tie` of each row with `from` <= `at` < `until`. Several queries that have no row in common, if an index
   * returns the rows of each in order, but not those of all; `condition` restricts rows further.
   */
  readonly keys: (from: string, until: string, condition?: string) => readonly string[];
  /** SQL: the rows for the keys of one page, `page`, without their order; none is older than `since` */
  readonly rows: (since: string) => string;
  /** SQL: the time before which no row comes, changes or goes any more */
  readonly settled: string;
  /** Rows before `from` that an interval includes nevertheless: few, not older than `since`. */
  readonly reaching?: (from: string) => { readonly since: string; readonly condition: string };
  /** rows from one mark to the next; left out: `STEP`. Less where each row that is counted costs a look into another table */
  readonly step?: number;
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
  /** no row of the page is older */
  readonly since: string;
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
  let position = await locate(tx, list, interval, slice, MAX_TAIL);
  if (typeof position === 'string') {
    await setMarks(tx, list, position);
    position = await locate(tx, list, interval, slice, null);
  }
  const { total, since, until, offset } = position;
  if (slice.page * slice.size >= total) return { rows: [], total };
  const [untilAt, size, skip, begin] = placeholders(list, 4);
  const bounds = [`${begin}::timestamptz`, `${untilAt}::timestamptz`] as const;
  const reached = interval.from && list.reaching?.(bounds[0]);
  const keys = reached ? list.keys(reached.since, bounds[1], reached.condition) : list.keys(...bounds);
  const order = 'ORDER BY at DESC, tie DESC';
  // a literal: a plan for an unknown number of rows may sort the whole list. Rounded, so that there are few statements
  const limit = Math.ceil((offset + slice.size) / stepOf(list)) * stepOf(list);
  const rows = await run<Row & object>(
    tx,
    list,
    `WITH page AS (${merged(keys, order, limit)} ${order} LIMIT ${size}::int OFFSET ${skip}::int)
     ${list.rows(reached ? `'-infinity'` : bounds[0])} ${order}`,
    [until, slice.size, offset, interval.from ?? since],
  );
  return { rows, total };
}

/** Statements on partitions are planned once for each connection: planning takes longer than running them. */
function run<Row extends object>(
  tx: Tx,
  list: TimedList,
  text: string,
  given: readonly unknown[],
): Promise<Row[]> {
  const values = [...list.given, ...given];
  if (!list.isPrepared) return tx.query<Row[]>(text, values);
  return prepared<Row>(
    tx,
    { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text },
    values,
  );
}

/** SQL: at least the first `limit` rows of these queries together, in no order. */
const merged = (queries: readonly string[], order: string, limit: number): string =>
  `SELECT at, tie FROM (${queries.map((query) => `(${query} ${order} LIMIT ${limit})`).join(' UNION ALL ')}) k`;

/** SQL: how many rows these queries have; with a limit, only up to that many of each. */
const countOf = (queries: readonly string[], limit: number | null): string =>
  queries
    .map((query) => `(SELECT count(*) FROM (${query} ${limit === null ? '' : `LIMIT ${limit}`}) k)`)
    .join(' + ');

/** Where marks are missing: behind the last one, or before the first. */
type Missing = 'newest' | 'oldest';

/** @param limit of rows to count behind a mark @returns where marks are missing, when there are more */
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
): Promise<Position | Missing>;
async function locate(
  tx: Tx,
  list: TimedList,
  { from, to }: Interval,
  { page, size }: Slice,
  limit: number | null,
): Promise<Position | Missing> {
  const until = to ? new Date(to.getTime() + 1).toISOString() : 'infinity';
  const skipped = page * size;
  const [mark, untilAt, skip, sizeOf, fromAt] = placeholders(list, 5);
  const marks = `FROM list_marks WHERE organization_id = $1 AND list = ${mark}::uuid`;
  const rank = (at: string): string =>
    `SELECT last.rows_before, ${countOf(list.keys('last.at', at), limit)} AS counted
     FROM first CROSS JOIN LATERAL (${lastMark(`${marks} AND at <= ${at}`, 'first.gone')}) last`;
  const head = countOf(list.keys(`'-infinity'`, 'mark.at'), limit === null ? null : MAX_HEAD);
  const start = `${fromAt}::timestamptz`;
  const reaching = from && list.reaching?.(start);
  const [found] = await run<{
    all: number;
    older: number;
    reaching: number;
    most: number;
    head: number;
    since: string | null;
    at: string | null;
    before: number | null;
  }>(
    tx,
    list,
    `WITH first AS MATERIALIZED (
       SELECT head, rows_before - head AS gone FROM (
         SELECT mark.rows_before, ${head} AS head
         FROM (SELECT at, rows_before ${marks} ORDER BY at LIMIT 1) mark
         UNION ALL SELECT 0, 0 LIMIT 1) f
     ),
     newest AS MATERIALIZED (${rank(`${untilAt}::timestamptz`)}),
     oldest AS MATERIALIZED (${from ? rank(start) : 'SELECT 0 AS rows_before, 0 AS counted'})
     SELECT (newest.rows_before + newest.counted)::int AS all, (oldest.rows_before + oldest.counted)::int AS older,
       greatest(newest.counted, oldest.counted)::int AS most, first.head::int AS head, mark.at::text,
       (SELECT at ${marks} AND rows_before <= first.gone
          + newest.rows_before + newest.counted - ${skip}::bigint - ${sizeOf}::bigint
        ORDER BY rows_before DESC LIMIT 1)::text AS since,
       (mark.rows_before - first.gone)::int AS before,
       (${reaching ? countOf(list.keys(reaching.since, start, reaching.condition), null) : '0'})::int AS reaching
     FROM first CROSS JOIN newest CROSS JOIN oldest LEFT JOIN LATERAL (
       SELECT at, rows_before ${marks} AND at < ${untilAt}::timestamptz
         AND rows_before >= first.gone
           + greatest(newest.rows_before + newest.counted - ${skip}::bigint, oldest.rows_before + oldest.counted)
         -- implied by its time, which the order of the index does not show: otherwise all later marks are read when none fits
         AND rows_before <= first.gone + newest.rows_before
       ORDER BY rows_before LIMIT 1) mark ON true`,
    [digestOf(list), until, skipped, size, ...(from ? [from] : [])],
  );
  const { all, older, most, at, before } = found!;
  if (limit !== null && found!.head >= MAX_HEAD) return 'oldest';
  if (limit !== null && most >= limit) return 'newest';
  const total = all - older + found!.reaching;
  const since = found!.since ?? '-infinity';
  if (at === null || before === null) return { total, since, until, offset: skipped };
  return { total, since, until: at, offset: before - (all - skipped) };
}

/**
 * Sets marks behind the last one, up to where the list is settled. One that is interrupted is continued by the next.
 * @param missing `oldest`: all are set anew
 */
async function setMarks(tx: Tx, list: TimedList, missing: Missing): Promise<void> {
  if (missing === 'oldest') {
    await tx.transaction(async (inner) => {
      await keepMarks(inner, list.kind);
      await inner.query('DELETE FROM list_marks WHERE organization_id = $1 AND list = $2::uuid', [
        list.given[0],
        digestOf(list),
      ]);
    });
  }
  const setSome = (): Promise<number> =>
    tx.transaction(async (inner) => {
      await keepRows(inner, list.kind);
      return walk(inner, list);
    });
  for (let count = 1; count > 0;) count = await setSome();
}

/** @returns how many marks it set */
async function walk(tx: Tx, list: TimedList): Promise<number> {
  const [mark, kind] = placeholders(list, 2);
  const set = await tx.query<unknown[]>(
    `WITH last AS (
       ${lastMark(`FROM list_marks WHERE organization_id = $1 AND list = ${mark}::uuid`, '0')}
     ), walked AS (
       SELECT k.at, rank() OVER (ORDER BY k.at) - 1 AS passed, row_number() OVER (ORDER BY k.at) AS number
       FROM last CROSS JOIN LATERAL (
         ${merged(list.keys('last.at', list.settled), 'ORDER BY at', WALKED)} ORDER BY at LIMIT ${WALKED}) k
     )
     INSERT INTO list_marks (organization_id, list, at, rows_before, kind)
     SELECT $1, ${mark}::uuid, walked.at, last.rows_before + walked.passed, ${kind} FROM last CROSS JOIN walked
     WHERE walked.number % ${stepOf(list)} = 0 AND walked.passed > 0
     ON CONFLICT DO NOTHING RETURNING 1`,
    [...list.given, digestOf(list), list.kind],
  );
  return set.length;
}

const stepOf = ({ step }: TimedList): number => step ?? STEP;

/** SQL: the newest of these marks without the rows before it that are `gone`, or one before all rows. */
const lastMark = (marks: string, gone: string): string =>
  `(SELECT at, rows_before - ${gone} AS rows_before ${marks} ORDER BY at DESC LIMIT 1)
  UNION ALL SELECT '-infinity', 0 LIMIT 1`;

/** The next placeholders after the list's own parameters. */
const placeholders = ({ given }: TimedList, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `$${given.length + index + 1}`);

/** Of lists and filters, as a UUID. */
const digestOf = ({ identity }: TimedList): string =>
  createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
