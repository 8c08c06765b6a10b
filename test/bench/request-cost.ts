import { group, organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';
import type { BenchPostgres, LoggedLine } from './bench-postgres';
import { figure, type Figure } from './figure';
import { startSessions } from './load';
import { apiKeyHeader, sessionsUrl } from './request-rate';

const REQUESTS = 50;
const QUIET_MS = 500;

const APPLICATIONS = [
  { application: 'drawbridge-api', label: 'API' },
  { application: 'drawbridge-queue', label: 'queue' },
];

/** Queries and commits of one POST /sessions, counted in the log of PostgreSQL. */
export async function requestCost(postgres: BenchPostgres): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false, api: { NODE_ENV: 'production' } });
  try {
    const owner = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const load = { url: sessionsUrl(drawbridge), headers: await apiKeyHeader(owner), amount: REQUESTS };
    // warm-up: opens connections, and runs what is done once a minute
    await startSessions({ ...load, connections: 16 });
    const figures: Figure[] = [];
    for (const connections of [1, 16]) {
      const lines = await logged(postgres, drawbridge, () => startSessions({ ...load, connections }));
      figures.push(...APPLICATIONS.flatMap((one) => costs(lines, one, connections)));
    }
    return figures;
  } finally {
    await drawbridge.stop();
  }
}

function costs(
  lines: readonly LoggedLine[],
  { application, label }: (typeof APPLICATIONS)[number],
  connections: number,
): Figure[] {
  const own = lines.filter((line) => line.application === application && isQuery(line));
  const commits = new Set(own.map((line) => line.transaction).filter((id) => id !== '0'));
  const how = connections === 1 ? 'one by one' : `${connections} at once`;
  const name = (what: string): string => `${what} of the ${label} per POST, ${how}`;
  const isGoal = application === 'drawbridge-api';
  return [
    figure(name('Queries'), '', [own.length / REQUESTS], isGoal ? { atMost: 3 } : null),
    figure(name('Commits'), '', [commits.size / REQUESTS], isGoal ? { atMost: 1 } : null),
  ];
}

/** Parse and bind are logged as separate lines: only the execution counts. */
export const isQuery = ({ text }: LoggedLine): boolean =>
  /^LOG: +duration: \S+ ms +(execute|statement)/.test(text);

/** All statements that the server logs during the work and until the queue is idle. */
async function logged(
  postgres: BenchPostgres,
  drawbridge: Drawbridge,
  work: () => Promise<unknown>,
): Promise<readonly LoggedLine[]> {
  const lines = postgres.keepLog();
  await logStatements(drawbridge, true);
  await until('the server logs statements', async () => {
    await drawbridge.query('SELECT 1');
    return lines.some(isQuery);
  });
  await work();
  await until('the log is quiet', async () => {
    const before = lines.length;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    return lines.length === before;
  });
  await logStatements(drawbridge, false);
  postgres.dropLog();
  return lines;
}

async function logStatements(drawbridge: Drawbridge, on: boolean): Promise<void> {
  await drawbridge.query(`ALTER SYSTEM SET log_min_duration_statement = ${on ? 0 : -1}`);
  await drawbridge.query('SELECT pg_reload_conf()');
}
