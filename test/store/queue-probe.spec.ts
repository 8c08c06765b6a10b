import { Pool } from 'pg';
import { connectQueue, refuseWrongRedis } from '#jobs';
import { hasRedis, RedisServer } from '../harness/redis';

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

  it('refuses cluster mode', () =>
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
