import type { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import type { BenchPostgres, LoggedLine } from './bench-postgres';

/** Parse and bind are logged as separate lines: only the execution counts. */
const isQuery = ({ text }: LoggedLine): boolean => /^LOG: +duration: \S+ ms +(execute|statement)/.test(text);

/** The statements of the product's processes that the server executes during the work. @param work gets the growing log */
export async function statementsDuring(
  postgres: BenchPostgres,
  drawbridge: Drawbridge,
  work: (log: readonly LoggedLine[]) => Promise<unknown>,
): Promise<readonly LoggedLine[]> {
  const lines = postgres.keepLog();
  try {
    await logStatements(drawbridge, true);
    await until('the server logs statements', async () => {
      await drawbridge.query('SELECT 1');
      return lines.some(isQuery);
    });
    await work(lines);
  } finally {
    await logStatements(drawbridge, false);
    postgres.dropLog();
  }
  return lines.filter((line) => line.application.startsWith('drawbridge') && isQuery(line));
}

/** Transactions that wrote. */
export const commitsIn = (lines: readonly LoggedLine[]): number =>
  new Set(lines.map(({ transaction }) => transaction).filter((id) => id !== '0')).size;

async function logStatements(drawbridge: Drawbridge, on: boolean): Promise<void> {
  await drawbridge.query(`ALTER SYSTEM SET log_min_duration_statement = ${on ? 0 : -1}`);
  await drawbridge.query('SELECT pg_reload_conf()');
}
