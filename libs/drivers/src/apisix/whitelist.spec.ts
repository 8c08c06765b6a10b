import * as fc from 'fast-check';
import { ruleKey, type ChangeResult, type RuleSpec } from '#rules';
import type { RuleChange } from '../provider-driver';
import { planRewrite as planned, resultsOf as resultsFor, type Rewrite } from '../whole-list/plan-rewrite';
import { listForm, observedRules, SENTINEL, type Guard, type GuardedObject } from './whitelist';

const PATH = 'routes/r1';
const object = (entries: readonly string[], guard: Guard = 'whitelist'): GuardedObject => ({
  path: PATH,
  guard,
  entries,
});
const planRewrite = (
  of: GuardedObject,
  changes: readonly RuleChange[],
  claims: Map<string, string>,
): Rewrite => planned(of.entries, changes, claims, listForm(of));
const resultsOf = (of: GuardedObject, changes: readonly RuleChange[], rewrite: Rewrite): ChangeResult[] =>
  resultsFor(of.entries, changes, rewrite, listForm(of));
const spec = (address: string): RuleSpec => ({ address, protocol: 'all', ports: [] });
const add = (address: string, ruleId = 'id'): RuleChange => ({
  action: 'add',
  ruleId,
  spec: spec(address),
  mark: { deployment: 'd', ruleId, expiresAt: null },
  config: {},
});
const remove = (address: string): RuleChange => ({
  action: 'remove',
  ruleId: 'id',
  providerRuleId: `${PATH}#${address}`,
});
const claiming = (...addresses: string[]): Map<string, string> =>
  new Map(addresses.map((address) => [ruleKey(spec(address)), `rule of ${address}`]));

describe('Observed rules of an APISIX whitelist', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['2001:DB8:0:0::5', '2001:db8::5/128'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('maps %s to %s', (entry, address) => {
    expect(observedRules(object([SENTINEL, entry]), new Map())).toEqual([
      { key: ruleKey(spec(address)), providerRuleId: `${PATH}#${entry}`, ownRuleId: null },
    ]);
  });

  it.each([SENTINEL, '::ffff:203.0.113.7', 'no-address', '203.0.113.7/33', ''])(
    'ignores the entry %j',
    (entry) => {
      expect(observedRules(object([entry]), new Map())).toEqual([]);
    },
  );

  it.each(['none', 'blacklist', 'disabled', 'conditional'] as const)(
    'report every address as allowed in state %s',
    (guard) => {
      const keys = observedRules(object([], guard), new Map()).map(({ key }) => key);
      expect(keys).toEqual(['0.0.0.0/0 all *', '::/0 all *']);
    },
  );

  it('are ours when they are claimed and spelled canonically', () => {
    const claims = claiming('203.0.113.7/32', '203.0.113.8/32');
    const entries = ['203.0.113.7', '203.0.113.7/32', '203.0.113.8', '203.0.113.9/32'];
    expect(observedRules(object(entries), claims).map(({ ownRuleId }) => ownRuleId)).toEqual([
      null,
      'rule of 203.0.113.7/32',
      null,
      null,
    ]);
  });
});

