import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { group, organization, type Organization } from '../../builders/organization';
import type { Session } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';
import { hasRedis, RedisServer } from '../../harness/redis';
import { until } from '../../harness/until';
import { judged } from './judged';
import { outage, OUTAGE_MS } from './outage';

const onRedis = hasRedis ? describe : describe.skip;
if (!hasRedis)
  process.stderr.write('\n*** redis-server is not on the PATH: the Redis tests DID NOT RUN ***\n\n');

const QUEUE = 'bull:converge-aws';

onRedis('E. Redis may be lost', () => {
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
  judged(() => drawbridge);

  const start = (): Promise<Session> => {
    made += 1;
    return org.started({ ipv4Address: `203.0.113.${made}` });
  };

  /** Starts, and ends by its time and by a stop. */
  const wholeLives = async (): Promise<void> => {
    const [stopped, expired] = [await start(), await start()];
    for (const { id } of [stopped, expired]) await org.reaches(id, 'ACTIVE', 10_000);
    await org.admin.expect(200, org.admin.post(`/sessions/${stopped.id}/stop`));
    await org.expire(expired.id);
    await org.reaches(stopped.id, 'CANCELLED', 10_000);
    await org.reaches(expired.id, 'EXPIRED', 10_000);
    expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
  };

  const readiness = async (): Promise<string> =>
    (await drawbridge.api.get<{ status: string }>('/health/ready')).body.status;

  /** Wake-ups are sent and taken again, by the same processes. */
  const recovered = async (): Promise<void> => {
    await until('readiness is UP', async () => (await readiness()) === 'UP', 10_000);
    const sent = Number((await redis.command('GET', `${QUEUE}:id`)) ?? 0);
    await wholeLives();
    await until('wake-ups were sent', async () => Number(await redis.command('GET', `${QUEUE}:id`)) > sent);
    await until('all were taken', async () => {
      const waiting = [
        await redis.command('ZCARD', `${QUEUE}:prioritized`),
        await redis.command('LLEN', `${QUEUE}:active`),
      ];
      return waiting.every((count) => count === 0);
    });
  };

  it('a session starts and ends on it', async () => {
    await recovered();
  });

  it('emptied again and again while sessions start and end: none is lost [E3]', async () => {
    const lives = Promise.all(
      Array.from({ length: 12 }, async () => {
        const { id } = await start();
        await org.reaches(id, 'ACTIVE', 15_000);
        await org.expire(id);
        await org.reaches(id, 'EXPIRED', 15_000);
      }),
    );
    const over = new AbortController();
    const flushing = (async () => {
      while (!over.signal.aborted) await redis.command('FLUSHALL');
    })();
    await lives.finally(() => over.abort());
    await flushing;
    expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
    await recovered();
  });

  it(
    'down, and back with nothing in it: nothing is refused, nothing is lost, nobody restarts anything [E4]',
    async () => {
      await redis.kill();
      await wholeLives();
      const late = await start();
      expect(await readiness()).toBe('DEGRADED');
      await outage();
      await redis.startAgain();
      await org.reaches(late.id, 'ACTIVE', 10_000);
      await org.expire(late.id);
      await org.reaches(late.id, 'EXPIRED', 10_000);
      await recovered();
    },
    90_000 + OUTAGE_MS,
  );

  it('back without what was written last: nothing is lost [E5]', async () => {
    await redis.command('SAVE');
    const [kept, ended] = [await start(), await start()];
    await org.reaches(ended.id, 'ACTIVE');
    await org.admin.expect(200, org.admin.post(`/sessions/${ended.id}/stop`));
    await redis.kill();
    await redis.startAgain();
    await org.reaches(kept.id, 'ACTIVE', 10_000);
    await org.reaches(ended.id, 'CANCELLED', 10_000);
    await org.expire(kept.id);
    await org.reaches(kept.id, 'EXPIRED', 10_000);
    redis.forgetSaved();
    await recovered();
  });

  it('stuck with its connections open: requests are answered, the sweep does the work [E6]', async () => {
    redis.signal('SIGSTOP');
    await wholeLives();
    expect(await readiness()).toBe('DEGRADED');
    redis.signal('SIGCONT');
    await recovered();
  });

  it('full: as if it were away, and readiness says so [E7]', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await wholeLives();
    await until('readiness is DEGRADED', async () => (await readiness()) === 'DEGRADED');
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await recovered();
  });
});
