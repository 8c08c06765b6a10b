import { freePort } from '../harness/network/free-port';
import { Client, escapeIdentifier, Pool } from 'pg';
import { connectQueue, refuseWrongRedis } from '#jobs';
import { cloneDatabase } from '../harness/database/database';
import { postgresQueue } from '../harness/database/postgres-queue';
import { hasRedis, RedisServer } from '../harness/database/redis';

const onRedis = hasRedis ? describe : describe.skip;
if (!hasRedis)
  process.stderr.write('\n*** redis-server is not on the PATH: its probe WAS NOT TESTED ***\n\n');

onRedis('The probe of a queue in Redis', () => {
  /** Whether the start is refused and why, and what the probe says of it. */
  const probed = async (redis: RedisServer): Promise<[string, string]> => {
    const queue = connectQueue({ redisUrl: redis.url, openPool: () => new Pool() }, () => undefined);
    const reasonOf = (error: Error): string => error.message;
    const start = await refuseWrongRedis(redis.url).then(() => 'starts', reasonOf);
    const answer = await queue.ping().then(() => 'UP', reasonOf);
    await queue.close();
    return [start, answer];
  };
  const withRedis = async (
    work: (redis: RedisServer) => Promise<void>,
    ...options: string[]
  ): Promise<void> => {
    const redis = await RedisServer.start(undefined, ...options);
    try {
      await work(redis);
    } finally {
      await redis.kill();
    }
  };

  it('sends a job and takes it back', () =>
    withRedis(async (redis) => {
      expect(await probed(redis)).toEqual(['starts', 'UP']);
      expect(await redis.command('KEYS', 'bull:probe:[0-9a-f]*-*')).toEqual([]);
    }));

  it('refuses cluster mode', async () =>
    withRedis(
      async (redis) => {
        await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
        const [start, answer] = await probed(redis);
        expect(start).toContain('REDIS_URL must lead to a Redis without cluster mode');
        expect(answer).toContain('CROSSSLOT');
      },
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      `nodes-${process.pid}-${Math.random()}.conf`,
      // by default ten thousand above the other, where outgoing connections may have one
      '--cluster-port',
      `${await freePort()}`,
    ));

  it('refuses a server that lets no scripts in, and starts beside one that is full', () =>
    withRedis(async (redis) => {
      await redis.command('CONFIG', 'SET', 'maxmemory', '1');
      expect(await probed(redis)).toEqual(['starts', expect.stringContaining('OOM')]);
      await redis.command('CONFIG', 'SET', 'maxmemory', '0');
      await redis.command('ACL', 'SETUSER', 'default', '-@scripting');
      const [start, answer] = await probed(redis);
      expect(start).toContain('REDIS_URL must lead to a Redis that lets this service in: it answers NOPERM');
      expect(answer).toContain('NOPERM');
    }));
});

it('The probe of a queue in PostgreSQL sends a job and takes it back, which a role that only reads cannot', async () => {
  const { url, serviceUrl, drop } = await cloneDatabase();
  const owner = new Client({ connectionString: url });
  await owner.connect();
  const queue = postgresQueue(serviceUrl!);
  try {
    await queue.ping();
    expect((await owner.query('SELECT FROM bullmq.job')).rowCount).toBe(0);
    const role = escapeIdentifier(new URL(serviceUrl!).username);
    await owner.query(`REVOKE INSERT ON ALL TABLES IN SCHEMA bullmq FROM ${role}`);
    await expect(queue.ping()).rejects.toThrow('permission denied');
  } finally {
    await queue.close();
    await owner.end();
    await drop();
  }
});
