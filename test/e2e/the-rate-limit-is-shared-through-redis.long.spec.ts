import { ApiClient, type Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import type { AppProcess } from '../harness/product/processes';
import { hasRedis, RedisServer } from '../harness/database/redis';
import { until } from '../harness/until';

const onRedis = hasRedis ? describe : describe.skip;
if (!hasRedis)
  process.stderr.write('\n*** redis-server is not on the PATH: the shared rate limit WAS NOT TESTED ***\n\n');

const LIMITS = {
  RATE_LIMIT_PER_MINUTE: '6',
  EMBEDDED: 'false',
  PAYMENT: 'sandbox',
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'door@example.com',
};

onRedis('The rate limit is shared through Redis', () => {
  let redis: RedisServer;
  let drawbridge: Drawbridge;
  let second: AppProcess;
  let apis: readonly [ApiClient, ApiClient];
  let callers = 0;

  beforeAll(async () => {
    redis = await RedisServer.start();
    drawbridge = await Drawbridge.start({ redisUrl: redis.url, worker: false, api: LIMITS });
    second = await drawbridge.startApi(LIMITS);
    apis = [drawbridge.api, new ApiClient(`http://127.0.0.1:${second.port}/api/v1`)];
  });
  afterAll(async () => {
    await drawbridge.stop();
    await redis.kill();
  });

  /** Somebody who was never counted: each test has an address of its own. */
  const stranger = (): string => `198.51.100.${(callers += 1)}`;

  const ask = (api: ApiClient, address: string): Promise<Answer> =>
    api.send('GET', '/detect-ip', undefined, { 'X-Forwarded-For': address });

  const remaining = ({ headers }: Answer): number => Number(headers.get('X-RateLimit-Remaining'));

  const outages = (): string => {
    const logs = [drawbridge.apiServer, second].map(({ output }) => output);
    const isOut = logs.some((log) => log.lastIndexOf('out of reach') > log.lastIndexOf('Redis is back'));
    return isOut ? 'now' : logs.map((log) => log.split('out of reach').length).join(' ');
  };

  /** Plays a round until Redis has answered all of it in time: on a busy machine a process may count for itself. */
  const inTime = <T>(round: (address: string) => Promise<T>): Promise<T> =>
    until('Redis answers in time', async () => {
      const before = outages();
      const result = await round(stranger());
      return before !== 'now' && outages() === before ? { result } : false;
    }).then(({ result }) => result);

  it('two processes count together, and refuse together', async () => {
    const address = stranger();
    const left: number[] = [];
    for (let count = 0; count < 6; count += 1) left.push(remaining(await ask(apis[count % 2]!, address)));
    expect(left).toEqual([5, 4, 3, 2, 1, 0]);
    for (const api of apis) expect((await ask(api, address)).status).toBe(429);
    expect((await ask(apis[0], stranger())).status).toBe(200);
  });

  it('no count is lost between them, however many come at once', async () => {
    const answers = await inTime((address) =>
      Promise.all(Array.from({ length: 20 }, (_, index) => ask(apis[index % 2]!, address))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(14);
  });

  it('a registration that failed is given back to both', async () => {
    const register = (api: ApiClient, address: string, email: string): Promise<Answer> =>
      api.post(
        '/auth/register',
        { organizationName: 'Example', email, password: 'a password of 27 letters' },
        { 'X-Forwarded-For': address },
      );
    const counted = await inTime(async (address) => {
      expect((await register(apis[0], address, 'no address')).status).toBe(400);
      expect((await register(apis[1], address, `${address}@example.com`)).status).toBe(201);
      return redis.command('GET', `drawbridge:test:rate:registration ${address}`);
    });
    expect(counted).toBe('1');
  });

  it('a window ends in Redis for both', async () => {
    const address = stranger();
    for (let count = 0; count < 7; count += 1) await ask(apis[count % 2]!, address);
    await redis.command('PEXPIRE', `drawbridge:test:rate:detection ${address}`, '1');
    await until('the window is over', async () => (await ask(apis[1], address)).status === 200);
    expect(remaining(await ask(apis[0], address))).toBeLessThan(5);
  });
});
