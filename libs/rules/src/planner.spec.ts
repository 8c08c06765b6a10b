import * as fc from 'fast-check';
import {
  judge,
  judgeUnreadable,
  planChanges,
  type DueRule,
  type PlannedChange,
  type Verdict,
} from './planner';
import { DRIVER_ERROR_KINDS, PASSING_KINDS, type ChangeResult, type ObservedRule } from './provider';

type Plan = typeof planChanges;
type Judge = typeof judge;

/** A cloud object: what stands in it, by the provider's own id. */
type Cloud = ReadonlyMap<string, ObservedRule>;

/** What a cloud does with a change. `lie` answers that it is done, and does nothing; `late` does it unseen. */
type Fate = 'done' | 'lie' | 'late' | 'lost' | (typeof DRIVER_ERROR_KINDS)[number];
interface World {
  readonly due: readonly DueRule[];
  readonly cloud: Cloud;
  /** by rule id; a rule that no change is planned for has none */
  readonly fates: ReadonlyMap<string, Fate>;
}

interface Slot {
  readonly wish: 'wanted' | 'expired' | 'unwanted' | 'not due';
  readonly inFlight: boolean;
  readonly foreign: boolean;
  readonly own: number;
  readonly fate: Fate;
}

const slot = (mostOwn: number): fc.Arbitrary<Slot> =>
  fc.record({
    wish: fc.constantFrom('wanted', 'expired', 'unwanted', 'not due'),
    inFlight: fc.boolean(),
    foreign: fc.boolean(),
    own: fc.nat({ max: mostOwn }),
    fate: fc.oneof(
      fc.constantFrom<Fate[]>('done', 'lie', 'late', 'lost'),
      fc.constantFrom<Fate[]>(...DRIVER_ERROR_KINDS),
    ),
  });

/** One key for each slot; a foreign rule may stand beside ours, before it or after it. */
function worldOf(slots: readonly Slot[], reversed: boolean): World {
  const named = slots.map((one, index) => ({
    ...one,
    key: `203.0.113.${index}/32 tcp 22`,
    ruleId: `rule-${index}`,
  }));
  const observed = named.flatMap(({ key, ruleId, foreign, own }) => [
    ...(foreign ? [{ key, providerRuleId: `foreign ${key}`, ownRuleId: null }] : []),
    ...Array.from({ length: own }, (_, copy) => ({
      key,
      providerRuleId: `own ${copy} ${key}`,
      ownRuleId: ruleId,
    })),
  ]);
  const due = named.flatMap(({ key, ruleId, wish, inFlight }) =>
    wish === 'not due'
      ? []
      : [{ ruleId, key, wanted: wish !== 'unwanted', mayOpen: wish === 'wanted', inFlight }],
  );
  return {
    due,
    cloud: new Map((reversed ? observed.toReversed() : observed).map((rule) => [rule.providerRuleId, rule])),
    fates: new Map(named.map(({ ruleId, fate }) => [ruleId, fate])),
  };
}

const worlds = (mostOwn = 1): fc.Arbitrary<World> =>
  fc
    .tuple(fc.array(slot(mostOwn), { maxLength: 6 }), fc.boolean())
    .map(([slots, reversed]) => worldOf(slots, reversed));

const PERFECT: World['fates'] = new Map();

function applied(
  cloud: Cloud,
  due: readonly DueRule[],
  changes: readonly PlannedChange[],
  fates: World['fates'],
): Cloud {
  const after = new Map(cloud);
  for (const change of changes) {
    if (!['done', 'late'].includes(fates.get(change.ruleId) ?? 'done')) continue;
    if (change.action === 'remove') {
      after.delete(change.providerRuleId);
      continue;
    }
    const key = due.find(({ ruleId }) => ruleId === change.ruleId)?.key ?? 'no such rule';
    after.set(`added ${change.ruleId}`, {
      key,
      providerRuleId: `added ${change.ruleId}`,
      ownRuleId: change.ruleId,
    });
  }
  return after;
}

function answered(change: PlannedChange, fates: World['fates']): ChangeResult {
  const fate = fates.get(change.ruleId) ?? 'done';
  if (fate === 'done' || fate === 'lie') return { result: 'done', providerRuleId: `added ${change.ruleId}` };
  if (fate === 'late' || fate === 'lost') return { result: 'unknown', message: 'no answer in time' };
  return { result: 'refused', kind: fate, message: `refused: ${fate}` };
}

