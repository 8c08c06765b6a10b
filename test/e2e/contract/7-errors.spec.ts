import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { organization, ownOrganization } from '../../builders/accounts/organization';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import { documentedOperations, type DocumentedOperation } from '../../harness/contract/documented-operations';
import { Drawbridge, TESTERS_LIMIT } from '../../harness/product/drawbridge';
import { SeverableConnection } from '../../harness/database/severable-connection';
import { until } from '../../harness/until';

/** What an agent asks with its key; the rest under /agents is for administrators. */
const AGENT_CHANNEL = /^\/agents\/(state|report)/;

type Body = Record<string, unknown>;

/** The two families of paths whose errors have codes, and their codes for 400. */
const CODED: readonly (readonly [prefix: string, badRequest: string])[] = [
  ['/resources', 'VALIDATION_ERROR'],
  ['/credentials', 'VALIDATION_ERROR'],
  ['/static-ip-rules', 'BAD_REQUEST'],
  ['/organization/settings', 'BAD_REQUEST'],
  ['/billing', 'BAD_REQUEST'],
];
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const INSIDES = /\bSELECT\b|\bFROM\b|\brelation\b|node_modules|\.[jt]s:\d|ECONN|statusCode|Exception/;
/** A path of each family, with an unknown sub-path. */
const FAMILIES = [
  ...CODED.map(([prefix]) => prefix),
  '/sessions',
  '/organization',
  '/organization/billing',
  '/roles',
];

const codedBy = (path: string): string | undefined =>
  CODED.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1];

/** Why an answer is not exactly the error its path must have. Empty when it is. */
function faults(path: string, { status, body }: Answer<Body>, fields = false): string[] {
  const { message, timestamp, ...rest } = body;
  const code = codedBy(path);
  const error = code === undefined ? STATUS_CODES[status] : status === 400 ? code : CODES[status];
  const named = code === undefined ? { status, error, path: `/api/v1${path}` } : { error };
  const { validationErrors, ...plain } = rest;
  const faulty = (what: string, ok: boolean): string[] => (ok ? [] : [what]);
  return [
    ...faulty('the fields are not those of its shape', isDeepStrictEqual(plain, named)),
    ...faulty('validationErrors', (validationErrors !== undefined) === (fields && code === undefined)),
    ...faulty('the timestamp is not in UTC', typeof timestamp === 'string' && UTC.test(timestamp)),
    ...faulty('there is no message', typeof message === 'string' && message.length > 5),
    ...faulty('it shows what is inside', !INSIDES.test(JSON.stringify(body))),
  ];
}

