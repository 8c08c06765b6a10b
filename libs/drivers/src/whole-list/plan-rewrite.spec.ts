import * as fc from 'fast-check';
import type { RuleChange } from '../provider-driver';
import { BY_MEANING, keyOfCidr, planRewrite, refused, type ListForm } from './plan-rewrite';

/** A list that is closed when it is empty, as most are. */
const FORM: ListForm = {
  ...BY_MEANING,
  spell: (cidr) => (cidr.includes(':') ? refused('wrong-family', 'IPv4 only') : cidr.replace('/32', '')),
  whenEmpty: 'closed',
};
const OPEN_WHEN_EMPTY: ListForm = { ...FORM, whenEmpty: 'open' };

const add = (address: string): RuleChange => ({
  action: 'add',
  ruleId: 'id',
  spec: { address, protocol: 'all', ports: [] },
  mark: { deployment: 'd', ruleId: 'id', expiresAt: null },
  config: {},
});
const remove = (cidr: string): RuleChange => ({ action: 'remove', ruleId: 'id', providerRuleId: cidr });
const claiming = (...cidrs: string[]): Map<string, string> =>
  new Map(cidrs.map((cidr) => [keyOfCidr(cidr), 'id']));

const OURS = Array.from({ length: 8 }, (_, index) => `203.0.113.${index}`);
/** Spelled as others do; none is an address of ours. */
const FOREIGN = [
  '198.51.100.7',
  '198.51.100.8/32',
  '198.51.100.77/24',
  '2001:DB8:0:0::5',
  'no-address',
  '',
  '0.0.0.0/1',
  '2001:0db8:0000:0000:0000:0000:0000:0006/128',
];
const cidrOf = (address: string): string => `${address}/32`;

describe('A rewritten list', () => {
  it('has all entries of other programs byte for byte, in their order, whatever is changed', () => {
    const entry = fc.oneof(fc.constantFrom(...FOREIGN), fc.constantFrom(...OURS, ...OURS.map(cidrOf)));
    const change = fc.oneof(
      fc.constantFrom(...OURS.map(cidrOf)).map(add),
      fc.constantFrom(...OURS.map(cidrOf), ...FOREIGN).map(remove),
    );
    fc.assert(
      fc.property(
        fc.array(entry),
        fc.array(change, { maxLength: 12 }),
        fc.constantFrom(FORM, OPEN_WHEN_EMPTY),
        (entries, changes, form) => {
          const { entries: written } = planRewrite(entries, changes, claiming(...OURS.map(cidrOf)), form);
          const foreignOf = (list: readonly string[]): string[] =>
            list.filter((one) => FOREIGN.includes(one));
          const after = written ?? entries;
          expect(foreignOf(after)).toEqual(foreignOf(entries));
          // nobody is let in but those that were on the list, or are added
          const added = changes.flatMap((one) => (one.action === 'add' ? [one.spec.address] : []));
          const known = new Set([...entries.map((one) => form.own(one)), ...added]);
          expect(after.filter((one) => !known.has(form.own(one)))).toEqual([]);
          expect(written?.length === 0 && form.whenEmpty === 'open').toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('has an address once, in whatever spelling it stood there before', () => {
    for (const spelled of ['203.0.113.7', '203.0.113.7/32'])
      expect(planRewrite([spelled], [add('203.0.113.7/32')], new Map(), FORM).entries).toBeNull();
    expect(planRewrite(['198.51.100.7'], [add('203.0.113.7/32')], new Map(), FORM).entries).toEqual([
      '198.51.100.7',
      '203.0.113.7',
    ]);
  });

  it('keeps what is not recorded as ours', () => {
    const plan = planRewrite(['203.0.113.7'], [remove('203.0.113.7/32')], new Map(), FORM);
    expect(plan.entries).toBeNull();
    expect(plan.settled.get(0)).toEqual({ result: 'done', providerRuleId: null });
  });

  it('keeps its last entry where an empty list lets everybody in, and says so', () => {
    const claims = claiming('203.0.113.7/32', '203.0.113.8/32');
    const entries = ['203.0.113.7/32', '203.0.113.8/32'];
    const both = planRewrite(entries, entries.map(remove), claims, OPEN_WHEN_EMPTY);
    expect(both.entries).toEqual(['203.0.113.8/32']);
    expect(both.settled.get(1)).toMatchObject({ result: 'refused', kind: 'invalid' });
    const last = planRewrite(['203.0.113.8/32'], [remove('203.0.113.8/32')], claims, OPEN_WHEN_EMPTY);
    expect(last.entries).toBeNull();
    const another = [remove('203.0.113.8/32'), add('203.0.113.9/32')];
    expect(planRewrite(['203.0.113.8/32'], another, claims, OPEN_WHEN_EMPTY).entries).toEqual([
      '203.0.113.9',
    ]);
  });
});
