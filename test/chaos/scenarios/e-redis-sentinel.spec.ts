import { organization, type Organization } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { hasRedis, type RedisServer } from '../../harness/database/redis';
import { RedisWithSentinels } from '../../harness/database/sentinels';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

const QUEUE = 'bull:converge-aws';

// without redis-server, e-redis-failures says that they did not run
(hasRedis ? describe : describe.skip)('E. The master of Redis changes', () => {
  let redis: RedisWithSentinels;
  let drawbridge: Drawbridge;
  let org: Organization;
  let made = 0;

  beforeAll(async () => {
    redis = await RedisWithSentinels.start();
    drawbridge = await Drawbridge.start({ redisUrl: redis.url });
    org = await organization(drawbridge);
  });
  afterAll(async () => {
    await drawbridge.stop();
    redis.stop();
  });
  watchEachTest(() => drawbridge);

  const liveOnce = async (): Promise<void> => {
    made += 1;
    const { id } = await org.started({ ipv4Address: `203.0.113.${made}` });
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  };

  const readiness = async (): Promise<string> =>
    (await drawbridge.api.get<{ status: string }>('/health/ready')).body.status;

  const wakeUps = async (server: RedisServer): Promise<number> =>
    Number((await server.command('GET', `${QUEUE}:id`)) ?? 0);

  it('a master that no sentinel knows: refused at start', async () => {
    const REDIS_URL = redis.url.replace('/doors', '/windows');
    await expect(drawbridge.startWorker({ REDIS_URL })).rejects.toThrow(
      /ended \(78\)[^]*REDIS_URL must name a master and sentinels that know it/,
    );
  });

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'by a %s under load: sessions go on, DEGRADED until the new one is found, then wake-ups go on [E4, E6]',
    async (signal) => {
      await redis.untilWhole();
      const old = await redis.master();
      const over = new AbortController();
      const load = (async () => {
        while (!over.signal.aborted) await liveOnce();
      })();
      await (signal === 'SIGKILL' ? old.kill() : old.signal(signal));
      await until('readiness is DEGRADED', async () => (await readiness()) === 'DEGRADED');
      await until('there is another master', async () => (await redis.master()) !== old);
      await until('readiness is UP', async () => (await readiness()) === 'UP');
      over.abort();
      await load;
      const master = await redis.master();
      expect(master).not.toBe(old);
      const sent = await wakeUps(master);
      await liveOnce();
      await until('wake-ups are sent', async () => (await wakeUps(master)) > sent);
      await until('and taken', async () => (await master.command('ZCARD', `${QUEUE}:prioritized`)) === 0);
      await (signal === 'SIGKILL' ? old.startAgain() : old.signal('SIGCONT'));
    },
  );
});