describe('7 Errors', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, []);
  let operator: ApiClient;
  let user: ApiClient;
  let agent: ApiClient;
  let operations: DocumentedOperation[];

  beforeAll(async () => {
    const colleague = await organization(drawbridge, []);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [colleague.adminId]);
    operator = org.admin;
    agent = await org.apiKey(['agent:connect']);
    user = colleague.admin;
    operations = await documentedOperations(`http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`);
  });

  type Ask = (operation: DocumentedOperation, client: ApiClient) => Promise<Answer<Body>>;
  const plainly: Ask = ({ method, path }, client) => client.send(method, path);

  /** Calls operations. @returns those that did not answer with this status in the exact error shape of their path */
  async function wrong(
    asked: readonly DocumentedOperation[],
    status: number,
    ask: (operation: DocumentedOperation) => Promise<Answer<Body>>,
    fields = false,
  ): Promise<string[]> {
    expect(asked.length).toBeGreaterThan(0);
    const found: string[] = [];
    for (const operation of asked) {
      const answer = await ask(operation);
      const told =
        answer.status === status ? faults(operation.path, answer, fields) : [`it is ${answer.status}`];
      if (told.length > 0)
        found.push(`${operation.name}: ${told.join(', ')}: ${JSON.stringify(answer.body)}`);
    }
    return found;
  }

  /** A webhook's body is read by the payment adapter that signed it. */
  const withBody = (): DocumentedOperation[] =>
    operations.filter(({ takesBody, path }) => takesBody && !path.startsWith('/billing/webhooks/'));
  const guarded = (): DocumentedOperation[] => operations.filter((one) => one.guarded);

  /** Only agent keys are allowed on these operations. */
  const sending =
    (body: string, headers: Record<string, string> = {}) =>
    ({ method, path }: DocumentedOperation): Promise<Answer<Body>> =>
      (AGENT_CHANNEL.test(path) ? agent : operator).send(method, path, body, headers);

  it('400, malformed JSON: the shape of the path, on every operation that takes a body', async () => {
    expect(await wrong(withBody(), 400, sending('{"name":'))).toEqual([]);
  });

  it('400, an id in the path that is no UUID: named, on every operation that has one', async () => {
    const withIds = operations.filter(({ pathIds }) => pathIds.length > 0);
    const ask = async (operation: DocumentedOperation): Promise<Answer<Body>> => {
      const path = operation.template.replaceAll(/\{\w+\}/g, '17');
      const answer = await operator.send<Body>(operation.method, path);
      return {
        ...answer,
        body: { ...answer.body, ...('path' in answer.body ? { path: `/api/v1${operation.path}` } : {}) },
      };
    };
    expect(await wrong(withIds, 400, ask, true)).toEqual([]);
    const one = await operator.get<Body>('/sessions/17');
    expect(one.body).toMatchObject({
      message: 'id must be a UUID',
      validationErrors: { id: 'must be a UUID' },
    });
  });

  it('401, no token or a wrong one: the shape of the path, on every operation that is not open', async () => {
    const stranger = drawbridge.api;
    expect(await wrong(guarded(), 401, (one) => plainly(one, stranger))).toEqual([]);
    const forger = stranger.as({ token: 'not.a.token' });
    expect(await wrong(guarded(), 401, (one) => plainly(one, forger))).toEqual([]);
    const answer = await stranger.get('/sessions');
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
  });

  it('403, a role that is too low: the shape of the path', async () => {
    const closed = [];
    for (const one of guarded()) if ((await plainly(one, user)).status === 403) closed.push(one);
    expect(closed.map(({ name }) => name)).toEqual(expect.arrayContaining(['GET /roles', 'POST /resources']));
    expect(await wrong(closed, 403, (one) => plainly(one, user))).toEqual([]);
  });

  it('403, a key without the scope: two fields naming it, on every operation that takes keys', async () => {
    const key = await org.apiKey(['sessions:read']);
    await drawbridge.query("UPDATE api_keys SET scopes = '{}' WHERE 'sessions:read' = ANY (scopes)");
    const taking = operations.filter(({ takesKeys }) => takesKeys);
    expect(taking.length).toBeGreaterThan(0);
    for (const one of taking) {
      const { status, body } = await plainly(one, key);
      expect([one.name, status, Object.keys(body).sort(), body['error']]).toEqual([
        one.name,
        403,
        ['error', 'message'],
        'Insufficient permissions',
      ]);
      expect(body['message']).toMatch(/^API key does not have required scope: [a-z]+:[a-z]+$/);
    }
    expect((await key.post<Body>('/sessions')).body['message']).toBe(
      'API key does not have required scope: sessions:write',
    );
  });

  it.each(FAMILIES)(
    '404, an unknown path under %s: its shape, for anybody, whatever is sent',
    async (prefix) => {
      const path = `${prefix}/nothing/is/here`;
      for (const answer of [
        await drawbridge.api.get<Body>(path),
        await operator.send<Body>('PATCH', path, 'no json', { 'Content-Type': 'text/plain' }),
        await operator.delete<Body>(path),
      ]) {
        expect([answer.status, faults(path, answer)]).toEqual([404, []]);
      }
    },
  );

  it('404, an unknown path outside of every family and a query that is not repeated', async () => {
    const answer = await drawbridge.api.get<Body>('/nothing?token=secret');
    expect(answer.status).toBe(404);
    expect(faults('/nothing', answer)).toEqual([]);
  });

  it('405, another method: the shape of the path, and Allow names those there are', async () => {
    const found: string[] = [];
    const taken = operations.filter(({ method }) => method === 'PUT').map(({ template }) => template);
    const others = operations.filter(({ template }) => !taken.includes(template));
    for (const path of new Set(others.map((one) => one.path))) {
      const answer = await operator.send<Body>('PUT', path);
      if (answer.status !== 405) found.push(`${path}: ${answer.status}`);
      else found.push(...faults(path, answer).map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
    const allowed = (await operator.send('PUT', '/roles')).headers.get('Allow');
    expect(allowed).toBe('GET, HEAD, OPTIONS, POST');
  });

  it('413, more than 100 kB: the shape of the path, on every operation that takes a body', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(102_400) });
    expect(await wrong(withBody(), 413, sending(large))).toEqual([]);
  });

  it('415, not application/json: the shape of the path, on every operation that takes a body', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(await wrong(withBody(), 415, sending('name=x', form))).toEqual([]);
  });

  it('429: the shape of the path, on every operation that is counted', async () => {
    const strict = await drawbridge.startApi({ RATE_LIMIT_PER_MINUTE: '1' });
    const client = new ApiClient(`http://127.0.0.1:${strict.port}/api/v1`);
    // detection is counted apart
    for (const path of ['/detect-ip', '/nothing']) await client.get(path);
    // the agent channel has limits of its own, see 8-limits.spec.ts
    const ofAgents = new Set(['/agents/state', '/agents/report']);
    const counted = operations.filter((one) => one.counted && !ofAgents.has(one.template));
    expect(await wrong(counted, 429, (one) => plainly(one, client))).toEqual([]);
    const path = '/billing/nothing';
    expect(faults(path, await client.get(path))).toEqual([]);
  });

  it('500 for an unexpected error, in the error shape of the path, on every authenticated operation', async () => {
    await drawbridge.query('ALTER TABLE users RENAME TO users_away');
    try {
      expect(await wrong(guarded(), 500, (one) => plainly(one, operator))).toEqual([]);
    } finally {
      await drawbridge.query('ALTER TABLE users_away RENAME TO users');
    }
    expect(drawbridge.apiServer.output).toContain('A request failed unexpectedly');
  });

  it('503, the database is gone: the shape of the path and Retry-After, and all is well when it is back', async () => {
    const way = await SeverableConnection.to(drawbridge.databaseUrl);
    const api = await drawbridge.startApi({ DATABASE_URL: way.url, ...TESTERS_LIMIT });
    const client = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`).as(operator.identity);
    expect((await client.get('/roles')).status).toBe(200);
    await way.cut();
    expect(await wrong(guarded(), 503, (one) => plainly(one, client))).toEqual([]);
    const answer = await client.get('/roles');
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
    await way.restore();
    await until('the API works again', async () => (await client.get('/roles')).status === 200);
    await way.cut();
  });

  describe('validation', () => {
    it('reports all invalid fields at once, each with a message that follows the field name', async () => {
      const asked = { organizationName: '', email: 'nobody', password: 'short' };
      const { status, body } = await drawbridge.api.post<Body>('/auth/register', asked);
      expect(status).toBe(400);
      const { validationErrors, message } = body as {
        validationErrors: Record<string, string>;
        message: string;
      };
      expect(Object.keys(validationErrors).sort()).toEqual(['email', 'organizationName', 'password']);
      for (const [field, words] of Object.entries(validationErrors)) {
        expect(words).toMatch(/^must /);
        expect(message).toContain(`${field} ${words}`);
      }
    });

    it('says of a field that is missing that it is required', async () => {
      const { body } = await drawbridge.api.post<Body>('/auth/login', {});
      expect(body).toMatchObject({
        message: 'email is required; password is required',
        validationErrors: { email: 'is required', password: 'is required' },
      });
    });

    it('names fields in the message where the shape has no place for them', async () => {
      const { body } = await operator.post<Body>('/resources', { name: 7 });
      expect(Object.keys(body).sort()).toEqual(['error', 'message', 'timestamp']);
      expect(body['message']).toMatch(/^name must be a string; credentialId is required; /);
    });
  });

  it('an unknown field is ignored', async () => {
    const { status, body } = await operator.post<Body>('/roles', {
      name: 'Readers',
      colour: 'red',
      id: 'mine',
    });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('colour');
    expect(body['id']).not.toBe('mine');
  });

  it('text that no database can keep is 400, not 500: U+0000 and half of a surrogate pair', async () => {
    for (const text of ['a\u0000b', 'a\ud800b']) {
      const answers = [
        await drawbridge.api.post<Body>('/auth/login', { email: text, password: text }),
        await operator.post<Body>('/roles', { name: text }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    }
    expect((await operator.get('/users?search=%00')).status).toBe(400);
  });

  it('HEAD answers as GET does, without a body', async () => {
    const get = await operator.get('/roles');
    const head = await operator.send('HEAD', '/roles');
    expect([head.status, head.body]).toEqual([200, null]);
    expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
    expect((await drawbridge.api.send('HEAD', '/roles')).status).toBe(401);
    expect((await drawbridge.api.send('HEAD', '/nothing')).status).toBe(404);
  });

  it('OPTIONS returns the methods of a path, and 404 for an unknown path', async () => {
    const { status, headers } = await drawbridge.api.send('OPTIONS', `/roles/${org.roleId}`);
    expect([status, headers.get('Allow')]).toEqual([204, expect.stringContaining('GET, HEAD, OPTIONS')]);
    expect((await drawbridge.api.send('OPTIONS', '/nothing')).status).toBe(404);
  });

  it('a path that cannot be decoded is answered in the service’s own shape', async () => {
    const response = await fetch(`http://127.0.0.1:${drawbridge.apiServer.port}/api/v1/sessions/%E0%A4%A`);
    const body = (await response.json()) as Body;
    expect(response.status).toBe(400);
    expect(Object.keys(body).sort()).toEqual(['error', 'message', 'path', 'status', 'timestamp']);
  });
});
