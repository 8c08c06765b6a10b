import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, type Figure } from './figure';
import type { FloorSettings } from './floor';
import { startSessions, type LoadOutcome } from './load';

const ROUNDS = 9;
const SESSIONS = 1500;
/** Node.js compiles the code of a request in its first thousands of requests */
const WARM_UP = 4000;
const CONNECTIONS = 16;
/** how many sessions a large organization starts */
const REQUESTS_PER_SECOND = 100;
/** as in the API */
const POOL_SIZE = 20;
const CONFIG = { port: 22 };

/** Compares POST /sessions with the minimal server, alternating, without a worker. */
export async function requestRate(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    api: { NODE_ENV: 'production', LOG_LEVEL: 'info' },
  });
  try {
    const owner = await organization(drawbridge, [{ group: group(0), config: CONFIG }]);
    const floor = await startFloor(await floorSettings(drawbridge, owner));
    try {
      const key = await apiKeyHeader(owner);
      const load = { url: sessionsUrl(drawbridge), headers: key, connections: CONNECTIONS };
      const ours = (amount: number): Promise<LoadOutcome> => startSessions({ ...load, amount });
      const minimal = (amount: number): Promise<LoadOutcome> =>
        startSessions({ url: floor.url, connections: CONNECTIONS, amount });
      const compared = await alternate(drawbridge, ours, minimal);
      const paced = { ...load, amount: SESSIONS, requestsPerSecond: REQUESTS_PER_SECOND };
      const { p99 } = await startSessions(paced);
      return [
        ...compared,
        figure(`POST /sessions p99, ${REQUESTS_PER_SECOND} a second`, 'ms', [p99], { atMost: 50 }),
      ];
    } finally {
      floor.stop();
    }
  } finally {
    await drawbridge.stop();
  }
}

async function alternate(
  drawbridge: Drawbridge,
  ours: (amount: number) => Promise<LoadOutcome>,
  minimal: (amount: number) => Promise<LoadOutcome>,
): Promise<Figure[]> {
  await minimal(WARM_UP);
  await ours(WARM_UP);
  // as the autovacuum does within minutes: plans from when the tables were empty would slow down only who came first
  await drawbridge.query('ANALYZE');
  const rounds: { floor: LoadOutcome; api: LoadOutcome }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ floor: await minimal(SESSIONS), api: await ours(SESSIONS) });
  }
  const of = (value: (round: (typeof rounds)[number]) => number): number[] => rounds.map(value);
  return [
    figure(
      'POST /sessions',
      'req/s',
      of(({ api }) => api.perSecond),
    ),
    figure(
      'POST /sessions p99',
      'ms',
      of(({ api }) => api.p99),
    ),
    figure(
      'node:http + pg, same statement',
      'req/s',
      of(({ floor }) => floor.perSecond),
    ),
    figure(
      'POST /sessions as a share of that',
      '',
      of(({ api, floor }) => api.perSecond / floor.perSecond),
      {
        atLeast: 0.5,
      },
    ),
  ];
}

export const sessionsUrl = (drawbridge: Drawbridge): string =>
  `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1/sessions`;

/** Creates an API key. @returns its request header */
export async function apiKeyHeader({ admin }: Organization): Promise<Record<string, string>> {
  const body = { name: 'bench', scopes: ['sessions:write', 'sessions:read'] };
  const key = await admin.created<{ plainTextKey: string }>('/api-keys', body);
  return { 'x-api-key': key.plainTextKey };
}

async function floorSettings(drawbridge: Drawbridge, owner: Organization): Promise<FloorSettings> {
  const resourceId = owner.resourceIds[0]!;
  const [row] = await drawbridge.query<{ target_id: string }>(
    'SELECT target_id FROM resources WHERE id = $1',
    [resourceId],
  );
  return {
    databaseUrl: drawbridge.databaseUrl,
    poolSize: POOL_SIZE,
    organizationId: owner.organizationId,
    userId: owner.adminId,
    resourceId,
    targetId: row!.target_id,
    config: CONFIG,
  };
}

async function startFloor(settings: FloorSettings): Promise<{ url: string; stop(): void }> {
  const child = fork(join(__dirname, 'floor.ts'), {
    execArgv: ['--require', join(__dirname, '..', 'harness', 'loading', 'typescript.cjs')],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  child.send(settings);
  const ended = once(child, 'exit').then(() => {
    throw new Error('The floor ended before it was ready');
  });
  const [{ port }] = (await Promise.race([once(child, 'message'), ended])) as [{ port: number }];
  // after the measurement its exit is expected
  ended.catch((error: unknown) => error);
  return { url: `http://127.0.0.1:${port}/`, stop: () => child.disconnect() };
}
