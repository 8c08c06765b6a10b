import { createHash } from 'node:crypto';
import type { OrganizationId } from '#rules';
import { execute, type Tx } from './database';
import type { Slice, Sliced } from './slice';

/** Rows from the nearer end up to which a page is planned as one that reads few. */
const NEAR = 200;
/** More than any list has. As a literal it keeps the order of an index where sorting looks cheaper. */
const FAR = 1_000_000_000;

/** null: unbounded */
export interface Interval {
  readonly from: Date | null;
  /** inclusive, with millisecond precision */
  readonly to: Date | null;
}

/** For `at >= $n`. */
export const beginOf = ({ from }: Interval): string => from?.toISOString() ?? '-infinity';
/** For `at < $n`. */
export const endOf = ({ to }: Interval): string =>
  to ? new Date(to.getTime() + 1).toISOString() : 'infinity';

/**
 * A list of an organization, newest first, that grows without bound. Each row has a time, which never changes, and a tie
 * that orders rows of the same time.
 */
export interface TimedList {
  /**
   * SQL: `at` and `tie` of each row. Several queries that have no row in common, if an index returns the rows of each in
   * order, but not those of all. Each has a lower and an upper bound for its time, by parameters: plans are made for any
   * organization, and without bounds for the largest one, which reads whole tables.
   */
  readonly keys: readonly string[];
  /** SQL: the rows for the keys of one page, `page`, without their order */
  readonly rows: string;
  /** parameters of the SQL; the first is the organization */
  readonly given: readonly [OrganizationId, ...unknown[]];
}

/**
 * Reads one page of a list that grows without bound, and counts it. Counting reads an entry of an index for each row of the
 * list; the page reads those between it and the nearer end, and only its own rows.
 */
export async function readTimedPage<Row extends object>(
  tx: Tx,
  list: TimedList,
  slice: Slice,
): Promise<Sliced<Row>> {
  const counts = list.keys.map((query) => `(SELECT count(*) FROM (${query}) k)`);
  const [counted] = await run<{ total: number }>(
    tx,
    `SELECT (${counts.join(' + ')})::int AS total`,
    list.given,
  );
  const { total } = counted!;
  const newer = slice.page * slice.size;
  if (newer >= total) return { rows: [], total };
  const size = Math.min(slice.size, total - newer);
  const older = total - newer - size;
  const order = newer <= older ? 'at DESC, tie DESC' : 'at, tie';
  const skipped = Math.min(newer, older);
  const limit = skipped + size <= NEAR ? NEAR : FAR;
  const keys = list.keys.map((query) => `(${query} ORDER BY ${order} LIMIT ${limit})`);
  const rows = await run<Row>(
    tx,
    `WITH page AS (SELECT at, tie FROM (${keys.join(' UNION ALL ')}) k ORDER BY ${order}
       LIMIT $${list.given.length + 1}::int OFFSET $${list.given.length + 2}::int)
     ${list.rows} ORDER BY at DESC, tie DESC`,
    [...list.given, size, skipped],
  );
  return { rows, total };
}

/** Planned once for each connection: on partitions, planning takes longer than running. */
function run<Row extends object>(tx: Tx, text: string, given: readonly unknown[]): Promise<Row[]> {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return execute<Row>(tx, { name, text }, given);
}
