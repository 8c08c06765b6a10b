import { randomUUID } from 'node:crypto';
import { REGISTERED } from '../../builders/identity-providers';
import { organization, ownOrganization } from '../../builders/organization';
import { ApiClient, type Answer } from '../../harness/api-client';
import { documentedOperations, type DocumentedOperation } from '../../harness/documented-operations';
import { Drawbridge } from '../../harness/drawbridge';

type Body = Record<string, unknown>;

interface Documented {
  readonly paths: Record<
    string,
    {
      readonly get?: {
        readonly parameters?: readonly { readonly name: string }[];
        readonly responses: Record<
          string,
          { content?: Record<string, { schema?: { type?: string; $ref?: string } }> }
        >;
      };
    }
  >;
}

const BODY_BYTES = 102_400;

describe('8 Limits', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let operator: ApiClient;
  let lists: DocumentedOperation[];
  let callers = 0;

  beforeAll(async () => {
    const session = await org.started({ ipv4Address: '203.0.113.79' });
    await drawbridge.query(`UPDATE sessions SET status = 'CANCELLED' WHERE id = $1`, [session.id]);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    operator = org.admin;
    const webhook = await org.admin.created<{ id: string }>('/webhooks', { url: 'http://127.0.0.1:9/' });
    const provider = await org.admin.created<{ id: string }>('/identity-providers', REGISTERED);
    const operations = await documentedOperations(`http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`);
    const existing: Readonly<Record<string, string>> = {
      'GET /resources/{id}/events': `/resources/${org.resourceIds[0]}/events`,
      'GET /resources/{id}/rules': `/resources/${org.resourceIds[0]}/rules`,
      'GET /sessions/{id}/events': `/sessions/${session.id}/events`,
      'GET /identity-providers/{id}/identities': `/identity-providers/${provider.id}/identities`,
      'GET /webhooks/{id}/deliveries': `/webhooks/${webhook.id}/deliveries`,
    };
    lists = operations
      .filter(({ parameters }) => parameters.includes('page'))
      .map((operation) => ({ ...operation, path: existing[operation.name] ?? operation.path }));
  });

  describe('pages', () => {
    it.each([
      'page=-1',
      'page=one',
      'page=1.5',
      'page=1e300',
      'size=0',
      'size=101',
      'size=-1',
      'size=many',
      'size=2.5',
    ])('%s is refused with 400 by every list, naming the field', async (query) => {
      expect(lists.length).toBeGreaterThan(0);
      const [field] = query.split('=');
      for (const { name, path } of lists) {
        const { status, body } = await operator.get<Body>(`${path}?${query}`);
        expect([name, status]).toEqual([name, 400]);
        expect(body['message']).toMatch(new RegExp(`^${field} must be `));
      }
    });

    it('size=100 is the maximum, accepted by every list', async () => {
      for (const { name, path } of lists) {
        const { status } = await operator.get(`${path}?page=0&size=100`);
        expect([name, status]).toEqual([name, 200]);
      }
    });

    it('a page beyond the last is empty, not an error, and has the total', async () => {
      for (const { name, path } of lists) {
        const { status, body, headers } = await operator.get<Body | unknown[]>(`${path}?page=9999`);
        const items = Array.isArray(body) ? body : body['content'];
        const total = Array.isArray(body) ? headers.get('X-Total-Count') : body['totalElements'];
        expect([name, status, items]).toEqual([name, 200, []]);
        expect(String(total)).toMatch(/^\d+$/);
      }
    });

    it('a list has its total and links to the adjacent pages', async () => {
      for (let count = 0; count < 5; count += 1) {
        await drawbridge.query(
          `INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, expires_at)
           VALUES ($1, $2, $3, '203.0.113.80', now() + interval '1 hour')`,
          [org.organizationId, org.adminId, randomUUID()],
        );
      }
      const page = (number: number): Promise<Answer<unknown[]>> =>
        operator.get(`/sessions?size=2&page=${number}&active=true`);
      const [first, middle, last] = [await page(0), await page(1), await page(2)];
      expect([first, middle, last].map(({ body }) => body.length)).toEqual([2, 2, 1]);
      for (const { headers } of [first, middle, last]) expect(headers.get('X-Total-Count')).toBe('5');
      const link = (number: number, rel: string): string =>
        `</api/v1/sessions?size=2&page=${number}&active=true>; rel="${rel}"`;
      expect(first.headers.get('Link')).toBe(link(1, 'next'));
      expect(middle.headers.get('Link')).toBe(`${link(0, 'prev')}, ${link(2, 'next')}`);
      expect(last.headers.get('Link')).toBe(link(1, 'prev'));
    });
  });

  describe('lists', () => {
    it('every answer that is a list, or a Page, can be asked for in pages', async () => {
      const { paths } = await operator.expect(200, operator.get<Documented>('/openapi.json'));
      const unpaged = Object.entries(paths).flatMap(([path, { get }]) => {
        const schema = get?.responses['200']?.content?.['application/json']?.schema;
        const isList = schema?.type === 'array' || /Page/.test(schema?.$ref ?? '');
        const named = (get?.parameters ?? []).map(({ name }) => name);
        return isList && !(named.includes('page') && named.includes('size')) ? [path] : [];
      });
      // a report has a limit of its own; types and presets are as many as there are providers and CI systems, downloads as the
      // build makes: they grow with a release only
      expect(unpaged).toEqual([
        '/api/v1/oidc-trusts/presets',
        '/api/v1/reports/access',
        '/api/v1/resources/types',
        '/downloads',
      ]);
      expect(lists.length).toBeGreaterThan(10);
    });

    it('every plain list has its total, and a link to the next page only when there is one', async () => {
      for (const { name, path } of lists) {
        const { body, headers } = await operator.get<unknown[]>(`${path}?size=100`);
        if (!Array.isArray(body)) continue;
        expect([name, headers.get('X-Total-Count')]).toEqual([name, String(body.length)]);
        expect([name, headers.get('Link')]).toEqual([name, null]);
      }
    });

    it('a plain list has 100 items per page by default; GET /resources has all', async () => {
      const own = await organization(drawbridge);
      await drawbridge.query(
        `INSERT INTO roles (organization_id, name) SELECT $1, 'role ' || n FROM generate_series(1, 100) n`,
        [own.organizationId],
      );
      await drawbridge.query(
        `INSERT INTO resources SELECT (jsonb_populate_record(known, jsonb_build_object('id', gen_random_uuid()))).*
         FROM resources known, generate_series(1, 100) WHERE organization_id = $1`,
        [own.organizationId],
      );
      const roles = await own.admin.get<unknown[]>('/roles');
      expect(roles.body).toHaveLength(100);
      expect(roles.headers.get('X-Total-Count')).toBe('101');
      expect(roles.headers.get('Link')).toMatch(/page=1&size=100>; rel="next"$/);
      const resources = await own.admin.get<unknown[]>('/resources');
      expect([resources.body.length, resources.headers.get('Link')]).toEqual([101, null]);
      expect((await own.admin.get<unknown[]>('/resources?page=0')).body).toHaveLength(100);
    });
  });

  describe('bodies', () => {
    /** A login of exactly this many bytes. */
    const login = (bytes: number): string => {
      const frame = { email: 'ada@example.com', password: 'x', padding: '' };
      const padding = 'x'.repeat(bytes - JSON.stringify(frame).length);
      return JSON.stringify({ ...frame, padding });
    };

    it('a body of 100 kB is read', async () => {
      const { status } = await drawbridge.api.post('/auth/login', login(BODY_BYTES));
      expect(status).toBe(401);
    });

    it('one byte more is 413', async () => {
      const { status, body } = await drawbridge.api.post<Body>('/auth/login', login(BODY_BYTES + 1));
      expect(status).toBe(413);
      expect(body['message']).toBe('The body is larger than 100 kB');
    });
  });

  describe('requests', () => {
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

    it('from one IPv6 network (/64) are counted together', async () => {
      const from = (address: string): Promise<Answer> => detect(narrow, { 'X-Forwarded-For': address });
      await from('2001:db8:1:2::1');
      expect(rates(await from('2001:db8:1:2:ffff::9'))[1]).toBe('3');
      expect(rates(await from('2001:db8:1:3::1'))[1]).toBe('4');
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
});
