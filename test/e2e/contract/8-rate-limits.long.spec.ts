import { randomUUID } from 'node:crypto';
import { ownOrganization } from '../../builders/accounts/organization';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('8 Limits of requests', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let callers = 0;
  let usual: ApiClient;
  let narrow: ApiClient;
  let wide: ApiClient;

  beforeAll(async () => {
    const apiWith = async (env: Record<string, string>): Promise<ApiClient> => {
      const { port } = await drawbridge.startApi(env);
      return new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    };
    const server = {
      EMBEDDED: 'false',
      PAYMENT: 'sandbox',
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'door@example.com',
    };
    [usual, narrow, wide] = await Promise.all([
      apiWith({}),
      apiWith({ RATE_LIMIT_PER_MINUTE: '5' }),
      apiWith({ RATE_LIMIT_PER_MINUTE: '1000', ...server }),
    ]);
  });

  /** Somebody who was never counted. */
  const stranger = (): Record<string, string> => ({ 'X-Forwarded-For': `198.51.100.${(callers += 1)}` });
  const rates = ({ headers }: { headers: Headers }): (string | null)[] =>
    ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => headers.get(name));

  const detect = (api: ApiClient, from: Record<string, string>): Promise<Answer> =>
    api.send('GET', '/detect-ip', undefined, from);

  it('are 60 a minute for an address when nothing else is configured', async () => {
    const from = stranger();
    expect(rates(await detect(usual, from))).toEqual(['60', '59', '60']);
    for (let count = 0; count < 59; count += 1) expect((await detect(usual, from)).status).toBe(200);
    expect((await detect(usual, from)).status).toBe(429);
    expect((await detect(usual, stranger())).status).toBe(200);
  });

  it('are configurable; every counted response has the rate limit headers, refused ones too', async () => {
    const from = stranger();
    const answers: Answer[] = [
      await narrow.send('GET', '/resources', undefined, from),
      await narrow.send('GET', '/sessions', undefined, from),
      await narrow.send('GET', '/nothing', undefined, from),
      await narrow.send('PUT', '/sessions', undefined, from),
      await narrow.send('POST', '/auth/refresh', '{', from),
      await narrow.send('GET', '/sessions', undefined, from),
      await detect(narrow, from),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 404, 405, 400, 429, 200]);
    expect(answers.map((answer) => rates(answer).slice(0, 2))).toEqual([
      ['5', '4'],
      ['5', '3'],
      ['5', '2'],
      ['5', '1'],
      ['5', '0'],
      ['5', '0'],
      ['5', '4'],
    ]);
  });

  it('over the limit get the time to retry in header and message', async () => {
    const from = stranger();
    for (let count = 0; count < 5; count += 1) await detect(narrow, from);
    const { status, body, headers } = await detect(narrow, from);
    const seconds = Number(headers.get('Retry-After'));
    expect(status).toBe(429);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(headers.get('X-RateLimit-Reset')).toBe(String(seconds));
    expect(body['message']).toBe(`Too many requests from this address: try again in ${seconds} seconds`);
  });

  it('from one IPv6 site (/48) are counted together, with ten times the limit', async () => {
    const from = (subnet: number): Promise<Answer> =>
      detect(narrow, { 'X-Forwarded-For': `2001:db8:2:${subnet.toString(16)}::1` });
    for (let subnet = 0; subnet < 50; subnet += 1) expect((await from(subnet)).status).toBe(200);
    expect((await from(50)).status).toBe(429);
  });

  it('to the agent channel are limited by key, and wrong keys by address', async () => {
    const agents = narrow.as({ apiKey: `sk_${'0'.repeat(43)}` });
    const ask = (client: ApiClient, from: Record<string, string>): Promise<Answer> =>
      client.send('GET', '/agents/state?agent=gateway', undefined, from);
    const from = stranger();
    for (let count = 0; count < 5; count += 1) expect((await ask(agents, from)).status).toBe(401);
    const refused = await ask(agents, from);
    expect([refused.status, Number(refused.headers.get('Retry-After')) > 0]).toEqual([429, true]);
    const key = (await org.apiKey(['agent:connect'])).identity;
    expect((await ask(narrow.as(key), from)).status).toBe(429);
    const answers = await Promise.all(Array.from({ length: 101 }, () => ask(narrow.as(key), stranger())));
    // no resource has the name
    expect(answers.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(100);
    expect((await ask(narrow.as(key), stranger())).status).toBe(429);
  });

  it('that wait for a session are limited to 100 at once for a key, and one more is answered with 429', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.81' });
    const key = await org.apiKey(['sessions:read']);
    const waiting = new AbortController();
    const wait = (): Promise<Answer> => key.get(`/sessions/${id}?waitSeconds=30`, waiting.signal);
    const waits = Array.from({ length: 101 }, wait);
    for (const one of waits) one.catch(() => undefined);
    const { status, headers } = await Promise.race(waits);
    expect([status, Number(headers.get('Retry-After')) > 0]).toEqual([429, true]);
    waiting.abort();
    await Promise.allSettled(waits);
    const after = await key.get<{ status: string }>(`/sessions/${id}?waitSeconds=1`);
    expect([after.status, after.body.status]).toEqual([200, 'PENDING']);
  });

  it('for health, and for the OpenAPI document, are not counted', async () => {
    for (const path of ['/health', '/health/ready', '/openapi.json']) {
      const answer = await narrow.get(path);
      expect([path, answer.status, ...rates(answer)]).toEqual([path, 200, null, null, null]);
    }
  });

  it('that try passwords have a third of the limit', async () => {
    const from = stranger();
    const login = (): Promise<Answer> =>
      narrow.post('/auth/login', { email: `${randomUUID()}@example.com`, password: 'x' }, from);
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await login()).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await detect(narrow, from)).status).toBe(200);
  });

  it('that register are five an hour outside of the embedded mode, failed ones not counted', async () => {
    const from = stranger();
    const register = (password: string): Promise<Answer> =>
      wide.post(
        '/auth/register',
        { organizationName: 'Example', email: `${randomUUID()}@example.com`, password },
        from,
      );
    expect((await register('short')).status).toBe(400);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await register('long enough 1A')).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
  });
});
