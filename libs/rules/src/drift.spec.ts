import * as fc from 'fast-check';
import { findDrift, superfluous, type Drift, type KnownRule } from './drift';
import type { ObservedRule } from './provider';

const KEYS = ['10.0.0.1/32 tcp 22', '10.0.0.2/32 tcp 22', '10.0.0.3/32 tcp 22', '2001:db8::1/128 all *'];

const known: fc.Arbitrary<KnownRule[]> = fc
  .uniqueArray(
    fc.record({
      key: fc.constantFrom(...KEYS),
      state: fc.constantFrom('absent', 'unknown', 'present'),
      wanted: fc.boolean(),
      isForeign: fc.boolean(),
      providerRuleId: fc.option(fc.constantFrom('sgr-0', 'sgr-1', 'sgr-old')),
    }),
    { selector: (rule) => rule.key },
  )
  .map((rules) => rules.map((rule) => ({ ruleId: `id of ${rule.key}`, ...rule })));

const observed: fc.Arbitrary<ObservedRule[]> = fc
  .array(fc.record({ key: fc.constantFrom(...KEYS), own: fc.boolean() }), { maxLength: 6 })
  .map((rules) =>
    rules.map(({ key, own }, index) => ({
      key,
      providerRuleId: `sgr-${index}`,
      ownRuleId: own ? `owner of ${key}` : null,
    })),
  );

type Compare = typeof findDrift;

/** What acting on the drift would make of the cloud: the wanted stand, ours that are unwanted do not, foreign ones stay. */
const mends = (compare: Compare): fc.IProperty<unknown[]> =>
  fc.property(known, observed, (rules, seen) => {
    const drift: Drift = compare(rules, seen);
    const byKey = new Map(rules.map((rule) => [rule.key, rule]));
    const added = new Set(drift.missing.map((id) => rules.find((rule) => rule.ruleId === id)!.key));
    const removed = new Set([
      ...drift.lingering.map((id) => rules.find((rule) => rule.ruleId === id)!.key),
      ...drift.orphans.map((rule) => rule.key),
    ]);
    return KEYS.every((key) => {
      const rule = byKey.get(key);
      const stands = seen.filter((one) => one.key === key);
      const ours = stands.some((one) => one.ownRuleId !== null);
      // being settled, or believed to stand and to be removed: not drift
      if (rule?.state === 'unknown' || (rule && !rule.wanted && rule.state === 'present')) {
        return !added.has(key) && !removed.has(key);
      }
      const wanted = rule?.wanted ?? false;
      const lost = wanted && rule!.state === 'present' && stands.length === 0;
      return added.has(key) === lost && removed.has(key) === (!wanted && ours);
    });
  });

describe('findDrift', () => {
  it('finds what is to be added and removed again, and nothing else', () => {
    expect(fc.check(mends(findDrift), { numRuns: 5000 })).toMatchObject({ failed: false });
  });

  it('misses a wanted rule that stands without being in force, and knows an unwanted one for ours', () => {
    const bent = (key: string): ObservedRule => ({
      key,
      providerRuleId: key,
      ownRuleId: 'x',
      inForce: false,
    });
    const believed = { isForeign: false, providerRuleId: null };
    const rules: KnownRule[] = [
      { ...believed, ruleId: 'wanted', key: KEYS[0]!, state: 'present', wanted: true },
      { ...believed, ruleId: 'unwanted', key: KEYS[1]!, state: 'absent', wanted: false },
    ];
    expect(findDrift(rules, [bent(KEYS[0]!), bent(KEYS[1]!), bent(KEYS[2]!)])).toEqual({
      missing: ['wanted'],
      lingering: ['unwanted'],
      orphans: [bent(KEYS[2]!)],
      taken: [],
      renamed: [],
      foreign: 0,
    });
  });

  it('counts the rules of others', () => {
    const foreign = { key: KEYS[0]!, providerRuleId: 'sgr-1', ownRuleId: null };
    expect(findDrift([], [foreign])).toEqual({
      missing: [],
      lingering: [],
      orphans: [],
      taken: [],
      renamed: [],
      foreign: 1,
    });
  });

  const held: KnownRule = {
    ruleId: 'rule',
    key: KEYS[0]!,
    state: 'present',
    wanted: true,
    isForeign: false,
    providerRuleId: 'sgr-1',
  };

  it.each<[string, KnownRule, string | null, Partial<Drift>]>([
    ['nothing of a rule that stands as it was', held, 'mark', { taken: [], renamed: [] }],
    ['a rule that lost our mark', held, null, { taken: ['rule'], renamed: [], missing: [] }],
    ['nothing of one that was foreign before', { ...held, isForeign: true }, null, { taken: [] }],
    ['nothing of one that nobody wants', { ...held, wanted: false }, null, { taken: [] }],
    [
      'a rule that was made anew',
      { ...held, providerRuleId: 'sgr-0' },
      'mark',
      { renamed: [{ ruleId: 'rule', providerRuleId: 'sgr-1' }], missing: [] },
    ],
  ])('tells %s', (_, believed, ownRuleId, expected) => {
    expect(findDrift([believed], [{ key: held.key, providerRuleId: 'sgr-1', ownRuleId }])).toMatchObject(
      expected,
    );
  });

  it('finds what takes room for nobody: ours that are unwanted or unknown, whatever is believed of them', () => {
    const rules = KEYS.map((key, index) => ({ ...held, key, ruleId: `rule-${index}`, wanted: index === 0 }));
    const believed: KnownRule[] = [rules[0]!, rules[1]!, { ...rules[2]!, state: 'absent' }];
    const seen = KEYS.map((key, index) => ({ key, providerRuleId: `sgr-${index}`, ownRuleId: 'mark' }));
    const foreign = { key: 'other', providerRuleId: 'sgr-9', ownRuleId: null };
    expect(superfluous(believed, [...seen, foreign])).toEqual([
      { ruleId: 'rule-1', providerRuleId: 'sgr-1' },
      { ruleId: null, providerRuleId: 'sgr-2' },
      { ruleId: null, providerRuleId: 'sgr-3' },
    ]);
  });

  it.each<[string, Compare]>([
    [
      'takes foreign rules for orphans',
      (rules, seen) => ({
        ...findDrift(rules, seen),
        orphans: seen.filter((one) => !rules.some((rule) => rule.key === one.key)),
      }),
    ],
    ['forgets orphans', (rules, seen) => ({ ...findDrift(rules, seen), orphans: [] })],
    [
      'takes a rule for missing that a foreign hand keeps open',
      (rules, seen) =>
        findDrift(
          rules,
          seen.filter((one) => one.ownRuleId !== null),
        ),
    ],
    [
      'removes what is wanted',
      (rules, seen) => ({
        ...findDrift(rules, seen),
        lingering: rules
          .filter((rule) => seen.some((one) => one.key === rule.key && one.ownRuleId !== null))
          .map((rule) => rule.ruleId),
      }),
    ],
    ['believes the database', (rules, seen) => ({ ...findDrift(rules, seen), missing: [] })],
  ])('a comparison that %s is caught', (_fault, mutant) => {
    expect(fc.check(mends(mutant), { numRuns: 20_000 }).failed).toBe(true);
  });
});
