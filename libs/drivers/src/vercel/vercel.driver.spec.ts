import type { ChangeResult } from '#rules';
import type { CloudDriver, CloudTarget, RuleChange } from '../provider-driver';
import { duringTests, type Reply, ScriptedApi, thrown } from '../scripted-server.testing';
import { guardRule } from './guard';
import { createVercelDriver } from './vercel.driver';

const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const TOKEN = 'the-vercel-token';
const PATH = { projectId: 'prj_one', hostname: null, pathPrefix: null };
const ADDRESS = '203.0.113.7/32';

const target = (data: Readonly<Record<string, string>> = {}): CloudTarget => ({
  resourceType: 'FIREWALL_RULE',
  identifier: PATH.projectId,
  region: null,
  credential: { credentialType: 'TOKEN', data: { token: TOKEN, ...data }, externalId: null, identity: null },
  deployment: 'prod',
  claims: new Map(),
});
const add = (address = ADDRESS): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec: { address, protocol: 'all', ports: [] },
  mark: { deployment: 'prod', ruleId: RULE_ID, expiresAt: null },
  config: {},
});
const remove = (address = ADDRESS): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId: `rule_one#${address}`,
});

const guard = (addresses: readonly string[], changed: object = {}, id = 'rule_one'): object => ({
  ...guardRule(PATH, 'prod', addresses),
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
  /** a route is a method and the last part of a path */
  const vercel = duringTests(new ScriptedApi(({ method, path }) => `${method} ${path.split('/').at(-1)}`));
  let driver: CloudDriver;

  // it has the project, and takes changes
  beforeEach(() => {
    vercel.clear();
    vercel.on(WRITE, { body: {} }).on(FIND, { body: { id: PATH.projectId } });
    driver = createVercelDriver({ VERCEL_API_URL: `${vercel.url}/` });
  });

  describe('credentials', () => {
    it('are valid when Vercel returns their owner and team', async () => {
      vercel.on('GET user', { body: { user: { id: 'u' } } }).on('GET team_one', { body: { id: 'team_one' } });
      await driver.checkCredential(target({ teamId: 'team_one' }).credential);
      expect(vercel.steps).toEqual(['GET user', 'GET team_one']);
    });

    it.each([
      ['the user request is refused', refusal(403, 'forbidden'), { body: {} }],
      ['the team request is refused', { body: { user: {} } }, refusal(403, 'forbidden')],
      ['the team does not exist', { body: { user: {} } }, refusal(404, 'not_found')],
    ])('are denied when %s', async (_, user, team) => {
      vercel.on('GET user', user).on('GET team_one', team);
      const { credential } = target({ teamId: 'team_one' });
      expect((await thrown(driver.checkCredential(credential))).kind).toBe('denied');
    });

    it('get no verdict from a malformed response', async () => {
      vercel.on('GET user', { body: { name: 'ada' } });
      expect((await thrown(driver.checkCredential(target().credential))).kind).toBe('transient');
    });

    it.each([
      ['another credential type', { credentialType: 'ACCESS_KEY', data: { token: TOKEN } }],
      ['no token', { credentialType: 'TOKEN', data: {} }],
      ['a token with a line break', { credentialType: 'TOKEN', data: { token: 'a\r\nx: y' } }],
      ['a malformed team id', { credentialType: 'TOKEN', data: { token: TOKEN, teamId: '../x' } }],
    ])('with %s are denied without a request', async (_, given) => {
      const credential = { ...given, externalId: null, identity: null };
      expect((await thrown(driver.readRules({ ...target(), credential }))).kind).toBe('denied');
      expect(vercel.calls).toEqual([]);
    });

    it('are masked in messages that quote them', async () => {
      vercel.on(READ, refusal(403, 'forbidden', `The token ${TOKEN} is wrong`));
      expect((await thrown(driver.readRules(target()))).message).toBe(
        'forbidden: The token [secret] is wrong',
      );
    });

    it('of another team have another write budget', () => {
      const one = driver.accountKey(target({ teamId: 'team_one' }));
      expect(driver.accountKey(target({ teamId: 'team_one' }))).toBe(one);
      expect(driver.accountKey(target({ teamId: 'team_two' }))).not.toBe(one);
    });
  });

  it.each([
    ['another resource type', { resourceType: 'ROUTE' }],
    ['an identifier that is not a project', { identifier: '../v2/user' }],
  ])('rejects %s', async (_, changed) => {
    expect((await thrown(driver.readRules({ ...target(), ...changed }))).kind).toBe('invalid');
    expect(vercel.calls).toEqual([]);
  });

  describe('malformed responses', () => {
    it.each([
      ['no rules', { body: { firewallEnabled: true } }],
      ['rules that are not a list', { body: { firewallEnabled: true, rules: {} } }],
      ['a rule without an id', config({ name: 'x' })],
      ['no firewallEnabled', { body: { rules: [] } }],
      ['another format', { body: { active: { firewallEnabled: true, rules: [] } } }],
    ] as [string, Reply][])('to a read are transient: %s', async (_, reply) => {
      vercel.on(READ, reply);
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient', settled: false });
    });

    it('with another project id are rejected', async () => {
      vercel.on(READ, config()).on(FIND, { body: { id: 'prj_two' } });
      expect((await thrown(driver.verify(target(), {}))).kind).toBe('transient');
    });

    it.each([
      ['values that are not strings', [7], []],
      ['values that are not addresses', ['example.com', '203.0.113.7'], [ADDRESS]],
      ['a string instead of a list', '203.0.113.7', [ADDRESS]],
      [
        'addresses in other spellings',
        ['2001:DB8:0::7', '203.0.113.9/24'],
        ['2001:db8::7/128', '203.0.113.0/24'],
      ],
    ])('with a guard that has %s are read as far as possible', async (_, value, addresses) => {
      const conditionGroup = [{ conditions: [{ type: 'ip_address', op: 'ninc', value }] }];
      vercel.on(READ, config(guard([], { conditionGroup })));
      const observed = (await driver.readRules(target())).rules;
      expect(observed.map(({ key }) => key)).toEqual(addresses.map((address) => `${address} all *`));
    });
  });

  afterEach(() => vi.restoreAllMocks());

  const apply = (...changes: RuleChange[]): Promise<ChangeResult[]> => driver.applyChanges(target(), changes);
  const sent = (): unknown[] =>
    vercel.calls.filter(({ method }) => method === 'PATCH').map(({ body }) => JSON.parse(body) as unknown);

  describe('requests', () => {
    it('contain the token in a header only, and the team in the query', async () => {
      vercel.on(READ, config());
      await driver.readRules(target({ teamId: 'team_one' }));
      await driver.readRules(target());
      const [first, second] = vercel.calls;
      expect(first!.headers.authorization).toBe(`Bearer ${TOKEN}`);
      expect(first!.url).toBe('/v1/security/firewall/config/active?projectId=prj_one&teamId=team_one');
      expect(second!.url).toBe('/v1/security/firewall/config/active?projectId=prj_one');
    });

    it('are not sent when no time is left to verify the write', async () => {
      vercel.on(READ, config());
      driver = createVercelDriver({ VERCEL_API_URL: vercel.url }, { callTimeoutMs: 9000 });
      expect(await thrown(apply(add()))).toMatchObject({ kind: 'transient', settled: true });
      expect(vercel.steps).toEqual([READ]);
    });

    it('do not write a list that was read too long ago', async () => {
      vercel.on(READ, config(guard(['203.0.113.1/32'])));
      const now = performance.now.bind(performance);
      let held = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now() + (vercel.calls.length && (held += 2100)));
      expect(await thrown(apply(add()))).toMatchObject({
        kind: 'transient',
        message: 'The list was read too long ago to be written',
      });
      expect(vercel.steps).toEqual([READ]);
    });
  });

  describe('verification after a write', () => {
    const NOT_SEEN = {
      result: 'unknown',
      message: 'Vercel took the change, and the rule does not show it',
    };

    it.each([
      ['no rule', config()],
      ['the rule as it was', config(guard(['203.0.113.1/32', '203.0.113.2/32']))],
      ['the rule without another address', config(guard([ADDRESS]))],
      ['the rule with an extra address', config(guard([ADDRESS, '203.0.113.2/32', '203.0.113.3/32']))],
      ['the rule switched off', config(guard([ADDRESS, '203.0.113.2/32'], { active: false }))],
      ['the rule not valid', config(guard([ADDRESS, '203.0.113.2/32'], { valid: false }))],
      ['a rule that denies nothing', config(guard([ADDRESS, '203.0.113.2/32'], { action: {} }))],
      ['a rule without conditions', config(guard([ADDRESS, '203.0.113.2/32'], { conditionGroup: [] }))],
      [
        'a group without conditions',
        config(guard([ADDRESS, '203.0.113.2/32'], { conditionGroup: [{ conditions: [] }] })),
      ],
    ])('reports unknown when the read shows %s', async (_, reply) => {
      vercel.on(READ, config(guard(['203.0.113.1/32', '203.0.113.2/32'])), reply);
      expect(await apply(add(), remove('203.0.113.1/32'))).toEqual([NOT_SEEN, NOT_SEEN]);
      expect(sent()).toHaveLength(1);
    });

    it('does not accept an empty address list as a guard', async () => {
      const empty = [{ conditions: [{ type: 'ip_address', op: 'inc', neg: true, value: [] }] }];
      vercel.on(READ, config(guard([ADDRESS])), config(guard([], { conditionGroup: empty })));
      expect(await apply(remove())).toEqual([NOT_SEEN]);
    });

    it.each([
      ['fails', refusal(500, 'internal_server_error')],
      ['is throttled', refusal(429, 'rate_limited')],
      ['is malformed', { body: '<html>' }],
    ])('reports unknown when the read %s', async (_, reply) => {
      vercel.on(READ, config(), reply);
      expect(await apply(add())).toMatchObject([{ result: 'unknown' }]);
      expect(vercel.steps).toEqual([READ, WRITE, READ]);
    });
  });

  describe('a not-found response', () => {
    it('means that the project is missing when Vercel names it', async () => {
      vercel.on(READ, refusal(404, 'not_found', 'Project not found'));
      expect((await thrown(driver.readRules(target()))).kind).toBe('target-missing');
      expect((await thrown(apply(add()))).kind).toBe('target-missing');
      expect(sent()).toEqual([]);
    });

    it('to a write means that the rule was deleted concurrently when the project exists', async () => {
      vercel.on(READ, config(guard([ADDRESS]))).on(WRITE, refusal(404, 'not_found', 'Rule not found'));
      expect((await thrown(apply(remove()))).kind).toBe('conflict');
      vercel.on(FIND, refusal(404, 'not_found', 'Project not found'));
      expect((await thrown(apply(remove()))).kind).toBe('target-missing');
    });
  });
});