const list = (cloud: Cloud): ObservedRule[] => [...cloud.values()];
const standing = (cloud: Cloud, key: string): ObservedRule[] =>
  list(cloud).filter((rule) => rule.key === key);
const ownStanding = (cloud: Cloud, key: string): ObservedRule[] =>
  standing(cloud, key).filter((rule) => rule.ownRuleId !== null);
const keyOf = (due: readonly DueRule[], change: PlannedChange): string =>
  due.find(({ ruleId }) => ruleId === change.ruleId)?.key ?? 'no such rule';

function isConverged(due: readonly DueRule[], cloud: Cloud): boolean {
  return due.every(({ key, wanted, mayOpen }) =>
    wanted ? !mayOpen || standing(cloud, key).length > 0 : ownStanding(cloud, key).length === 0,
  );
}

const planning = (holds: (plan: Plan, world: World) => boolean, mostOwn = 1) => {
  return (plan: Plan) => fc.property(worlds(mostOwn), (world) => holds(plan, world));
};

const PLAN_PROPERTIES = {
  'one perfect round converges': planning((plan, { due, cloud }) =>
    isConverged(due, applied(cloud, due, plan(due, list(cloud)), PERFECT)),
  ),
  'perfect rounds converge when several rules of ours stand under one key': planning(
    (plan, { due, cloud }) => {
      let now = cloud;
      for (let round = 0; round < 4; round += 1) now = applied(now, due, plan(due, list(now)), PERFECT);
      return isConverged(due, now);
    },
    4,
  ),
  'no foreign rule is removed': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) => change.action === 'add' || (cloud.get(change.providerRuleId)?.ownRuleId ?? null) !== null,
    ),
  ),
  'a rule is removed under its own key only': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) => change.action === 'add' || cloud.get(change.providerRuleId)?.key === keyOf(due, change),
    ),
  ),
  'no key is changed twice': planning((plan, { due, cloud }) => {
    const keys = plan(due, list(cloud)).map((change) => keyOf(due, change));
    return new Set(keys).size === keys.length;
  }, 3),
  'removals come first': planning((plan, { due, cloud }) => {
    const actions = plan(due, list(cloud)).map(({ action }) => action);
    return !actions.slice(Math.max(0, actions.indexOf('add'))).includes('remove') || !actions.includes('add');
  }),
  'nothing is planned once converged': planning((plan, { due, cloud }) => {
    const after = applied(cloud, due, planChanges(due, list(cloud)), PERFECT);
    return plan(due, list(after)).length === 0;
  }),
  'a rule that may not open is not added': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) =>
        change.action === 'remove' || due.some(({ ruleId, mayOpen }) => ruleId === change.ruleId && mayOpen),
    ),
  ),
  'what is not wanted is not added': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) =>
        change.action === 'remove' || due.some(({ ruleId, wanted }) => ruleId === change.ruleId && wanted),
    ),
  ),
  'what is wanted is not removed': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) =>
        change.action === 'add' || due.some(({ ruleId, wanted }) => ruleId === change.ruleId && !wanted),
    ),
  ),
  'what stands is not added again': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) => change.action === 'remove' || standing(cloud, keyOf(due, change)).length === 0,
    ),
  ),
};

const remove = ({ ruleId }: DueRule, { providerRuleId }: ObservedRule): PlannedChange => ({
  action: 'remove',
  ruleId,
  providerRuleId,
});
const underKey = (rule: DueRule, observed: readonly ObservedRule[]): ObservedRule | undefined =>
  observed.find(({ key }) => key === rule.key);

