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
 * Reads one page of a list.
 * @param query `counted`: the `FROM … WHERE …` that counts the rows; `rows`: the query for them, with its ORDER BY
 * @param given the parameters of both
 */
export async function sliced<Row>(
  tx: Tx,
  query: { readonly counted: string; readonly rows: string },
  given: readonly unknown[],
  { page, size }: Slice,
): Promise<Sliced<Row>> {
  const [all] = await tx.query<{ total: number }[]>(`SELECT count(*)::int AS total ${query.counted}`, [
    ...given,
  ]);
  const limit = `LIMIT $${given.length + 1} OFFSET $${given.length + 2}`;
  const rows = await tx.query<Row[]>(`${query.rows} ${limit}`, [...given, size, page * size]);
  return { rows, total: all!.total };
}
