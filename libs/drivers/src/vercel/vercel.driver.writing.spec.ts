import type { ChangeResult } from '#rules';
import type { CloudDriver, RuleChange } from '../provider-driver';
import { createVercelDriver } from './vercel.driver';
import { thrown } from '../scripted-server.testing';
import {
  TOKEN,
  ADDRESS,
  target,
  add,
  remove,
  guard,
  config,
  refusal,
  READ,
  WRITE,
  FIND,
  VercelFixture,
} from './vercel.driver.testing';

describe('Vercel driver: requests and writes', () => {
  const fixture = new VercelFixture();
  const { vercel } = fixture;
  let driver: CloudDriver;

  beforeEach(() => {
    driver = fixture.newDriver();
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

    it('insert the guard first and update it afterwards', async () => {
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

    it('stop after a throttled write and report the retry delay', async () => {
      const limited = refusal(429, 'rate_limited');
      vercel.on(READ, config()).on(WRITE, { ...limited, headers: { 'retry-after': '7' } });
      expect(await thrown(apply(add(), add('203.0.113.8/32')))).toMatchObject({
        kind: 'throttled',
        retryAfterMs: 7000,
      });
      expect(vercel.steps).toEqual([READ, WRITE]);
    });

    it('time out at the limit of the driver call', async () => {
      vercel.on(READ, { silent: true });
      driver = createVercelDriver({ VERCEL_API_URL: vercel.url }, { callTimeoutMs: 200 });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient', settled: false });
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
    const NOT_SEEN = { result: 'unknown', message: 'Vercel took the change, and the rule does not show it' };

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
    const noConfig = refusal(404, 'not_found', 'Config not found');

    it('means that no configuration exists when the project exists', async () => {
      vercel.on(READ, noConfig);
      expect((await driver.readRules(target())).rules).toEqual([]);
      expect(vercel.steps).toEqual([READ, FIND]);
    });

    it.each([
      ['the project is not found either', noConfig, refusal(404, 'not_found', 'Project not found')],
      [
        'Vercel names the project',
        refusal(404, 'not_found', 'Project not found'),
        { body: { id: 'prj_one' } },
      ],
    ])('means that the project is missing when %s', async (_, read, found) => {
      vercel.on(READ, read).on(FIND, found);
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