/** Planners with one fault each, and the property that is there to find it. */
const PLAN_MUTANTS: [string, keyof typeof PLAN_PROPERTIES, Plan][] = [
  [
    'removes foreign rules',
    'no foreign rule is removed',
    (due, observed) =>
      planChanges(
        due,
        observed.map((rule) => ({ ...rule, ownRuleId: rule.ownRuleId ?? 'ours' })),
      ),
  ],
  [
    'forgets what is not wanted',
    'one perfect round converges',
    (due, observed) => planChanges(due, observed).filter(({ action }) => action === 'add'),
  ],
  [
    'forgets what is wanted',
    'one perfect round converges',
    (due, observed) => planChanges(due, observed).filter(({ action }) => action === 'remove'),
  ],
  [
    'takes a foreign rule for the only one under its key',
    'one perfect round converges',
    (due, observed) =>
      planChanges(
        due,
        observed.filter(
          (rule) =>
            rule.ownRuleId === null ||
            !observed.some((other) => other.key === rule.key && other.ownRuleId === null),
        ),
      ),
  ],
  [
    'leaves the second of two rules of ours',
    'perfect rounds converge when several rules of ours stand under one key',
    (due, observed) =>
      planChanges(due, observed).filter(
        (change) =>
          change.action === 'add' || observed.filter(({ key }) => key === keyOf(due, change)).length === 1,
      ),
  ],
  [
    'removes another rule than the one under the key',
    'a rule is removed under its own key only',
    (due, observed) =>
      planChanges(due, observed).map((change) => {
        const other = observed.findLast(({ ownRuleId }) => ownRuleId !== null);
        return change.action === 'remove' && other
          ? { ...change, providerRuleId: other.providerRuleId }
          : change;
      }),
  ],
  [
    'writes anew what already stands',
    'no key is changed twice',
    (due, observed) => [
      ...planChanges(due, observed),
      ...due.flatMap((rule): PlannedChange[] => {
        const stands = observed.find(({ key, ownRuleId }) => key === rule.key && ownRuleId !== null);
        return rule.wanted && stands ? [remove(rule, stands), { action: 'add', ruleId: rule.ruleId }] : [];
      }),
    ],
  ],
  ['adds first', 'removals come first', (due, observed) => planChanges(due, observed).toReversed()],
  [
    'goes on after the end',
    'nothing is planned once converged',
    (due, observed) =>
      due.map(
        ({ ruleId }) =>
          planChanges(due, observed).find((change) => change.ruleId === ruleId) ?? { action: 'add', ruleId },
      ),
  ],
  [
    'opens what has expired',
    'a rule that may not open is not added',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, mayOpen: true })),
        observed,
      ),
  ],
  [
    'opens what nobody wants',
    'what is not wanted is not added',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, wanted: true, mayOpen: true })),
        observed,
      ),
  ],
  [
    'closes what has expired but is still held',
    'what is wanted is not removed',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, wanted: rule.wanted && rule.mayOpen })),
        observed,
      ),
  ],
  [
    'adds beside a foreign rule',
    'what stands is not added again',
    (due, observed) =>
      planChanges(
        due,
        observed.filter(({ ownRuleId }) => ownRuleId !== null),
      ),
  ],
  [
    'does not look before it adds',
    'what stands is not added again',
    (due, observed) =>
      due.flatMap((rule): PlannedChange[] => {
        const stands = underKey(rule, observed);
        if (rule.wanted) return rule.mayOpen ? [{ action: 'add', ruleId: rule.ruleId }] : [];
        return stands && stands.ownRuleId !== null ? [remove(rule, stands)] : [];
      }),
  ],
];

/** One round: what the driver said, what stood afterwards, and what was made of it. */
interface Round {
  readonly results: ReadonlyMap<string, ChangeResult>;
  readonly after: Cloud;
  readonly verdicts: readonly Verdict[];
}

function roundOf(world: World, judging: Judge): Round {
  const { due, cloud, fates } = world;
  const changes = planChanges(due, list(cloud));
  const after = applied(cloud, due, changes, fates);
  const results = new Map(changes.map((change) => [change.ruleId, answered(change, fates)]));
  return { results, after, verdicts: judging(due, results, list(after)) };
}

type JudgedRule = { rule: DueRule; verdict: Verdict; result: ChangeResult | undefined; after: Cloud };

const judging = (holds: (judged: JudgedRule) => boolean, fate?: Fate) => {
  return (subject: Judge) =>
    fc.property(worlds(2), (drawn) => {
      const fates = fate ? new Map(drawn.due.map(({ ruleId }) => [ruleId, fate])) : drawn.fates;
      const world = { ...drawn, fates };
      const { results, after, verdicts } = roundOf(world, subject);
      return verdicts.every((verdict) => {
        const rule = world.due.find(({ ruleId }) => ruleId === verdict.ruleId);
        return rule !== undefined && holds({ rule, verdict, result: results.get(rule.ruleId), after });
      });
    });
};

