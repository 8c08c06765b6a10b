import { Worker } from 'bullmq';
import { Pool } from 'pg';
import { connectQueue, queueName, WakeUps, type ConvergeJob, type QueueConnection } from '#jobs';
import { cloneDatabase } from '../harness/database/database';
import { postgresQueue } from '../harness/database/postgres-queue';
import { hasRedis, RedisServer } from '../harness/database/redis';
import { until } from '../harness/until';

interface Backend {
  readonly connection: QueueConnection;
  readonly end: () => Promise<void>;
}

type OnError = (error: Error) => void;

async function onPostgres(remember: OnError): Promise<Backend> {
  const { serviceUrl, drop } = await cloneDatabase();
  // as the processes connect, with no right to create anything
  const connection = postgresQueue(serviceUrl!, remember);
  return { connection, end: drop };
}

async function onRedis(remember: OnError): Promise<Backend> {
  const redis = await RedisServer.start();
  return {
    connection: connectQueue({ redisUrl: redis.url, openPool: () => new Pool() }, remember),
    end: () => redis.kill(),
  };
}

const backends: [string, (onError: OnError) => Promise<Backend>][] = [['PostgreSQL', onPostgres]];
if (hasRedis) backends.push(['Redis', onRedis]);
else process.stderr.write('\n*** redis-server is not on the PATH: wake-ups on Redis WERE NOT TESTED ***\n\n');

describe.each(backends)('Wake-ups on %s', (_name, open) => {
  it('hundreds for one object become a few runs, and the last run begins after the last wake-up', async () => {
    const lost: Error[] = [];
    const remember: OnError = (error) => void lost.push(error);
    const { connection, end } = await open(remember);
    const wakeUps = new WakeUps(connection, remember);
    const target = '00000000-0000-4000-8000-000000000001';
    const runs: { hasAll: boolean; name: string }[] = [];
    /** the last wake-up is being sent */
    let hasAll = false;
    const worker = new Worker<ConvergeJob>(
      queueName('AWS'),
      async (job) => {
        runs.push({ hasAll, name: job.name });
        await new Promise((resolve) => setTimeout(resolve, 20));
      },
      { connection: connection.options, concurrency: 4 },
    );
    worker.on('error', remember);
    const wake = (): void => wakeUps.wake('apply-rules', [{ provider: 'AWS', targetIds: [target] }]);
    await until('300 wake-ups are sent', async () => {
      for (let sent = 0; sent < 10; sent += 1) wake();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return runs.length >= 3;
    });
    hasAll = true;
    wake();
    await until('a run begins after the last wake-up', () => Promise.resolve(runs.at(-1)!.hasAll));
    expect(runs.length).toBeLessThan(50);
    expect(new Set(runs.map((run) => run.name))).toEqual(new Set(['apply-rules']));
    await worker.close();
    await wakeUps.close();
    expect(lost).toEqual([]);
    await connection.close();
    await end();
  });
});

it('a connection of the queue that dies between two statements ends its user’s work, not the process', async () => {
  const { connection, end } = await onPostgres(() => undefined);
  const pool = connection.options as Pool;
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
  await until('the connection is known to be dead', () =>
    client.query('SELECT 1').then(
      () => false,
      () => true,
    ),
  );
  client.release(true);
  await expect(connection.ping()).resolves.toBeUndefined();
  await connection.close();
  await end();
});
