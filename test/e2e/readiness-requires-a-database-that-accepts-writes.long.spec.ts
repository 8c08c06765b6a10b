import { Drawbridge } from '../harness/product/drawbridge';
import { endConnections, setReadOnly } from '../harness/database/read-only';
import { hasRedis, RedisServer } from '../harness/database/redis';
import { SeverableConnection } from '../harness/database/severable-connection';
import { until } from '../harness/until';

const onRedis = hasRedis ? describe : describe.skip;

onRedis('Readiness requires a database that accepts writes', () => {
  let drawbridge: Drawbridge;
  let redis: RedisServer;
  let toRedis: SeverableConnection;

  beforeAll(async () => {
    redis = await RedisServer.start();
    toRedis = await SeverableConnection.to(redis.url);
    drawbridge = await Drawbridge.start({ worker: false, redisUrl: toRedis.url });
    await drawbridge.startWorker({ METRICS_PORT: '0' });
  });
  afterAll(async () => {
    await drawbridge.stop();
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
    await setReadOnly(drawbridge, true);
    await endConnections(drawbridge);
    await bothAnswer(503);
    expect(await (await fetch(ofApi())).json()).toMatchObject({ status: 'DOWN', database: 'DOWN' });
    expect(await (await fetch(ofWorker())).text()).toContain('accepts no writes');
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
    String(await redis.command('CLIENT', 'LIST')).match(/^id=\d+(?=.* cmd=bzpopmin )/gm) ?? [];

  it('half-open connections to the queue are reported as DEGRADED, and all of them replaced', async () => {
    await bothSay('UP', 'UP');
    await until('a worker waits for jobs', async () => (await waiting()).length > 0);
    const before = new Set(await waiting());
    toRedis.forget();
    await bothSay('DEGRADED', 'DOWN');
    await bothSay('UP', 'UP');
    const areReplaced = async (): Promise<boolean> =>
      (await waiting()).filter((id) => !before.has(id)).length >= before.size;
    expect(await until('as many wait anew', areReplaced)).toBe(true);
  });
});