type Refusal = Extract<ChangeResult, { result: 'refused' }>;

const isFinalRefusal = (result: ChangeResult | undefined): result is Refusal =>
  result?.result === 'refused' && !PASSING_KINDS.has(result.kind);

const JUDGE_PROPERTIES = {
  'every rule gets one verdict, in the order given': (subject: Judge) =>
    fc.property(worlds(2), (world) => {
      const { verdicts } = roundOf(world, subject);
      return (
        JSON.stringify(verdicts.map(({ ruleId }) => ruleId)) ===
        JSON.stringify(world.due.map(({ ruleId }) => ruleId))
      );
    }),
  'absent: nothing of ours stands': judging(
    ({ rule, verdict, after }) => verdict.kind !== 'absent' || ownStanding(after, rule.key).length === 0,
  ),
  'absent: nothing is in flight': judging(
    ({ rule, verdict, result }) =>
      verdict.kind !== 'absent' || (!rule.inFlight && result?.result !== 'unknown'),
  ),
  'absent: not wanted': judging(({ rule, verdict }) => verdict.kind !== 'absent' || !rule.wanted),
  'present: wanted, and seen': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'present' || (rule.wanted && after.get(verdict.providerRuleId)?.key === rule.key),
  ),
  'present: foreign exactly when nothing of ours stands': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'present' || verdict.foreign === (ownStanding(after, rule.key).length === 0),
  ),
  'failed: wanted, refused for good, and not standing': judging(
    ({ rule, verdict, result, after }) =>
      verdict.kind !== 'failed' ||
      (rule.wanted && isFinalRefusal(result) && standing(after, rule.key).length === 0),
  ),
  'refused for good and not standing: failed, in the cloud’s words': judging(
    ({ rule, verdict, result, after }) =>
      !rule.wanted ||
      !isFinalRefusal(result) ||
      standing(after, rule.key).length > 0 ||
      (verdict.kind === 'failed' && verdict.message === result.message),
  ),
  'an unknown result settles nothing that was not seen': judging(
    ({ verdict, result }) =>
      result?.result !== 'unknown' ||
      verdict.kind === 'present' ||
      (verdict.kind === 'retry' && verdict.unknown),
  ),
  'a perfect round settles everything that nothing is in flight for': judging(
    ({ rule, verdict, after }) =>
      (rule.wanted ? !rule.mayOpen : rule.inFlight || ownStanding(after, rule.key).length > 0) ||
      verdict.kind === (rule.wanted ? 'present' : 'absent'),
    'done',
  ),
};

const mapped =
  (
    change: (
      verdict: Verdict,
      rule: DueRule,
      result: ChangeResult | undefined,
      observed: readonly ObservedRule[],
    ) => Verdict,
  ): Judge =>
  (due, results, observed) =>
    judge(due, results, observed).map((verdict, index) =>
      change(verdict, due[index]!, results.get(verdict.ruleId), observed),
    );

const presentAs = (rule: DueRule): Verdict => ({
  ruleId: rule.ruleId,
  kind: 'present',
  providerRuleId: `added ${rule.ruleId}`,
  foreign: false,
});

