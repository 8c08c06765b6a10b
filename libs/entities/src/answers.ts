import { execute, type PreparedStatement, type Tx } from './database';

/** The rows that a statement returns. TypeORM gives those of an UPDATE or a DELETE as `[rows, count]`. */
export async function rows<Row extends object>(
  tx: Tx,
  statement: string | PreparedStatement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  if (typeof statement !== 'string') return execute<Row>(tx, statement, values);
  const answer = await tx.query<Row[] | [Row[], number]>(statement, [...values]);
  return isCounted(answer) ? answer[0] : answer;
}

const isCounted = <Row>(answer: Row[] | [Row[], number]): answer is [Row[], number] =>
  Array.isArray(answer[0]);

/** The only row that a statement returns; null: none. */
export async function first<Row extends object>(
  tx: Tx,
  statement: string | PreparedStatement,
  values: readonly unknown[] = [],
): Promise<Row | null> {
  const [row] = await rows<Row>(tx, statement, values);
  return row ?? null;
}

/** @param from SQL: a table, with what its rows are counted by */
export async function countOf(tx: Tx, from: string, values: readonly unknown[]): Promise<number> {
  const counted = await first<{ count: number }>(tx, `SELECT count(*)::int AS count FROM ${from}`, values);
  return counted!.count;
}

/** Whether a statement returns a row: of a guarded write, whether it was made. */
export async function touches(
  tx: Tx,
  statement: string | PreparedStatement,
  values: readonly unknown[] = [],
): Promise<boolean> {
  return (await rows(tx, statement, values)).length > 0;
}
