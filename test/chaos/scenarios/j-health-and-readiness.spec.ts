import { Client } from 'pg';
import { DriverRegistry } from '#drivers';
import { ownOrganization } from '../../builders/accounts/organization';
import { Drawbridge, TESTERS_LIMIT } from '../../harness/product/drawbridge';
import type { AppProcess } from '../../harness/product/processes';
import { SeverableConnection } from '../../harness/database/severable-connection';
import { until } from '../../harness/until';

const ANSWER_TIMEOUT_MS = 8000;
/** More than the API has connections. */
const REQUESTS = 30;

describe('J. Deploy and operations: health in each fault', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  let connection: SeverableConnection;
  const org = ownOrganization(drawbridge);
  let api: AppProcess;
  let worker: AppProcess;

  beforeAll(async () => {
    connection = await SeverableConnection.to(drawbridge.databaseUrl);
    const DATABASE_URL = connection.url;
    api = await drawbridge.startApi({ DATABASE_URL, ...TESTERS_LIMIT });
    worker = await drawbridge.startWorker({ DATABASE_URL, METRICS_PORT: '0' });
  });
  afterAll(() => connection.cut());

  const status = async (url: string): Promise<number> =>
    (await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })).status;
  const ofApi = (path: string): string => `http://127.0.0.1:${api.port}/api/v1${path}`;
  const ofWorker = (path: string): string => `http://127.0.0.1:${worker.port}${path}`;

  const isAlive = async (): Promise<void> => {
    expect(await Promise.all([status(ofApi('/health')), status(ofWorker('/health'))])).toEqual([200, 200]);
  };
  const ready = (): Promise<number[]> =>
    Promise.all([status(ofApi('/health/ready')), status(ofWorker('/health/ready'))]);
  /** Waits until both report this status. */
  const bothReport = async (expected: 200 | 503): Promise<void> => {
    for (const url of [ofApi('/health/ready'), ofWorker('/health/ready')]) {
      await until(`${url} answers ${expected}`, async () => (await status(url)) === expected);
    }
  };

  it('without the database: alive and not ready; ready again after it is back [J6]', async () => {
    await bothReport(200);
    await connection.cut();
    await bothReport(503);
    await isAlive();
    await connection.restore();
    await bothReport(200);
    expect(await ready()).toEqual([200, 200]);
  });

  it('without the database during the start of a worker: alive, and connected to its queue after it is back [J6]', async () => {
    const slowConnection = await SeverableConnection.to(drawbridge.databaseUrl);
    slowConnection.slow(50);
    const starting = await drawbridge.startWorker({ DATABASE_URL: slowConnection.url, METRICS_PORT: '0' });
    const ask = (path: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${starting.port}${path}`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    // it has connected to the database, but not yet to the queue, which takes several round trips
    await slowConnection.cut();
    await until('it is not ready', async () => (await ask('/health/ready')).status === 503);
    expect((await ask('/health')).status).toBe(200);
    await slowConnection.restore();
    await until('it is ready', async () => (await ask('/health/ready')).status === 200);
    await until('it waits for wake-ups', async () => {
      const waiting = await drawbridge.query<{ client_port: number }>(
        `SELECT client_port FROM pg_stat_activity WHERE query LIKE '%LISTEN bullmq_jobs%'`,
      );
      return (
        waiting.filter(({ client_port }) => slowConnection.owns(client_port)).length ===
        DriverRegistry.providers.length
      );
    });
    await starting.stop();
    await slowConnection.cut();
  });

  it('with a hanging database: alive, and not ready [J6]', async () => {
    connection.freeze();
    expect(await status(ofWorker('/health/ready'))).toBe(503);
    expect(await status(ofApi('/health/ready'))).toBe(503);
    await isAlive();
    connection.thaw();
    await bothReport(200);
  });

  const whileLocked = async (work: () => Promise<void>): Promise<void> => {
    const holder = new Client({ connectionString: drawbridge.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
    try {
      await work();
    } finally {
      await holder.end();
    }
  };

  it('with all connections of the API in use: alive and not ready [J6]', async () => {
    const { identity } = org.admin;
    const headers = { Authorization: `Bearer ${identity && 'token' in identity ? identity.token : ''}` };
    let asked: Promise<unknown>[] = [];
    await whileLocked(async () => {
      asked = Array.from({ length: REQUESTS }, () =>
        fetch(ofApi('/sessions'), { headers }).then((r) => r.text()),
      );
      await until('the API is not ready', async () => (await status(ofApi('/health/ready'))) === 503);
      expect(await status(ofApi('/health'))).toBe(200);
    });
    await Promise.all(asked);
    await bothReport(200);
  });

  it('with a sweep that does not finish: alive and not ready, although the database answers [J6]', async () => {
    await whileLocked(async () => {
      const body = await until('the worker is not ready', async () => {
        const answer = await fetch(ofWorker('/health/ready'));
        const text = await answer.text();
        return answer.status === 503 && text;
      });
      expect(body).toContain('the sweep');
      expect(await status(ofWorker('/health'))).toBe(200);
    });
    await bothReport(200);
  });
});
