import * as fc from 'fast-check';
import { findDrift, unwantedRules, type Drift, type KnownRule } from './drift';
import type { ObservedRule } from './provider';

const KEYS = ['10.0.0.1/32 tcp 22', '10.0.0.2/32 tcp 22', '10.0.0.3/32 tcp 22', '2001:db8::1/128 all *'];

const known: fc.Arbitrary<KnownRule[]> = fc
  .uniqueArray(
    fc.record({
      key: fc.constantFrom(...KEYS),
      state: fc.constantFrom('absent', 'unknown', 'present'),
      desired: fc.boolean(),
      isUnmanaged: fc.boolean(),
      isSuspended: fc.boolean(),
      isMissing: fc.boolean(),
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

const NO_DRIFT: Drift = {
  missing: [],
  changed: [],
  stale: [],
  orphans: [],
  taken: [],
  renamed: [],
  withoutEffect: [],
  effective: [],
  unmanaged: [],
};

const unwanted = (rule: KnownRule): KnownRule => ({ ...rule, desired: false });

/** Acting on the drift makes desired rules present, removes unwanted own rules and leaves unmanaged ones. */
const repairs = (compare: Compare): fc.IProperty<unknown[]> =>
  fc.property(known, observed, (rules, seen) => {
    const drift: Drift = compare(rules, seen);
    const byKey = new Map(rules.map((rule) => [rule.key, rule]));
    const added = new Set(drift.missing.map((id) => rules.find((rule) => rule.ruleId === id)!.key));
    const removed = new Set([
      ...drift.stale.map((id) => rules.find((rule) => rule.ruleId === id)!.key),
      ...drift.orphans.map((rule) => rule.key),
    ]);
    const owned = new Map(
      rules.flatMap((rule) =>
        rule.isUnmanaged || rule.state === 'absent' ? [] : [[rule.providerRuleId, rule] as const],
      ),
    );
    const changed = new Set(drift.changed.map(({ ruleId }) => ruleId));
    return KEYS.every((key) => {
      const rule = byKey.get(key);
      const present = seen.filter((one) => one.key === key);
      const marked = present.filter((one) => one.ownRuleId !== null);
      // what another program changed to this key is a known rule still
      const ours = marked.length > 0 && (rule !== undefined || !owned.has(marked.at(-1)!.providerRuleId));
      // rules in state unknown or due for removal are not drift
      if (rule?.state === 'unknown' || (rule && !rule.desired && rule.state === 'present')) {
        return !added.has(key) && !removed.has(key);
      }
      const desired = rule?.desired ?? false;
      if (rule && changed.has(rule.ruleId)) return !added.has(key) && !removed.has(key);
      const lost = desired && rule!.state === 'present' && present.length === 0;
      return added.has(key) === lost && removed.has(key) === (!desired && ours);
    });
  });

describe('findDrift', () => {
  const held: KnownRule = {
    ruleId: 'rule',
    key: KEYS[0]!,
    state: 'present',
    desired: true,
    isUnmanaged: false,
    isSuspended: false,
    isMissing: false,
    providerRuleId: 'sgr-1',
  };

  it('finds exactly the rules to add and to remove', () => {
    expect(fc.check(repairs(findDrift), { numRuns: 5000 })).toMatchObject({ failed: false });
  });

  it('treats a rule that is not in force as missing if desired, and as present if unwanted', () => {
    const inactive = (key: string): ObservedRule => ({
      key,
      providerRuleId: key,
      ownRuleId: 'x',
      inForce: false,
    });
    const rules: KnownRule[] = [
      { ...held, ruleId: 'desired', providerRuleId: null },
      { ...held, ruleId: 'unwanted', key: KEYS[1]!, state: 'absent', desired: false, providerRuleId: null },
    ];
    expect(findDrift(rules, [inactive(KEYS[0]!), inactive(KEYS[1]!), inactive(KEYS[2]!)])).toEqual({
      ...NO_DRIFT,
      missing: ['desired'],
      stale: ['unwanted'],
      orphans: [inactive(KEYS[2]!)],
    });
  });

  it('returns unmanaged rules', () => {
    const unmanaged = { key: KEYS[0]!, providerRuleId: 'sgr-1', ownRuleId: null };
    expect(findDrift([], [unmanaged])).toEqual({ ...NO_DRIFT, unmanaged: [unmanaged] });
  });

  it('returns a desired rule without effect with the reason, and a suspended one that has an effect again', () => {
    const ours = { key: held.key, providerRuleId: 'sgr-1', ownRuleId: 'rule' };
    const blocked = { ...ours, noEffect: 'blocked by deny-all' };
    const withoutEffect = [{ ruleId: 'rule', message: 'blocked by deny-all' }];
    expect(findDrift([held], [blocked])).toEqual({ ...NO_DRIFT, withoutEffect });
    expect(findDrift([{ ...held, desired: false }], [blocked])).toEqual(NO_DRIFT);
    const other = { ...ours, providerRuleId: 'sgr-9', ownRuleId: null };
    expect(findDrift([held], [blocked, other])).toMatchObject({ withoutEffect: [] });
    const suspended = { ...held, isSuspended: true };
    expect(findDrift([suspended], [blocked])).toEqual({ ...NO_DRIFT, withoutEffect });
    expect(findDrift([suspended], [ours])).toEqual({ ...NO_DRIFT, effective: ['rule'] });
  });

  const bare: ObservedRule = { key: KEYS[0]!, providerRuleId: 'sgr-1', ownRuleId: null };
  const TAKEN = { taken: ['rule'], renamed: [], missing: [] };
  const RENAMED = { renamed: [{ ruleId: 'rule', providerRuleId: 'sgr-1' }], missing: [] };

  it.each<[string, Partial<KnownRule>, string | null, Partial<Drift>]>([
    ['no drift for an unchanged rule', {}, 'mark', NO_DRIFT],
    ['no drift for a rule under its recorded id, without our mark', {}, null, NO_DRIFT],
    ['a rule replaced by an unmanaged one as taken', { providerRuleId: 'sgr-0' }, null, TAKEN],
    [
      'a rule without recorded id, replaced by an unmanaged one, as taken',
      { providerRuleId: null },
      null,
      TAKEN,
    ],
    ['no taken rule for one recorded as unmanaged', { isUnmanaged: true }, null, { taken: [] }],
    ['no taken rule for an unwanted one', { desired: false, providerRuleId: 'sgr-0' }, null, { taken: [] }],
    ['a recreated rule as renamed', { providerRuleId: 'sgr-0' }, 'mark', RENAMED],
  ])('reports %s', (_, recorded, ownRuleId, expected) => {
    expect(findDrift([{ ...held, ...recorded }], [{ ...bare, ownRuleId }])).toMatchObject(expected);
  });

  it.each<[string, KnownRule, boolean]>([
    ['is not unmanaged under its recorded id', held, false],
    ['is unmanaged under another id', { ...held, providerRuleId: 'sgr-0' }, true],
    ['is unmanaged when recorded as unmanaged', { ...held, isUnmanaged: true }, true],
    ['is unmanaged without a recorded id', { ...held, providerRuleId: null }, true],
  ])('a rule without our mark under the key of a known rule %s', (_, recorded, isUnmanaged) => {
    expect(findDrift([recorded], [bare]).unmanaged).toEqual(isUnmanaged ? [bare] : []);
  });

  describe('for a rule that another program changed', () => {
    const everybody = '0.0.0.0/0 tcp 22';
    const now = { key: everybody, providerRuleId: 'sgr-1', ownRuleId: 'rule' };
    const changed = [{ ruleId: 'rule', changedTo: `it lets in ${everybody}` }];

    it('reports what it does, with or without our mark: it is neither missing nor an orphan nor unmanaged', () => {
      for (const ownRuleId of ['rule', 'forgotten', null])
        expect(findDrift([held], [{ ...now, ownRuleId }])).toEqual({ ...NO_DRIFT, changed });
    });

    it('reports it when its own traffic is let in, too, and by the provider’s word alone', () => {
      const own = { key: held.key, providerRuleId: 'sgr-1', ownRuleId: 'rule' };
      expect(findDrift([held], [own, now])).toEqual({
        ...NO_DRIFT,
        changed: [{ ...changed[0], changedTo: `it lets in ${everybody} too` }],
      });
      const difference = 'it lets in instances with web too';
      expect(findDrift([held], [{ ...own, difference }])).toEqual({
        ...NO_DRIFT,
        changed: [{ ...changed[0], changedTo: difference }],
      });
    });

    it('reports it until a read shows it as it was written', () => {
      const written: KnownRule = { ...held, state: 'unknown', isMissing: true };
      expect(findDrift([written], [now]).changed).toEqual(changed);
    });

    it('counts an unwanted one among those to remove, and none that is desired', () => {
      expect(findDrift([{ ...held, desired: false }], [now])).toEqual(NO_DRIFT);
      expect(unwantedRules([{ ...held, desired: false }], [now])).toEqual([now]);
      expect(unwantedRules([held], [now])).toEqual([]);
    });

    it('returns a copy, and one whose rule is not known or absent, as an orphan', () => {
      const repaired = { key: held.key, providerRuleId: 'sgr-2', ownRuleId: 'rule' };
      const orphaned = { ...NO_DRIFT, orphans: [now] };
      expect(findDrift([{ ...held, providerRuleId: 'sgr-2' }], [now, repaired])).toEqual(orphaned);
      expect(findDrift([], [now])).toEqual(orphaned);
      expect(findDrift([{ ...held, state: 'absent' }], [now])).toEqual(orphaned);
    });

    it('knows no unmanaged rule as changed', () => {
      expect(findDrift([{ ...held, isUnmanaged: true }], [{ ...now, ownRuleId: null }]).changed).toEqual([]);
    });
  });

  it('returns a rule recorded as absent and present with our mark as stale, and not one without it', () => {
    const gone: KnownRule = { ...held, desired: false, state: 'absent', providerRuleId: null };
    const back = { key: held.key, providerRuleId: 'sgr-2', ownRuleId: 'rule' };
    expect(findDrift([gone], [back])).toEqual({ ...NO_DRIFT, stale: ['rule'] });
    expect(findDrift([gone], [{ ...back, ownRuleId: null }]).stale).toEqual([]);
  });

  it('unwantedRules returns unwanted and unknown rules of ours, whatever their recorded state', () => {
    const rules = KEYS.map((key, index) => ({
      ...held,
      key,
      ruleId: `rule-${index}`,
      desired: index === 0,
      providerRuleId: `sgr-${index}`,
    }));
    const recorded: KnownRule[] = [rules[0]!, rules[1]!, { ...rules[2]!, state: 'absent' }];
    const seen = KEYS.map((key, index) => ({ key, providerRuleId: `sgr-${index}`, ownRuleId: 'mark' }));
    const unmanaged = { key: 'other', providerRuleId: 'sgr-9', ownRuleId: null };
    expect(unwantedRules(recorded, [...seen, unmanaged])).toEqual(seen.slice(1));
  });

  it.each<[string, KnownRule, boolean]>([
    ['is returned when it has its recorded id', { ...held, desired: false }, true],
    ['is not returned while it is desired', held, false],
    ['is not returned under another id', { ...held, desired: false, providerRuleId: 'sgr-0' }, false],
    ['is not returned without a recorded id', { ...held, desired: false, providerRuleId: null }, false],
    ['is not returned when recorded as unmanaged', { ...held, desired: false, isUnmanaged: true }, false],
  ])('unwantedRules: a rule without our mark %s', (_, recorded, isUnwanted) => {
    expect(unwantedRules([recorded], [bare])).toEqual(isUnwanted ? [bare] : []);
  });

  it.each<[string, Compare]>([
    ['ignores missing rules', (rules, seen) => ({ ...findDrift(rules, seen), missing: [] })],
    ['ignores orphans', (rules, seen) => ({ ...findDrift(rules, seen), orphans: [] })],
    ['returns desired rules as stale', (rules, seen) => findDrift(rules.map(unwanted), seen)],
  ])('a comparison that %s is detected', (_bug, mutant) => {
    expect(fc.check(repairs(mutant), { numRuns: 20_000 }).failed).toBe(true);
  });
});