/** Judges with one fault each, and the property that is there to find it. */
const JUDGE_MUTANTS: [string, keyof typeof JUDGE_PROPERTIES, Judge][] = [
  [
    'forgets what needed no change',
    'every rule gets one verdict, in the order given',
    (due, results, observed) =>
      judge(
        due.filter(({ ruleId }) => results.has(ruleId)),
        results,
        observed,
      ),
  ],
  [
    'sorts removals to the front',
    'every rule gets one verdict, in the order given',
    (due, results, observed) =>
      judge(
        due.toSorted((one, other) => Number(one.wanted) - Number(other.wanted)),
        results,
        observed,
      ),
  ],
  [
    'trusts the answer to a removal instead of the look',
    'absent: nothing of ours stands',
    mapped((verdict, rule, result) =>
      !rule.wanted && result?.result === 'done' ? { ruleId: rule.ruleId, kind: 'absent' } : verdict,
    ),
  ],
  [
    'looks at the first rule under the key only',
    'absent: nothing of ours stands',
    mapped((verdict, rule, _result, observed) =>
      !rule.wanted && !rule.inFlight && underKey(rule, observed)?.ownRuleId === null
        ? { ruleId: rule.ruleId, kind: 'absent' }
        : verdict,
    ),
  ],
  [
    'forgets what is in flight',
    'absent: nothing is in flight',
    (due, results, observed) =>
      judge(
        due.map((rule) => ({ ...rule, inFlight: false })),
        results,
        observed,
      ),
  ],
  [
    'takes what expired for closed',
    'absent: not wanted',
    mapped((verdict, rule) =>
      rule.wanted && !rule.mayOpen && verdict.kind === 'retry'
        ? { ruleId: rule.ruleId, kind: 'absent' }
        : verdict,
    ),
  ],
  [
    'trusts the answer to an add instead of the look',
    'present: wanted, and seen',
    mapped((verdict, rule, result) => (rule.wanted && result?.result === 'done' ? presentAs(rule) : verdict)),
  ],
  [
    'calls open what is to be closed',
    'present: wanted, and seen',
    (due, results, observed) =>
      judge(
        due.map((rule) => ({ ...rule, wanted: true })),
        results,
        observed,
      ),
  ],
  [
    'takes every rule for ours',
    'present: foreign exactly when nothing of ours stands',
    mapped((verdict) => (verdict.kind === 'present' ? { ...verdict, foreign: false } : verdict)),
  ],
  [
    'gives a removal up',
    'failed: wanted, refused for good, and not standing',
    mapped((verdict, rule, result) =>
      !rule.wanted && isFinalRefusal(result)
        ? { ruleId: rule.ruleId, kind: 'failed', message: result.message }
        : verdict,
    ),
  ],
  [
    'gives up when it is told to slow down',
    'failed: wanted, refused for good, and not standing',
    mapped((verdict, rule, result) =>
      rule.wanted && result?.result === 'refused' && verdict.kind === 'retry'
        ? { ruleId: rule.ruleId, kind: 'failed', message: result.message }
        : verdict,
    ),
  ],
  [
    'never gives up',
    'refused for good and not standing: failed, in the cloud’s words',
    mapped((verdict) =>
      verdict.kind === 'failed'
        ? { ruleId: verdict.ruleId, kind: 'retry', message: verdict.message, unknown: false }
        : verdict,
    ),
  ],
  [
    'hides why the cloud refused',
    'refused for good and not standing: failed, in the cloud’s words',
    mapped((verdict) => (verdict.kind === 'failed' ? { ...verdict, message: 'failed' } : verdict)),
  ],
  [
    'takes no answer for success',
    'an unknown result settles nothing that was not seen',
    mapped((verdict, rule, result) =>
      !rule.wanted && !rule.inFlight && result?.result === 'unknown'
        ? { ruleId: rule.ruleId, kind: 'absent' }
        : verdict,
    ),
  ],
  [
    'takes no answer for failure',
    'an unknown result settles nothing that was not seen',
    mapped((verdict, rule, result) =>
      rule.wanted && verdict.kind === 'retry' && result?.result === 'unknown'
        ? { ruleId: rule.ruleId, kind: 'failed', message: result.message }
        : verdict,
    ),
  ],
  [
    'does not say that a call is in flight',
    'an unknown result settles nothing that was not seen',
    mapped((verdict) => (verdict.kind === 'retry' ? { ...verdict, unknown: false } : verdict)),
  ],
  [
    'never settles',
    'a perfect round settles everything that nothing is in flight for',
    (due) => due.map(({ ruleId }) => ({ ruleId, kind: 'retry', message: null, unknown: false })),
  ],
  [
    'takes a foreign rule for ours that is still to go',
    'a perfect round settles everything that nothing is in flight for',
    mapped((verdict, rule, _result, observed) =>
      verdict.kind === 'absent' && underKey(rule, observed)
        ? { ruleId: rule.ruleId, kind: 'retry', message: null, unknown: false }
        : verdict,
    ),
  ],
];

const RUNS = { numRuns: 1000 };
/** The search ends at the first counterexample: many runs cost nothing, and leave nothing to luck. */
const SEARCH = { numRuns: 20_000 };
const entries = <T extends object>(of: T): [keyof T & string, T[keyof T]][] =>
  Object.entries(of) as [keyof T & string, T[keyof T]][];

