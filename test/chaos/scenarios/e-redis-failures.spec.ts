import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { group, organization, type Organization } from '../../builders/accounts/organization';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { hasRedis, RedisServer } from '../../harness/database/redis';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';
import { outage, OUTAGE_MS } from './outage';

const onRedis = hasRedis ? describe : describe.skip;
if (!hasRedis)
  process.stderr.write('\n*** redis-server is not on the PATH: the Redis tests DID NOT RUN ***\n\n');

const QUEUE = 'bull:converge-aws';

onRedis('E. Redis fails', () => {
  let folder: string;
  let redis: RedisServer;
  let drawbridge: Drawbridge;
  let org: Organization;
  let made = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-redis-'));
    redis = await RedisServer.start(folder);
    drawbridge = await Drawbridge.start({ redisUrl: redis.url });
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });
  afterAll(async () => {
    await drawbridge.stop();
    await redis.kill();
    rmSync(folder, { recursive: true });
  });
  watchEachTest(() => drawbridge);

  const start = (): Promise<Session> => {
    made += 1;
    return org.started({ ipv4Address: `203.0.113.${made}` });
  };

  /** Runs two complete sessions: one expires, one is stopped. */
  const runSessions = async (): Promise<void> => {
    const [stopped, expired] = [await start(), await start()];
    for (const { id } of [stopped, expired]) await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${stopped.id}/stop`);
    await org.expire(expired.id);
    await org.reaches(stopped.id, 'CANCELLED');
    await org.reaches(expired.id, 'EXPIRED');
    expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
  };

  const readiness = async (): Promise<string> =>
    (await drawbridge.api.get<{ status: string }>('/health/ready')).body.status;

  /** Checks that the same processes send and receive wake-ups again. */
  const checkRecovery = async (): Promise<void> => {
    await until('readiness is UP', async () => (await readiness()) === 'UP');
    const sent = Number((await redis.command('GET', `${QUEUE}:id`)) ?? 0);
    await runSessions();
    await until('wake-ups were sent', async () => Number(await redis.command('GET', `${QUEUE}:id`)) > sent);
    await until('all were processed', async () => {
      const waiting = [
        await redis.command('ZCARD', `${QUEUE}:prioritized`),
        await redis.command('LLEN', `${QUEUE}:active`),
      ];
      return waiting.every((count) => count === 0);
    });
  };

  it('works with Redis', async () => {
    await checkRecovery();
  });

  it('flushed repeatedly while sessions start and end: none is lost [E3]', async () => {
    const sessions = Promise.all(
      Array.from({ length: 12 }, async () => {
        const { id } = await start();
        await org.reaches(id, 'ACTIVE');
        await org.expire(id);
        await org.reaches(id, 'EXPIRED');
      }),
    );
    const over = new AbortController();
    const flushing = (async () => {
      while (!over.signal.aborted) await redis.command('FLUSHALL');
    })();
    await sessions.finally(() => over.abort());
    await flushing;
    expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
    await checkRecovery();
  });

  it(
    'down, and restarted empty: no request fails, no session is lost, no process is restarted [E4]',
    async () => {
      await redis.kill();
      await runSessions();
      const late = await start();
      expect(await readiness()).toBe('DEGRADED');
      await outage();
      await redis.startAgain();
      await org.reaches(late.id, 'ACTIVE');
      await org.expire(late.id);
      await org.reaches(late.id, 'EXPIRED');
      await checkRecovery();
    },
    1_800_000 + OUTAGE_MS,
  );

  it('restarted without its last writes: no session is lost [E5]', async () => {
    await redis.command('SAVE');
    const [kept, ended] = [await start(), await start()];
    await org.reaches(ended.id, 'ACTIVE');
    await org.admin.posted(`/sessions/${ended.id}/stop`);
    await redis.kill();
    await redis.startAgain();
    await org.reaches(kept.id, 'ACTIVE');
    await org.reaches(ended.id, 'CANCELLED');
    await org.expire(kept.id);
    await org.reaches(kept.id, 'EXPIRED');
    redis.forgetSaved();
    await checkRecovery();
  });

  it('hanging with open connections: requests are answered, and the sweep replaces wake-ups [E6]', async () => {
    redis.signal('SIGSTOP');
    await runSessions();
    expect(await readiness()).toBe('DEGRADED');
    redis.signal('SIGCONT');
    await checkRecovery();
  });

  it('out of memory: treated as down, and readiness is DEGRADED [E7]', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await runSessions();
    await until('readiness is DEGRADED', async () => (await readiness()) === 'DEGRADED');
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await checkRecovery();
  });
});
