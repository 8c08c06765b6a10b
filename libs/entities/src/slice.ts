import type { Tx } from './database';

/** Page number from 0, and rows per page. */
export interface Slice {
  readonly page: number;
  readonly size: number;
}

/** The rows of one page, and the total number of rows. */
export interface Sliced<Row> {
  readonly rows: Row[];
  readonly total: number;
}

/**
 * Reads one page of a list that stays small: it is counted as a whole. For others see `readTimedPage`.
 * @param list SQL of all rows, in any order
 * @param order by which columns, without ties
 */
export async function readPage<Row>(
  tx: Tx,
  list: string,
  order: string,
  given: readonly unknown[],
  { page, size }: Slice,
): Promise<Sliced<Row>> {
  const [all] = await tx.query<{ total: number }[]>(`SELECT count(*)::int AS total FROM (${list}) l`, [
    ...given,
  ]);
  // literals: a plan for an unknown number of rows may sort the whole list
  const rows = await tx.query<Row[]>(`${list} ORDER BY ${order} LIMIT ${size} OFFSET ${page * size}`, [
    ...given,
  ]);
  return { rows, total: all!.total };
}
