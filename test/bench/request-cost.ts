import { group, organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import type { BenchPostgres, LoggedLine } from './bench-postgres';
import { figure, type Figure } from './figure';
import { startSessions } from './load';
import { apiKeyHeader, sessionsUrl } from './request-rate';
import { commitsIn, statementsDuring } from './statement-log';

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
      const lines = await statementsDuring(postgres, drawbridge, async (log) => {
        await startSessions({ ...load, connections });
        await untilQuiet(log);
      });
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
  const own = lines.filter((line) => line.application === application);
  const how = connections === 1 ? 'one by one' : `${connections} at once`;
  const name = (what: string): string => `${what} of the ${label} per POST, ${how}`;
  const isGoal = application === 'drawbridge-api';
  return [
    figure(name('Queries'), '', [own.length / REQUESTS], isGoal ? { atMost: 4 } : null),
    figure(name('Commits'), '', [commitsIn(own) / REQUESTS], isGoal ? { atMost: 1 } : null),
  ];
}

const untilQuiet = (log: readonly LoggedLine[]): Promise<boolean> =>
  until('the log is quiet', async () => {
    const before = log.length;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    return log.length === before;
  });
