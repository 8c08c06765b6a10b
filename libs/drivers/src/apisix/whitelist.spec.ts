import * as fc from 'fast-check';
import { ruleKey, type RuleSpec } from '#rules';
import type { RuleChange } from '../provider-driver';
import { judged, observedRules, rewrite, SENTINEL, type Guard, type GuardedObject } from './whitelist';

const PATH = 'routes/r1';
const object = (entries: readonly string[], guard: Guard = 'whitelist'): GuardedObject => ({
  path: PATH,
  guard,
  entries,
});
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

describe('what a list lets in', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['2001:DB8:0:0::5', '2001:db8::5/128'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('%s is %s', (entry, address) => {
    expect(observedRules(object([SENTINEL, entry]), new Map())).toEqual([
      { key: ruleKey(spec(address)), providerRuleId: `${PATH}#${entry}`, ownRuleId: null },
    ]);
  });

  it.each([SENTINEL, '::ffff:203.0.113.7', 'no-address', '203.0.113.7/33', ''])(
    '%j lets in nobody',
    (entry) => {
      expect(observedRules(object([entry]), new Map())).toEqual([]);
    },
  );

  it.each(['none', 'blacklist', 'disabled'] as const)('%s lets in everybody', (guard) => {
    const keys = observedRules(object([], guard), new Map()).map(({ key }) => key);
    expect(keys).toEqual(['0.0.0.0/0 all *', '::/0 all *']);
  });

  it('is ours when our record claims it and it is spelled our way', () => {
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

describe('a list with changes', () => {
  const claims = claiming('203.0.113.7/32', '203.0.113.8/32');

  it('begins with the sentinel, and keeps what others put in, in its order', () => {
    const before = object(['10.0.0.0/8', '203.0.113.7/32', '203.0.113.7', 'odd', '2001:DB8::1']);
    expect(rewrite(before, [add('198.51.100.1/32'), remove('203.0.113.7/32')], claims).entries).toEqual([
      SENTINEL,
      '10.0.0.0/8',
      '203.0.113.7',
      'odd',
      '2001:DB8::1',
      '198.51.100.1/32',
    ]);
  });

  it('never is empty: the last address out leaves the sentinel', () => {
    expect(rewrite(object(['203.0.113.7/32']), [remove('203.0.113.7/32')], claims).entries).toEqual([
      SENTINEL,
    ]);
  });

  it('makes the list where there is none', () => {
    expect(rewrite(object([], 'none'), [add('203.0.113.7/32')], claims).entries).toEqual([
      SENTINEL,
      '203.0.113.7/32',
    ]);
  });

  it.each([
    ['of no change', []],
    ['of an address that stands', [add('203.0.113.7/32')]],
    ['of an address that is gone', [remove('203.0.113.8/32')]],
    ['of an entry that nobody claims', [remove('10.0.0.1/32')]],
    ['of an entry in another spelling', [remove('203.0.113.7')]],
    ['of the sentinel', [remove(SENTINEL)]],
    ['of another object', [{ ...remove(''), providerRuleId: 'routes/r2#203.0.113.7/32' } as RuleChange]],
    ['of an address out and in again', [remove('203.0.113.7/32'), add('203.0.113.7/32')]],
  ])('is not written because %s', (_, changes) => {
    const before = object([SENTINEL, '203.0.113.7/32', '203.0.113.7', '10.0.0.1/32']);
    const plan = rewrite(before, changes, claims);
    expect(plan.entries).toBeNull();
    expect(judged(before, changes, plan).map(({ result }) => result)).toEqual(changes.map(() => 'done'));
  });

  it('is not made by a removal where there is none', () => {
    expect(rewrite(object([], 'none'), [remove('203.0.113.7/32')], claims).entries).toBeNull();
  });

  it.each([
    ['a port', { address: '203.0.113.9/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] }],
    ['no address', spec('nonsense')],
    ['host bits', spec('203.0.113.9/24')],
    ['an address without a length', spec('203.0.113.9')],
    ['an IPv4 in IPv6 clothes', spec('::ffff:203.0.113.9/128')],
    ['the sentinel', spec(SENTINEL)],
  ] as [string, RuleSpec][])('takes no %s', (_, odd) => {
    const change = { ...add('203.0.113.9/32'), spec: odd } as RuleChange;
    const plan = rewrite(object([SENTINEL]), [change], claims);
    expect(plan.entries).toBeNull();
    expect(judged(object([SENTINEL]), [change], plan)).toMatchObject([
      { result: 'refused', kind: 'invalid' },
    ]);
  });

  it('takes nothing beside a blacklist', () => {
    const plan = rewrite(object([], 'blacklist'), [add('203.0.113.9/32')], claims);
    expect(plan.entries).toBeNull();
    expect(plan.settled.get(0)).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('blacklist') as string,
    });
  });

  it('is judged by what was read after it was written', () => {
    const changes = [add('203.0.113.9/32'), remove('203.0.113.7/32')];
    const plan = rewrite(object([SENTINEL, '203.0.113.7/32']), changes, claims);
    const judge = (after: GuardedObject): unknown[] =>
      judged(after, changes, plan).map((one) => (one.result === 'refused' ? one.kind : one.result));
    expect(judge(object([SENTINEL, '203.0.113.9/32']))).toEqual(['done', 'done']);
    expect(judge(object([SENTINEL, '203.0.113.7/32']))).toEqual(['conflict', 'conflict']);
    expect(judge(object([SENTINEL, '203.0.113.7/32', '203.0.113.9/32']))).toEqual(['done', 'conflict']);
    expect(judge(object([], 'none'))).toEqual(['conflict', 'done']);
  });

  it('whatever changes: it has the sentinel first, loses and moves nothing of others, repeats nothing', () => {
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
          const { entries: list } = rewrite(object(entries), changes, ours);
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