describe('planning', () => {
  it.each(entries(PLAN_PROPERTIES))('%s', (_name, property) => {
    expect(fc.check(property(planChanges), RUNS)).toMatchObject({ failed: false });
  });

  it.each(PLAN_MUTANTS)('a planner that %s breaks "%s"', (_fault, name, mutant) => {
    expect(fc.check(PLAN_PROPERTIES[name](mutant), SEARCH).failed).toBe(true);
  });

  it('has a planted fault for every property', () => {
    expect(new Set(PLAN_MUTANTS.map(([, name]) => name))).toEqual(new Set(Object.keys(PLAN_PROPERTIES)));
  });

  it('opens, closes and leaves alone', () => {
    const rule = (ruleId: string, wanted: boolean): DueRule => ({
      ruleId,
      key: ruleId,
      wanted,
      mayOpen: wanted,
      inFlight: false,
    });
    const due = [
      rule('new', true),
      rule('stands', true),
      rule('old', false),
      rule('gone', false),
      rule('foreign', false),
      rule('let in', true),
    ];
    const observed = [
      { key: 'stands', providerRuleId: 'sgr-1', ownRuleId: 'stands' },
      { key: 'old', providerRuleId: 'sgr-2', ownRuleId: 'old' },
      { key: 'foreign', providerRuleId: 'sgr-3', ownRuleId: null },
      { key: 'let in', providerRuleId: 'sgr-4', ownRuleId: null },
      { key: 'nobody asked', providerRuleId: 'sgr-5', ownRuleId: 'not due' },
    ];
    expect(planChanges(due, observed)).toEqual([
      { action: 'remove', ruleId: 'old', providerRuleId: 'sgr-2' },
      { action: 'add', ruleId: 'new' },
    ]);
  });
});

describe('judging', () => {
  it.each(entries(JUDGE_PROPERTIES))('%s', (_name, property) => {
    expect(fc.check(property(judge), RUNS)).toMatchObject({ failed: false });
  });

  it.each(JUDGE_MUTANTS)('a judge that %s breaks "%s"', (_fault, name, mutant) => {
    expect(fc.check(JUDGE_PROPERTIES[name](mutant), SEARCH).failed).toBe(true);
  });

  it('has a planted fault for every property', () => {
    expect(new Set(JUDGE_MUTANTS.map(([, name]) => name))).toEqual(new Set(Object.keys(JUDGE_PROPERTIES)));
  });
});

describe('a cloud object that cannot be read', () => {
  const wanted: DueRule = { ruleId: 'wanted', key: 'a', wanted: true, mayOpen: true, inFlight: false };
  const unwanted: DueRule = { ruleId: 'unwanted', key: 'b', wanted: false, mayOpen: false, inFlight: true };

  it.each(['throttled', 'transient', 'conflict'] as const)('%s: everything is tried again', (kind) => {
    expect(judgeUnreadable([wanted, unwanted], kind, 'why')).toEqual([
      { ruleId: 'wanted', kind: 'retry', message: 'why', unknown: false },
      { ruleId: 'unwanted', kind: 'retry', message: 'why', unknown: false },
    ]);
  });

  it.each(['denied', 'target-missing', 'quota', 'invalid'] as const)(
    '%s: adding fails, removing is tried again',
    (kind) => {
      expect(judgeUnreadable([unwanted, wanted], kind, 'why')).toEqual([
        { ruleId: 'unwanted', kind: 'retry', message: 'why', unknown: false },
        { ruleId: 'wanted', kind: 'failed', message: 'why' },
      ]);
    },
  );

  it.each([
    ['gone for half a minute: what is to be out is out', 'target-missing', 30_000, false, 'absent'],
    ['gone for less: looked for again', 'target-missing', 29_999, false, 'retry'],
    [
      'gone, with a call under way that may still land: looked for again',
      'target-missing',
      60_000,
      true,
      'retry',
    ],
    ['closed to us for however long: looked for again', 'denied', 60_000, false, 'retry'],
  ] as const)('%s', (_, kind, missingMs, inFlight, verdict) => {
    const rule = { ...unwanted, inFlight };
    expect(judgeUnreadable([rule], kind, 'why', new Map([['unwanted', missingMs]]))[0]!.kind).toBe(verdict);
  });

  it('has a consequence for every kind of error', () => {
    expect(new Set(DRIVER_ERROR_KINDS)).toEqual(
      new Set([...PASSING_KINDS, 'denied', 'target-missing', 'quota', 'invalid']),
    );
  });
});

