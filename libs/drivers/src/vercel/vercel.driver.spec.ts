import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { ChangeResult, RuleSpec } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, ProviderDriver, RuleChange } from '../provider-driver';
import { guardRule } from './guard';
import { createVercelDriver } from './vercel.driver';

const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const TOKEN = 'the-vercel-token';
const PLACE = { projectId: 'prj_one', hostname: null, pathPrefix: null };
const ADDRESS = '203.0.113.7/32';

const target = (data: Readonly<Record<string, string>> = {}): CloudTarget => ({
  resourceType: 'FIREWALL_RULE',
  identifier: PLACE.projectId,
  region: null,
  credential: { credentialType: 'TOKEN', data: { token: TOKEN, ...data }, externalId: null },
  deployment: 'prod',
  claims: new Map(),
});
const spec = (address = ADDRESS): RuleSpec => ({ address, protocol: 'all', ports: [] });
const add = (address = ADDRESS): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec: spec(address),
  mark: { deployment: 'prod', ruleId: RULE_ID, expiresAt: null },
  config: {},
});
const remove = (address = ADDRESS): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId: `rule_one#${address}`,
});

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** a text goes as it is, anything else as JSON */
  readonly body?: unknown;
  readonly silent?: true;
}

/** Says what the case at hand wants said: the next reply for a path, the last one of them again and again. */
class ScriptedVercel {
  readonly calls: Call[] = [];
  private readonly replies = new Map<string, Reply[]>();
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      this.calls.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      const queue = this.replies.get(`${method} ${url.split('?')[0]!.split('/').at(-1)}`) ?? [];
      const reply = (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 500 };
      if (reply.silent) return;
      const { status = 200, body = {} } = reply;
      response.writeHead(status, { 'content-type': 'application/json', ...reply.headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('It listens on no port');
    return `http://127.0.0.1:${address.port}`;
  }

  get steps(): string[] {
    return this.calls.map(({ method, url }) => `${method} ${url.split('?')[0]!.split('/').at(-1)}`);
  }

  on(call: string, ...replies: Reply[]): this {
    this.replies.set(call, replies);
    return this;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }
}

const guard = (addresses: readonly string[], changed: object = {}, id = 'rule_one'): object => ({
  ...guardRule(PLACE, 'prod', addresses),
  id,
  valid: true,
  ...changed,
});
const config = (...rules: object[]): Reply => ({ body: { firewallEnabled: true, rules } });
const refusal = (status: number, code: string, message = 'no'): Reply => ({
  status,
  body: { error: { code, message } },
});
const READ = 'GET active';
const WRITE = 'PATCH config';
const FIND = 'GET prj_one';

describe('Vercel driver', () => {
  let vercel: ScriptedVercel;
  let elsewhere: ScriptedVercel;
  let driver: ProviderDriver;

  beforeEach(async () => {
    vercel = new ScriptedVercel();
    elsewhere = new ScriptedVercel();
    await Promise.all([vercel.open(), elsewhere.open()]);
    driver = createVercelDriver({ VERCEL_API_URL: `${vercel.url}/` });
    vercel.on(WRITE, {}).on(FIND, { body: { id: 'prj_one' } });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all([vercel.close(), elsewhere.close()]);
  });

  const apply = (...changes: RuleChange[]): Promise<ChangeResult[]> => driver.applyChanges(target(), changes);
  const failure = async (call: Promise<unknown>): Promise<DriverError> => {
    const error: unknown = await call.catch((reason: unknown) => reason);
    if (error instanceof DriverError) return error;
    throw new Error(`It threw ${String(error)}`);
  };
  const sent = (): unknown[] =>
    vercel.calls.filter(({ method }) => method === 'PATCH').map(({ body }) => JSON.parse(body) as unknown);

  describe('requests', () => {
    it('carry the token in a header only, and the team in the query', async () => {
      vercel.on(READ, config());
      await driver.readRules(target({ teamId: 'team_one' }));
      await driver.readRules(target());
      const [first, second] = vercel.calls;
      expect(first!.headers.authorization).toBe(`Bearer ${TOKEN}`);
      expect(first!.url).toBe('/v1/security/firewall/config/active?projectId=prj_one&teamId=team_one');
      expect(second!.url).toBe('/v1/security/firewall/config/active?projectId=prj_one');
    });

    it('make a rule first, and change it afterwards', async () => {
      vercel.on(READ, config(), config(guard([ADDRESS])));
      expect(await apply(add())).toEqual([{ result: 'done', providerRuleId: `rule_one#${ADDRESS}` }]);
      vercel.on(READ, config(guard([ADDRESS])), config(guard(['2001:db8::/48'])));
      expect(await apply(remove(), add('2001:db8::/48'))).toEqual([
        { result: 'done', providerRuleId: null },
        { result: 'done', providerRuleId: 'rule_one#2001:db8::/48' },
      ]);
      const conditions = (value: string): object[] => [
        { type: 'ip_address', op: 'inc', neg: true, value: [value] },
      ];
      const rule = {
        name: 'drawbridge-prod-95cb9b4f84ceff13',
        active: true,
        action: { mitigate: { action: 'deny', actionDuration: null } },
      };
      expect(sent()).toMatchObject([
        {
          action: 'rules.insert',
          id: null,
          value: { ...rule, conditionGroup: [{ conditions: conditions('203.0.113.7') }] },
        },
        {
          action: 'rules.update',
          id: 'rule_one',
          value: { ...rule, conditionGroup: [{ conditions: conditions('2001:db8::/48') }] },
        },
      ]);
      expect(vercel.steps).toEqual([READ, WRITE, READ, READ, WRITE, READ]);
    });

    it('follow no redirect', async () => {
      elsewhere.on(READ, config(guard([ADDRESS])));
      const headers = { location: `${elsewhere.url}/v1/security/firewall/config/active` };
      vercel.on(READ, { status: 307, headers });
      expect((await failure(driver.readRules(target()))).kind).toBe('transient');
      expect(elsewhere.calls).toEqual([]);
    });

    it('are no more than one write when it is throttled, and tell how long to wait', async () => {
      const limited = refusal(429, 'rate_limited');
      vercel.on(READ, config()).on(WRITE, { ...limited, headers: { 'retry-after': '7' } });
      expect(await failure(apply(add(), add('203.0.113.8/32')))).toMatchObject({
        kind: 'throttled',
        retryAfterMs: 7000,
      });
      expect(vercel.steps).toEqual([READ, WRITE]);
    });

    it('end with the time that a call may take', async () => {
      vercel.on(READ, { silent: true });
      driver = createVercelDriver({ VERCEL_API_URL: vercel.url }, 200);
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient', settled: false });
    });

    it('are not sent when there is no time left to see what comes of them', async () => {
      vercel.on(READ, config());
      driver = createVercelDriver({ VERCEL_API_URL: vercel.url }, 9000);
      expect(await failure(apply(add()))).toMatchObject({ kind: 'transient', settled: true });
      expect(vercel.steps).toEqual([READ]);
    });

    it('build on no list that was read long ago: another worker may have written since', async () => {
      vercel.on(READ, config(guard(['203.0.113.1/32'])));
      const now = performance.now.bind(performance);
      let held = 0;
      jest
        .spyOn(performance, 'now')
        .mockImplementation(() => now() + (vercel.calls.length && (held += 2100)));
      expect(await failure(apply(add()))).toMatchObject({
        kind: 'transient',
        message: 'The list was read too long ago to be written',
      });
      expect(vercel.steps).toEqual([READ]);
    });
  });

  describe('what stands after a write', () => {
    const NOT_SEEN = { result: 'unknown', message: 'Vercel took the change, and the rule does not show it' };

    it.each([
      ['no rule', config()],
      ['the rule as it was', config(guard(['203.0.113.1/32', '203.0.113.2/32']))],
      ['the rule without somebody else', config(guard([ADDRESS]))],
      ['the rule with somebody more', config(guard([ADDRESS, '203.0.113.2/32', '203.0.113.3/32']))],
      ['the rule switched off', config(guard([ADDRESS, '203.0.113.2/32'], { active: false }))],
      ['the rule not valid', config(guard([ADDRESS, '203.0.113.2/32'], { valid: false }))],
      ['a rule that denies nothing', config(guard([ADDRESS, '203.0.113.2/32'], { action: {} }))],
      ['a rule without conditions', config(guard([ADDRESS, '203.0.113.2/32'], { conditionGroup: [] }))],
      [
        'a group without conditions',
        config(guard([ADDRESS, '203.0.113.2/32'], { conditionGroup: [{ conditions: [] }] })),
      ],
    ])('is not believed to be what was sent: with %s nothing is done', async (_, reply) => {
      vercel.on(READ, config(guard(['203.0.113.1/32', '203.0.113.2/32'])), reply);
      expect(await apply(add(), remove('203.0.113.1/32'))).toEqual([NOT_SEEN, NOT_SEEN]);
      expect(sent()).toHaveLength(1);
    });

    it('an empty list of addresses is none that keeps anybody out', async () => {
      const empty = [{ conditions: [{ type: 'ip_address', op: 'inc', neg: true, value: [] }] }];
      vercel.on(READ, config(guard([ADDRESS])), config(guard([], { conditionGroup: empty })));
      expect(await apply(remove())).toEqual([NOT_SEEN]);
    });

    it.each([
      ['fails', refusal(500, 'internal_server_error')],
      ['is throttled', refusal(429, 'rate_limited')],
      ['is odd', { body: '<html>' }],
    ])('is unknown when the read of it %s', async (_, reply) => {
      vercel.on(READ, config(), reply);
      expect(await apply(add())).toMatchObject([{ result: 'unknown' }]);
      expect(vercel.steps).toEqual([READ, WRITE, READ]);
    });
  });

  describe('what is not found', () => {
    const noConfig = refusal(404, 'not_found', 'Config not found');

    it('is a configuration that nobody has made yet, when the project is there', async () => {
      vercel.on(READ, noConfig);
      expect(await driver.readRules(target())).toEqual([]);
      expect(vercel.steps).toEqual([READ, FIND]);
    });

    it.each([
      ['the project is not there either', noConfig, refusal(404, 'not_found', 'Project not found')],
      [
        'Vercel names the project',
        refusal(404, 'not_found', 'Project not found'),
        { body: { id: 'prj_one' } },
      ],
    ])('is the project, when %s', async (_, read, found) => {
      vercel.on(READ, read).on(FIND, found);
      expect((await failure(driver.readRules(target()))).kind).toBe('target-missing');
      expect((await failure(apply(add()))).kind).toBe('target-missing');
      expect(sent()).toEqual([]);
    });

    it('is a rule that somebody deleted since it was read, when the project is there', async () => {
      vercel.on(READ, config(guard([ADDRESS]))).on(WRITE, refusal(404, 'not_found', 'Rule not found'));
      expect((await failure(apply(remove()))).kind).toBe('conflict');
      vercel.on(FIND, refusal(404, 'not_found', 'Project not found'));
      expect((await failure(apply(remove()))).kind).toBe('target-missing');
    });
  });

  describe('odd answers', () => {
    const odd: [string, Reply][] = [
      ['a page', { body: '<html><body>Sign in</body></html>' }],
      ['half an answer', { body: '{"firewallEnabled":true,"rules":[' }],
      ['nothing', { body: '' }],
      ['a list', { body: [] }],
      ['a success with an error in it', { body: { error: { code: 'forbidden', message: 'no' } } }],
      ['a long answer', { body: { firewallEnabled: true, rules: [], more: 'x'.repeat(10_000_000) } }],
      ['a page of a gateway', { status: 403, body: '<html>Forbidden</html>' }],
    ];

    it.each([
      ...odd,
      ['no rules', { body: { firewallEnabled: true } }],
      ['rules that are no list', { body: { firewallEnabled: true, rules: {} } }],
      ['a rule without an id', config({ name: 'x' })],
      ['no word about being on', { body: { rules: [] } }],
      ['another form', { body: { active: { firewallEnabled: true, rules: [] } } }],
    ] as [string, Reply][])('to a read, %s: nothing is known', async (_, reply) => {
      vercel.on(READ, reply);
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient', settled: false });
    });

    it.each(odd)('to a write, %s: it may have been done', async (_, reply) => {
      vercel.on(READ, config()).on(WRITE, reply);
      expect(await apply(add())).toMatchObject([{ result: 'unknown' }]);
    });

    it('a project under another id is not the one that was asked for', async () => {
      vercel.on(READ, config()).on(FIND, { body: { id: 'prj_two' } });
      expect((await failure(driver.verify(target()))).kind).toBe('transient');
    });

    it.each([
      ['values that are no texts', [7], []],
      ['values that are no addresses', ['example.com', '203.0.113.7'], [ADDRESS]],
      ['one text in place of a list', '203.0.113.7', [ADDRESS]],
      [
        'addresses spelled in other ways',
        ['2001:DB8:0::7', '203.0.113.9/24'],
        ['2001:db8::7/128', '203.0.113.0/24'],
      ],
    ])('a guard with %s is read as far as it can be', async (_, value, addresses) => {
      const conditionGroup = [{ conditions: [{ type: 'ip_address', op: 'ninc', value }] }];
      vercel.on(READ, config(guard([], { conditionGroup })));
      const observed = await driver.readRules(target());
      expect(observed.map(({ key }) => key)).toEqual(addresses.map((address) => `${address} all *`));
    });
  });

  describe('credentials', () => {
    it('are good when Vercel names their owner, and lets them into the team', async () => {
      vercel.on('GET user', { body: { user: { id: 'u' } } }).on('GET team_one', { body: { id: 'team_one' } });
      await driver.checkCredential(target({ teamId: 'team_one' }).credential);
      expect(vercel.steps).toEqual(['GET user', 'GET team_one']);
    });

    it.each([
      ['the owner is refused', refusal(403, 'forbidden'), { body: {} }],
      ['the team is refused', { body: { user: {} } }, refusal(403, 'forbidden')],
      ['there is no such team', { body: { user: {} } }, refusal(404, 'not_found')],
    ])('are denied when %s', async (_, user, team) => {
      vercel.on('GET user', user).on('GET team_one', team);
      const { credential } = target({ teamId: 'team_one' });
      expect((await failure(driver.checkCredential(credential))).kind).toBe('denied');
    });

    it('are not judged by an odd answer', async () => {
      vercel.on('GET user', { body: { name: 'somebody' } });
      expect((await failure(driver.checkCredential(target().credential))).kind).toBe('transient');
    });

    it.each([
      ['another kind', { credentialType: 'ACCESS_KEY', data: { token: TOKEN } }],
      ['no token', { credentialType: 'TOKEN', data: {} }],
      ['a token with a line break', { credentialType: 'TOKEN', data: { token: 'a\r\nx: y' } }],
      ['a team that is a path', { credentialType: 'TOKEN', data: { token: TOKEN, teamId: '../x' } }],
    ])('with %s are denied without asking', async (_, given) => {
      const credential = { ...given, externalId: null };
      expect((await failure(driver.readRules({ ...target(), credential }))).kind).toBe('denied');
      expect(vercel.calls).toEqual([]);
    });

    it('stay out of messages when Vercel repeats them', async () => {
      vercel.on(READ, refusal(403, 'forbidden', `The token ${TOKEN} is wrong`));
      expect((await failure(driver.readRules(target()))).message).toBe(
        'forbidden: The token [secret] is wrong',
      );
    });

    it('share the budget of their team', () => {
      const one = driver.accountKey(target({ teamId: 'team_one' }));
      expect(driver.accountKey(target({ teamId: 'team_one', token: 'another' }))).toBe(one);
      expect(driver.accountKey(target({ teamId: 'team_two' }))).not.toBe(one);
      expect(driver.accountKey(target({ token: 'another' }))).not.toBe(driver.accountKey(target()));
    });
  });

  it.each([
    ['another kind of object', { resourceType: 'ROUTE' }],
    ['what is no project', { identifier: '../v2/user' }],
  ])('drives nothing but projects: %s', async (_, changed) => {
    expect((await failure(driver.readRules({ ...target(), ...changed }))).kind).toBe('invalid');
    expect(vercel.calls).toEqual([]);
  });
});
