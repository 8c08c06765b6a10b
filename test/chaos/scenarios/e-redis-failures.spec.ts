import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { group, organization, type Organization } from '../../builders/accounts/organization';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { hasRedis, RedisServer } from '../../harness/database/redis';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';
import { outage } from './outage';

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
    const open = (await drawbridge.cloud.rules(group(0))).map(({ address }) => address);
    expect([stopped, expired].filter(({ ipv4Address }) => open.includes(ipv4Address!))).toEqual([]);
  };

  const readiness = async (): Promise<string> =>
    (await drawbridge.api.get<{ status: string }>('/health/ready')).body.status;

  const maxMemory = (bytes: string): Promise<unknown> => redis.command('CONFIG', 'SET', 'maxmemory', bytes);

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

  it.each<[string, () => unknown, () => unknown]>([
    ['killed, and restarted empty [E4]', () => redis.kill(), () => redis.startAgain()],
    [
      'restarted without its last writes [E5]',
      async () => {
        await redis.command('SAVE');
        await runSessions();
        await redis.kill();
      },
      async () => {
        await redis.startAgain();
        redis.forgetSaved();
      },
    ],
    ['hanging with open connections [E6]', () => redis.signal('SIGSTOP'), () => redis.signal('SIGCONT')],
    ['out of memory [E7]', () => maxMemory('1'), () => maxMemory('0')],
  ])(
    '%s: no request fails, sessions go on by the sweep, DEGRADED; then the same processes send and take wake-ups again',
    async (_, fail, recover) => {
      await fail();
      await runSessions();
      const late = await start();
      await until('readiness is DEGRADED', async () => (await readiness()) === 'DEGRADED');
      await outage();
      await recover();
      await org.reaches(late.id, 'ACTIVE');
      await org.expire(late.id);
      await org.reaches(late.id, 'EXPIRED');
      await checkRecovery();
    },
  );
});