describe('a rule that was seen, and is not shown', () => {
  const rule: DueRule = {
    ruleId: 'rule',
    key: '203.0.113.1/32 tcp 22',
    wanted: false,
    mayOpen: false,
    inFlight: false,
    seenAs: 'sgr-1',
  };
  const answer = (result: ChangeResult): ReadonlyMap<string, ChangeResult> =>
    new Map([[rule.ruleId, result]]);

  it('is removed by its id all the same, unless a foreign one stands in its place', () => {
    expect(planChanges([rule], [])).toEqual([{ action: 'remove', ruleId: 'rule', providerRuleId: 'sgr-1' }]);
    expect(planChanges([{ ...rule, wanted: true, mayOpen: true }], [])).toEqual([
      { action: 'add', ruleId: 'rule' },
    ]);
    const foreign = { key: rule.key, providerRuleId: 'sgr-9', ownRuleId: null };
    expect(planChanges([rule], [foreign])).toEqual([]);
  });

  it('is not removed again while an earlier call may still land: that is waited for, and ends', () => {
    expect(planChanges([{ ...rule, inFlight: true }], [])).toEqual([]);
    const stands = { key: rule.key, providerRuleId: 'sgr-1', ownRuleId: rule.ruleId };
    expect(planChanges([{ ...rule, inFlight: true }], [stands])).toHaveLength(1);
  });

  it('is absent when the removal is done, and looked at again while the cloud puts it off', () => {
    const put = (kind: 'throttled' | 'conflict' | 'invalid'): string =>
      judge([rule], answer({ result: 'refused', kind, message: '' }), [])[0]!.kind;
    expect(judge([rule], answer({ result: 'done', providerRuleId: null }), [])[0]!.kind).toBe('absent');
    expect([put('throttled'), put('conflict'), put('invalid')]).toEqual(['retry', 'retry', 'absent']);
  });

  it('was added and is not shown: it may stand, and is waited for', () => {
    const wanted = { ...rule, wanted: true, mayOpen: true, seenAs: null };
    expect(judge([wanted], answer({ result: 'done', providerRuleId: 'sgr-1' }), [])[0]).toMatchObject({
      kind: 'retry',
      unknown: true,
    });
  });
});

describe('A rule of ours that stands without being in force', () => {
  const key = '203.0.113.7/32 tcp 22';
  const bent: ObservedRule = { key, providerRuleId: 'bent', ownRuleId: 'rule', inForce: false };
  const due = (wanted: boolean): DueRule => ({ ruleId: 'rule', key, wanted, mayOpen: true, inFlight: false });

  it('is written again while it is wanted, and is not there until then', () => {
    expect(planChanges([due(true)], [bent])).toEqual([{ action: 'add', ruleId: 'rule' }]);
    expect(judge([due(true)], new Map(), [bent])).toMatchObject([{ kind: 'retry' }]);
    expect(judge([due(true)], new Map(), [{ key, providerRuleId: 'bent', ownRuleId: 'rule' }])).toMatchObject(
      [{ kind: 'present' }],
    );
  });

  it('counts as there while it is not wanted, and is removed', () => {
    expect(planChanges([due(false)], [bent])).toEqual([
      { action: 'remove', ruleId: 'rule', providerRuleId: 'bent' },
    ]);
    expect(judge([due(false)], new Map(), [bent])).toMatchObject([{ kind: 'retry' }]);
    expect(judge([due(false)], new Map(), [])).toMatchObject([{ kind: 'absent' }]);
  });

  it('is not needed beside a rule of others that lets the address in', () => {
    const foreign: ObservedRule = { key, providerRuleId: 'office', ownRuleId: null };
    expect(planChanges([due(true)], [foreign, bent])).toEqual([]);
    expect(judge([due(true)], new Map(), [foreign, bent])).toMatchObject([
      { kind: 'present', foreign: true },
    ]);
  });
});
