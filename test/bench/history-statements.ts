import type { Drawbridge } from '../harness/product/drawbridge';
import type { BenchPostgres, LoggedLine } from './bench-postgres';
import { figure, type Figure } from './figure';
import { MAX_RATIO, SCALE, type Side } from './history-scale';

/** smaller differences are noise of the machine */
const NOISE_MS = 1;
const RECONCILE_SECONDS = 10;
/** long enough for each periodic statement of a worker, those with an interval of a minute included */
const OBSERVED_MS = SCALE < 1 ? 5000 : 65_000;
/** hourly statements run at the start: several starts separate them from the noise */
const STARTS = SCALE < 1 ? 1 : 4;
/** longer than the interval between comparisons */
const START_MS = SCALE < 1 ? 5000 : 12_000;

/** For each statement, the durations of its executions: planning and execution, milliseconds. */
export type Statements = Map<string, number[]>;

const databaseOf = (drawbridge: Drawbridge): string => new URL(drawbridge.databaseUrl).pathname.slice(1);

/** Starts a worker on each side, several times, and logs its statements while there is no work. */
export async function periodicStatements(
  postgres: BenchPostgres,
  sides: readonly Side[],
): Promise<ReadonlyMap<Side, Statements>> {
  const startWorkers = async (): Promise<void> => {
    for (let starts = 0; starts < STARTS; starts += 1) {
      if (starts > 0) {
        await new Promise((resolve) => setTimeout(resolve, START_MS));
        await Promise.all(sides.map(({ drawbridge }) => drawbridge.worker.stop()));
      }
      // one after the other, in alternating order: the load of a starting process affects both sides
      for (const { drawbridge } of starts % 2 === 0 ? sides : sides.toReversed()) {
        await drawbridge.startWorker({ RECONCILE_SECONDS: String(RECONCILE_SECONDS) });
      }
    }
  };
  const lines = await loggedFor(postgres, sides[0]!.drawbridge, OBSERVED_MS, startWorkers);
  return new Map(
    sides.map((one) => [
      one,
      statementsOf(lines.filter(({ database }) => database === databaseOf(one.drawbridge))),
    ]),
  );
}

async function loggedFor(
  postgres: BenchPostgres,
  drawbridge: Drawbridge,
  milliseconds: number,
  start: () => Promise<unknown>,
): Promise<readonly LoggedLine[]> {
  const lines = postgres.keepLog();
  await drawbridge.query('ALTER SYSTEM SET log_min_duration_statement = 0');
  await drawbridge.query('SELECT pg_reload_conf()');
  try {
    await start();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  } finally {
    await drawbridge.query('ALTER SYSTEM RESET log_min_duration_statement');
    await drawbridge.query('SELECT pg_reload_conf()');
    postgres.dropLog();
  }
  return lines.filter(({ application }) => application.startsWith('drawbridge-worker'));
}

/** PostgreSQL logs parse, bind and execute of a statement as separate entries, in this order. */
function statementsOf(lines: readonly LoggedLine[]): Statements {
  const statements: Statements = new Map();
  const planning = new Map<string, number>();
  for (const { text } of lines) {
    const [, ms, kind, statement] =
      /^LOG: +duration: (\S+) ms +(parse|bind|execute|statement)[^:]*: ([\s\S]*)/.exec(text) ?? [];
    if (ms === undefined || kind === undefined || statement === undefined) continue;
    const name = statement.replaceAll(/\s+/g, ' ').trim();
    if (/^(BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|SELECT version)/i.test(name)) continue;
    if (kind === 'parse' || kind === 'bind') {
      planning.set(name, (planning.get(name) ?? 0) + Number(ms));
      continue;
    }
    const all = statements.get(name) ?? [];
    all.push(Number(ms) + (planning.get(name) ?? 0));
    planning.delete(name);
    statements.set(name, all);
  }
  return statements;
}

/** The sum over all statements, and each statement that takes noticeably longer. */
export function statementFigures(
  statements: ReadonlyMap<Side, Statements>,
  quiet: Side,
  seeded: Side,
): Figure[] {
  const [without, withHistory] = [statements.get(quiet)!, statements.get(seeded)!];
  const both = [...without.keys()].filter((name) => withHistory.has(name));
  // the minimum: the duration without other load
  const of = (one: Statements, name: string): number => Math.min(...one.get(name)!);
  const sum = (one: Statements): number => both.reduce((total, name) => total + of(one, name), 0);
  const slower = both.filter((name) => {
    const [before, after] = [of(without, name), of(withHistory, name)];
    return after > before + NOISE_MS && after > MAX_RATIO * before;
  });
  return [
    figure('different periodic statements of a worker', '', [both.length]),
    figure('periodic statements, each once, no history', 'ms', [sum(without)]),
    figure('periodic statements, each once, with history: times', '', [sum(withHistory) / sum(without)], {
      atMost: MAX_RATIO,
    }),
    figure('periodic statements that take longer with history', '', [slower.length], { atMost: 0 }),
    ...slower.map((name) =>
      figure(`  was ${of(without, name).toFixed(2)} ms: ${name.slice(0, 100)}`, 'ms', [
        of(withHistory, name),
      ]),
    ),
  ];
}
