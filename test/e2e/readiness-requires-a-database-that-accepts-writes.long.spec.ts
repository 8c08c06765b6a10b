import { Drawbridge } from '../harness/product/drawbridge';
import { endConnections, setReadOnly } from '../harness/database/read-only';
import { hasRedis, RedisServer } from '../harness/database/redis';
import { SeverableConnection } from '../harness/database/severable-connection';
import { until } from '../harness/until';

const onRedis = hasRedis ? it : it.skip;

describe('Readiness requires a database that accepts writes', () => {
  let drawbridge: Drawbridge;
  let redis: RedisServer | null = null;
  let toRedis: SeverableConnection;

  beforeAll(async () => {
    if (hasRedis) {
      redis = await RedisServer.start();
      toRedis = await SeverableConnection.to(redis.url);
    }
    drawbridge = await Drawbridge.start({ worker: false, ...(redis && { redisUrl: toRedis.url }) });
    await drawbridge.startWorker({ METRICS_PORT: '0' });
  });
  afterAll(async () => {
    await drawbridge.stop();
    if (!redis) return;
    await toRedis.cut();
    await redis.kill();
  });

  const ofApi = (): string => `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1/health/ready`;
  const ofWorker = (): string => `http://127.0.0.1:${drawbridge.worker.port}/health/ready`;

  const bothAnswer = (status: number): Promise<unknown> =>
    until(`API and worker answer ${status}`, async () => {
      const answers = await Promise.all([fetch(ofApi()), fetch(ofWorker())]);
      return answers.every((answer) => answer.status === status);
    });

  it('in the API and in the worker, and ready again as soon as it accepts them', async () => {
    await bothAnswer(200);
    await setReadOnly(drawbridge, true);
    await endConnections(drawbridge);
    await bothAnswer(503);
    expect(await (await fetch(ofApi())).json()).toMatchObject({ status: 'DOWN', database: 'DOWN' });
    expect(await (await fetch(ofWorker())).text()).toContain('accepts no writes');
    // and stays so: no connection is left that may write
    await bothAnswer(503);
    await setReadOnly(drawbridge, false);
    await bothAnswer(200);
  });

  /** What both say, in the words of the API. */
  const bothSay = (status: string, queue: string): Promise<unknown> =>
    until(`API and worker are ${status}, the queue ${queue}`, async () => {
      const ofTheApi = (await (await fetch(ofApi())).json()) as { status: string; queue: string };
      const ofTheWorker = await (await fetch(ofWorker())).text();
      const isTold = ofTheWorker.startsWith(status) && ofTheWorker.includes('queue') === (queue === 'DOWN');
      return ofTheApi.status === status && ofTheApi.queue === queue && isTold;
    });

  /** Clients that wait for a job. */
  const waiting = async (): Promise<string[]> =>
    String(await redis!.command('CLIENT', 'LIST')).match(/^id=\d+(?=.* cmd=bzpopmin )/gm) ?? [];

  onRedis('reports a queue that refuses writes as DEGRADED', async () => {
    await bothSay('UP', 'UP');
    await redis!.command('CONFIG', 'SET', 'maxmemory', '1');
    await bothSay('DEGRADED', 'DOWN');
    await redis!.command('CONFIG', 'SET', 'maxmemory', '0');
    await bothSay('UP', 'UP');
  });

  onRedis('reports half-open connections to the queue as DEGRADED, and replaces all of them', async () => {
    await until('a worker waits for jobs', async () => (await waiting()).length > 0);
    const before = new Set(await waiting());
    toRedis.forget();
    await bothSay('DEGRADED', 'DOWN');
    await bothSay('UP', 'UP');
    await until('as many wait anew', async () => {
      const anew = (await waiting()).filter((id) => !before.has(id));
      return anew.length >= before.size;
    });
  });
});