describe('A planned APISIX whitelist write', () => {
  const claims = claiming('203.0.113.7/32', '203.0.113.8/32');

  it('creates a missing list', () => {
    expect(planRewrite(object([], 'none'), [add('203.0.113.7/32')], claims).entries).toEqual([
      SENTINEL,
      '203.0.113.7/32',
    ]);
  });

  it.each([
    ['there is no change', []],
    ['the added address is present', [add('203.0.113.7/32')]],
    ['the removed address is absent', [remove('203.0.113.8/32')]],
    ['the removed entry is not claimed', [remove('10.0.0.1/32')]],
    ['the removed entry has another spelling', [remove('203.0.113.7')]],
    ['the sentinel is to be removed', [remove(SENTINEL)]],
    [
      'the removed entry belongs to another object',
      [{ ...remove(''), providerRuleId: 'routes/r2#203.0.113.7/32' } as RuleChange],
    ],
    ['an address is removed and added again', [remove('203.0.113.7/32'), add('203.0.113.7/32')]],
  ])('is skipped when %s', (_, changes) => {
    const before = object([SENTINEL, '203.0.113.7/32', '203.0.113.7', '10.0.0.1/32']);
    const plan = planRewrite(before, changes, claims);
    expect(plan.entries).toBeNull();
    expect(resultsOf(before, changes, plan).map(({ result }) => result)).toEqual(changes.map(() => 'done'));
  });

  it('is not created by a removal', () => {
    expect(planRewrite(object([], 'none'), [remove('203.0.113.7/32')], claims).entries).toBeNull();
  });

  it.each([
    ['a port', { address: '203.0.113.9/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] }],
    ['no address', spec('nonsense')],
    ['host bits', spec('203.0.113.9/24')],
    ['an address without a length', spec('203.0.113.9')],
    ['an IPv4-mapped address', spec('::ffff:203.0.113.9/128')],
    ['the sentinel', spec(SENTINEL)],
  ] as [string, RuleSpec][])('refuses to add %s', (_, odd) => {
    const change = { ...add('203.0.113.9/32'), spec: odd } as RuleChange;
    const plan = planRewrite(object([SENTINEL]), [change], claims);
    expect(plan.entries).toBeNull();
    expect(resultsOf(object([SENTINEL]), [change], plan)).toMatchObject([
      { result: 'refused', kind: 'invalid' },
    ]);
  });

  it('refuses additions to a blacklist', () => {
    const plan = planRewrite(object([], 'blacklist'), [add('203.0.113.9/32')], claims);
    expect(plan.entries).toBeNull();
    expect(plan.settled.get(0)).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('blacklist') as string,
    });
  });

  it('gets its results from the list read after the write', () => {
    const changes = [add('203.0.113.9/32'), remove('203.0.113.7/32')];
    const plan = planRewrite(object([SENTINEL, '203.0.113.7/32']), changes, claims);
    const resultsAfter = (after: GuardedObject): unknown[] =>
      resultsOf(after, changes, plan).map((one) => (one.result === 'refused' ? one.kind : one.result));
    expect(resultsAfter(object([SENTINEL, '203.0.113.9/32']))).toEqual(['done', 'done']);
    expect(resultsAfter(object([SENTINEL, '203.0.113.7/32']))).toEqual(['conflict', 'conflict']);
    expect(resultsAfter(object([SENTINEL, '203.0.113.7/32', '203.0.113.9/32']))).toEqual([
      'done',
      'conflict',
    ]);
    expect(resultsAfter(object([], 'none'))).toEqual(['conflict', 'done']);
  });

  it('always starts with the sentinel, keeps unmanaged entries in order and has no duplicates', () => {
    const address = fc.integer({ min: 0, max: 12 }).map((number) => `203.0.113.${number}/32`);
    const unmanaged = fc.oneof(
      address,
      fc.constantFrom('10.0.0.0/8', '203.0.113.1', '2001:DB8::1', SENTINEL, 'odd'),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(unmanaged),
        fc.array(address),
        fc.array(fc.tuple(fc.boolean(), address)),
        (entries, claimed, desired) => {
          const changes = desired.map(([isAdd, one]) => (isAdd ? add(one) : remove(one)));
          const ours = claiming(...claimed);
          const { entries: list } = planRewrite(object(entries), changes, ours);
          if (!list) return;
          expect(list[0]).toBe(SENTINEL);
          expect(new Set(list).size).toBe(list.length);
          const others = entries.filter((entry) => entry !== SENTINEL && !ours.has(ruleKey(spec(entry))));
          expect(list.filter((entry) => others.includes(entry))).toEqual(others);
          const added = desired.filter(([isAdd]) => isAdd).map(([, one]) => one);
          for (const one of added) expect(list).toContain(one);
          const removed = desired.filter(([isAdd, one]) => !isAdd && ours.has(ruleKey(spec(one))));
          for (const [, one] of removed) expect(list.includes(one)).toBe(added.includes(one));
        },
      ),
    );
  });
});
