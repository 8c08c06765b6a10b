import * as fc from 'fast-check';
import { ADDITION_CAUSES, REMOVAL_CAUSES, type AdditionCause, type RemovalCause } from './cause';
import {
  claimsOf,
  judge,
  judgeUnreadable,
  planChanges,
  type DueRule,
  type PlannedChange,
  type Verdict,
} from './planner';
import { DRIVER_ERROR_KINDS, RETRYABLE_KINDS, type ChangeResult, type ObservedRule } from './provider';

type Plan = (due: readonly DueRule[], observed: readonly ObservedRule[]) => PlannedChange[];
type Judge = (
  due: readonly DueRule[],
  results: ReadonlyMap<string, ChangeResult>,
  observed: readonly ObservedRule[],
) => Verdict[];

/** A target: what stands in it, by the provider's own id. */
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
  readonly wish: 'desired' | 'expired' | 'unwanted' | 'not due';
  readonly inFlight: boolean;
  readonly unmanaged: boolean;
  readonly own: number;
  /** the first of ours carries our mark, and so does one that was changed under its id */
  readonly marked: boolean;
  /** under which id it was seen: that of the first of ours, one that is gone, or one that lets in something else now */
  readonly seen: 'never' | 'as the first' | 'gone' | 'changed';
  readonly addCause: AdditionCause;
  readonly removeCause: RemovalCause;
  readonly fate: Fate;
}

const slot = (maxOwn: number): fc.Arbitrary<Slot> =>
  fc.record({
    wish: fc.constantFrom('desired', 'expired', 'unwanted', 'not due'),
    inFlight: fc.boolean(),
    unmanaged: fc.boolean(),
    own: fc.nat({ max: maxOwn }),
    marked: fc.boolean(),
    seen: fc.constantFrom('never', 'as the first', 'gone', 'changed'),
    addCause: fc.constantFrom(...ADDITION_CAUSES),
    removeCause: fc.constantFrom(...REMOVAL_CAUSES),
    fate: fc.oneof(
      fc.constantFrom<Fate[]>('done', 'lie', 'late', 'lost'),
      fc.constantFrom<Fate[]>(...DRIVER_ERROR_KINDS),
    ),
  });

/** One key for each slot; an unmanaged rule may be present beside ours, before it or after it. */
function worldOf(slots: readonly Slot[], reversed: boolean): World {
  const named = slots.map((one, index) => ({
    ...one,
    key: `203.0.113.${index}/32 tcp 22`,
    otherKey: `198.51.100.${index}/32 tcp 22`,
    ruleId: `rule-${index}`,
  }));
  const observed = named.flatMap(({ key, otherKey, ruleId, unmanaged, own, marked, seen }) => [
    ...(unmanaged ? [{ key, providerRuleId: `unmanaged ${key}`, ownRuleId: null }] : []),
    ...Array.from({ length: own }, (_, copy) => ({
      key,
      providerRuleId: `own ${copy} ${key}`,
      ownRuleId: marked || copy > 0 ? ruleId : null,
    })),
    ...(seen === 'changed'
      ? [{ key: otherKey, providerRuleId: `changed ${key}`, ownRuleId: marked ? ruleId : null }]
      : []),
  ]);
  const due = named.flatMap(({ key, ruleId, wish, inFlight, seen, addCause, removeCause }): DueRule[] => {
    if (wish === 'not due') return [];
    const seenAs = { never: null, 'as the first': `own 0 ${key}`, gone: 'gone', changed: `changed ${key}` };
    const isDesired = wish !== 'unwanted';
    return [
      {
        ruleId,
        key,
        desired: isDesired,
        mayOpen: wish === 'desired',
        inFlight,
        seenAs: seenAs[seen],
        addCause,
        removeCause,
      },
    ];
  });
  return {
    due,
    cloud: new Map((reversed ? observed.toReversed() : observed).map((rule) => [rule.providerRuleId, rule])),
    fates: new Map(named.map(({ ruleId, fate }) => [ruleId, fate])),
  };
}

const worlds = (maxOwn = 1): fc.Arbitrary<World> =>
  fc
    .tuple(fc.array(slot(maxOwn), { maxLength: 6 }), fc.boolean())
    .map(([slots, reversed]) => worldOf(slots, reversed));

const PERFECT: World['fates'] = new Map();

function applied(cloud: Cloud, changes: readonly PlannedChange[], fates: World['fates']): Cloud {
  const after = new Map(cloud);
  for (const change of changes) {
    const { ruleId } = change.rule;
    if (!['done', 'late'].includes(fates.get(ruleId) ?? 'done')) continue;
    if (change.action === 'remove') after.delete(change.providerRuleId);
    else {
      const providerRuleId = `added ${ruleId}`;
      after.set(providerRuleId, { key: change.rule.key, providerRuleId, ownRuleId: ruleId });
    }
  }
  return after;
}

function answered({ rule: { ruleId } }: PlannedChange, fates: World['fates']): ChangeResult {
  const fate = fates.get(ruleId) ?? 'done';
  if (fate === 'done' || fate === 'lie') return { result: 'done', providerRuleId: `added ${ruleId}` };
  if (fate === 'late' || fate === 'lost') return { result: 'unknown', message: 'no answer in time' };
  return { result: 'refused', kind: fate, message: `refused: ${fate}` };
}

const list = (cloud: Cloud): ObservedRule[] => [...cloud.values()];
const standing = (cloud: Cloud, key: string): ObservedRule[] =>
  list(cloud).filter((rule) => rule.key === key);
const isOwn = (rule: DueRule, { key, ownRuleId, providerRuleId }: ObservedRule): boolean =>
  key === rule.key && (ownRuleId !== null || providerRuleId === rule.seenAs);
const ownStanding = (cloud: Cloud, rule: DueRule): ObservedRule[] =>
  list(cloud).filter((one) => isOwn(rule, one));
const ruleOf = (due: readonly DueRule[], { rule: { ruleId } }: PlannedChange): DueRule => {
  const found = due.find((rule) => rule.ruleId === ruleId);
  if (!found) throw new Error(`a change of ${ruleId}, which is not due`);
  return found;
};
const keyOf = (due: readonly DueRule[], change: PlannedChange): string => ruleOf(due, change).key;
/** Sent by the recorded id of a rule that the read does not show. */
const isBlind = (cloud: Cloud, due: readonly DueRule[], change: PlannedChange): boolean =>
  change.action === 'remove' &&
  !cloud.has(change.providerRuleId) &&
  change.providerRuleId === ruleOf(due, change).seenAs;

function isConverged(due: readonly DueRule[], cloud: Cloud): boolean {
  return due.every((rule) =>
    rule.desired
      ? !rule.mayOpen || standing(cloud, rule.key).length > 0
      : ownStanding(cloud, rule).length === 0,
  );
}

const planning = (holds: (plan: Plan, world: World) => boolean, maxOwn = 1) => {
  return (plan: Plan) => fc.property(worlds(maxOwn), (world) => holds(plan, world));
};

const PLAN_PROPERTIES = {
  'one perfect round converges': planning((plan, { due, cloud }) =>
    isConverged(due, applied(cloud, plan(due, list(cloud)), PERFECT)),
  ),
  'perfect rounds converge when several rules of ours stand under one key': planning(
    (plan, { due, cloud }) => {
      let now = cloud;
      for (let round = 0; round < 4; round += 1) now = applied(now, plan(due, list(now)), PERFECT);
      return isConverged(due, now);
    },
    4,
  ),
  'no unmanaged rule is removed': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => {
      if (change.action === 'add' || isBlind(cloud, due, change)) return true;
      const removed = cloud.get(change.providerRuleId);
      return removed !== undefined && isOwn(ruleOf(due, change), removed);
    }),
  ),
  'a rule is removed under its own key only': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) =>
        change.action === 'add' ||
        isBlind(cloud, due, change) ||
        cloud.get(change.providerRuleId)?.key === keyOf(due, change),
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
    const after = applied(cloud, planChanges(due, list(cloud)), PERFECT);
    return plan(due, list(after)).every((change) => isBlind(after, due, change));
  }),
  'a rule that may not open is not added': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => change.action === 'remove' || ruleOf(due, change).mayOpen),
  ),
  'what is not desired is not added': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => change.action === 'remove' || ruleOf(due, change).desired),
  ),
  'what is desired is not removed': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => change.action === 'add' || !ruleOf(due, change).desired),
  ),
  'what stands is not added again': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) => change.action === 'remove' || standing(cloud, keyOf(due, change)).length === 0,
    ),
  ),
  'what is not shown is removed by its recorded id, and only while nothing is in flight': planning(
    (plan, { due, cloud }) => {
      const planned = plan(due, list(cloud));
      return due.every((rule) => {
        const removals = planned.filter(
          (change) => change.action === 'remove' && change.rule.ruleId === rule.ruleId,
        );
        if (rule.desired || standing(cloud, rule.key).length > 0) return true;
        const isOwed = Boolean(rule.seenAs) && !cloud.has(rule.seenAs!) && !rule.inFlight;
        return removals.length === (isOwed ? 1 : 0);
      });
    },
  ),
  'a change carries its rule and the cause of it': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => {
      const rule = ruleOf(due, change);
      return (
        change.rule === rule && change.cause === (change.action === 'add' ? rule.addCause : rule.removeCause)
      );
    }),
  ),
};

const add = (rule: DueRule): PlannedChange => ({ action: 'add', rule, cause: rule.addCause });
const remove = (rule: DueRule, { providerRuleId }: Pick<ObservedRule, 'providerRuleId'>): PlannedChange => ({
  action: 'remove',
  rule,
  providerRuleId,
  cause: rule.removeCause,
});
const underKey = (rule: DueRule, observed: readonly ObservedRule[]): ObservedRule | undefined =>
  observed.find(({ key }) => key === rule.key);

/** Planners with one fault each, and the property that is there to find it. */
const PLAN_MUTANTS: [string, keyof typeof PLAN_PROPERTIES, Plan][] = [
  [
    'removes unmanaged rules',
    'no unmanaged rule is removed',
    (due, observed) =>
      planChanges(
        due,
        observed.map((rule) => ({ ...rule, ownRuleId: rule.ownRuleId ?? 'ours' })),
      ),
  ],
  [
    'forgets what is not desired',
    'one perfect round converges',
    (due, observed) => planChanges(due, observed).filter(({ action }) => action === 'add'),
  ],
  [
    'forgets what is desired',
    'one perfect round converges',
    (due, observed) => planChanges(due, observed).filter(({ action }) => action === 'remove'),
  ],
  [
    'takes an unmanaged rule for the only one under its key',
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
        return rule.desired && stands ? [remove(rule, stands), add(rule)] : [];
      }),
    ],
  ],
  ['adds first', 'removals come first', (due, observed) => planChanges(due, observed).toReversed()],
  [
    'goes on after the end',
    'nothing is planned once converged',
    (due, observed) =>
      due.map(
        (rule) =>
          planChanges(due, observed).find((change) => change.rule.ruleId === rule.ruleId) ?? add(rule),
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
    'what is not desired is not added',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, desired: true, mayOpen: true })),
        observed,
      ),
  ],
  [
    'closes what has expired but is still held',
    'what is desired is not removed',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, desired: rule.desired && rule.mayOpen })),
        observed,
      ),
  ],
  [
    'adds beside an unmanaged rule',
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
        if (rule.desired) return rule.mayOpen ? [add(rule)] : [];
        return stands && stands.ownRuleId !== null ? [remove(rule, stands)] : [];
      }),
  ],
  [
    'knows its own rules by the mark only',
    'one perfect round converges',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, seenAs: null })),
        observed,
      ),
  ],
  [
    'takes an unmanaged rule under the key of a recorded one for it',
    'no unmanaged rule is removed',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({
          ...rule,
          seenAs: rule.seenAs ? (underKey(rule, observed)?.providerRuleId ?? rule.seenAs) : null,
        })),
        observed,
      ),
  ],
  [
    'removes by its recorded id what lets in something else now',
    'a rule is removed under its own key only',
    (due, observed) =>
      planChanges(
        due,
        observed.filter(({ key }) => due.some((rule) => rule.key === key)),
      ),
  ],
  [
    'removes again what may still be on its way',
    'what is not shown is removed by its recorded id, and only while nothing is in flight',
    (due, observed) =>
      planChanges(
        due.map((rule) => ({ ...rule, inFlight: false })),
        observed,
      ),
  ],
  [
    'believes every read',
    'what is not shown is removed by its recorded id, and only while nothing is in flight',
    (due, observed) =>
      planChanges(due, observed).filter(
        (change) =>
          change.action === 'add' ||
          observed.some(({ providerRuleId }) => providerRuleId === change.providerRuleId),
      ),
  ],
  [
    'names one cause for every removal',
    'a change carries its rule and the cause of it',
    (due, observed) =>
      planChanges(due, observed).map((change) =>
        change.action === 'remove' ? { ...change, cause: 'SESSION_EXPIRED' } : change,
      ),
  ],
  [
    'names the cause of another rule',
    'a change carries its rule and the cause of it',
    (due, observed) =>
      planChanges(due, observed).map((change) =>
        change.action === 'add' ? { ...change, cause: due[0]!.addCause } : change,
      ),
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
  const after = applied(cloud, changes, fates);
  const results = new Map(changes.map((change) => [change.rule.ruleId, answered(change, fates)]));
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
        const rule = world.due.find(({ ruleId }) => ruleId === verdict.rule.ruleId);
        return rule !== undefined && holds({ rule, verdict, result: results.get(rule.ruleId), after });
      });
    });
};

type Refusal = Extract<ChangeResult, { result: 'refused' }>;

const isFinalRefusal = (result: ChangeResult | undefined): result is Refusal =>
  result?.result === 'refused' && !RETRYABLE_KINDS.has(result.kind);

const JUDGE_PROPERTIES = {
  'every rule gets one verdict, in the order given': (subject: Judge) =>
    fc.property(worlds(2), (world) => {
      const { verdicts } = roundOf(world, subject);
      return (
        verdicts.length === world.due.length &&
        verdicts.every((verdict, index) => verdict.rule === world.due[index])
      );
    }),
  'absent: nothing of ours stands': judging(
    ({ rule, verdict, after }) => verdict.kind !== 'absent' || ownStanding(after, rule).length === 0,
  ),
  'absent: nothing is in flight': judging(
    ({ rule, verdict, result }) =>
      verdict.kind !== 'absent' || (!rule.inFlight && result?.result !== 'unknown'),
  ),
  'absent: not desired': judging(({ rule, verdict }) => verdict.kind !== 'absent' || !rule.desired),
  'present: desired, and seen': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'present' || (rule.desired && after.get(verdict.providerRuleId)?.key === rule.key),
  ),
  'present: unmanaged exactly when nothing of ours stands': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'present' || verdict.unmanaged === (ownStanding(after, rule).length === 0),
  ),
  'present: unmarked exactly when its recorded id alone says that it is ours': judging(
    ({ rule, verdict, after }) => {
      const own = ownStanding(after, rule);
      const isUnmarked = own.length > 0 && own.every(({ ownRuleId }) => ownRuleId === null);
      return verdict.kind !== 'present' || verdict.unmarked === isUnmarked;
    },
  ),
  'absent: tells what its id lets in now': judging(({ rule, verdict, after }) => {
    const isReplaced = standing(after, rule.key).length > 0;
    const now = isReplaced || !rule.seenAs ? undefined : after.get(rule.seenAs);
    return verdict.kind !== 'absent' || verdict.changedTo === (now?.key ?? null);
  }),
  'retry: stands exactly when it is to go and ours is there': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'retry' || verdict.stands === (!rule.desired && ownStanding(after, rule).length > 0),
  ),
  'retry: refused exactly when the cloud will refuse it again': judging(
    ({ verdict, result }) => verdict.kind !== 'retry' || verdict.refused === isFinalRefusal(result),
  ),
  'failed: desired, refused for good, and not standing': judging(
    ({ rule, verdict, result, after }) =>
      verdict.kind !== 'failed' ||
      (rule.desired && isFinalRefusal(result) && standing(after, rule.key).length === 0),
  ),
  'refused for good and not standing: failed, in the cloud’s words': judging(
    ({ rule, verdict, result, after }) =>
      !rule.desired ||
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
      (rule.desired ? !rule.mayOpen : rule.inFlight || ownStanding(after, rule).length > 0) ||
      verdict.kind === (rule.desired ? 'present' : 'absent'),
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
      change(verdict, due[index]!, results.get(verdict.rule.ruleId), observed),
    );

const presentAs = (rule: DueRule): Verdict => ({
  rule,
  kind: 'present',
  providerRuleId: `added ${rule.ruleId}`,
  unmanaged: false,
  unmarked: false,
});
const absent = (rule: DueRule): Verdict => ({ rule, kind: 'absent', changedTo: null });
const again = (rule: DueRule, message: string | null = null): Verdict => ({
  rule,
  kind: 'retry',
  message,
  unknown: false,
  stands: false,
  refused: false,
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
        due.toSorted((one, other) => Number(one.desired) - Number(other.desired)),
        results,
        observed,
      ),
  ],
  [
    'trusts the answer to a removal instead of the look',
    'absent: nothing of ours stands',
    mapped((verdict, rule, result) => (!rule.desired && result?.result === 'done' ? absent(rule) : verdict)),
  ],
  [
    'looks at the first rule under the key only',
    'absent: nothing of ours stands',
    mapped((verdict, rule, _result, observed) =>
      !rule.desired && !rule.inFlight && underKey(rule, observed)?.ownRuleId === null
        ? absent(rule)
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
    'absent: not desired',
    mapped((verdict, rule) =>
      rule.desired && !rule.mayOpen && verdict.kind === 'retry' ? absent(rule) : verdict,
    ),
  ],
  [
    'trusts the answer to an add instead of the look',
    'present: desired, and seen',
    mapped((verdict, rule, result) =>
      rule.desired && result?.result === 'done' ? presentAs(rule) : verdict,
    ),
  ],
  [
    'calls open what is to be closed',
    'present: desired, and seen',
    (due, results, observed) =>
      judge(
        due.map((rule) => ({ ...rule, desired: true })),
        results,
        observed,
      ),
  ],
  [
    'takes every rule for ours',
    'present: unmanaged exactly when nothing of ours stands',
    mapped((verdict) => (verdict.kind === 'present' ? { ...verdict, unmanaged: false } : verdict)),
  ],
  [
    'gives a removal up',
    'failed: desired, refused for good, and not standing',
    mapped((verdict, rule, result) =>
      !rule.desired && isFinalRefusal(result) ? { rule, kind: 'failed', message: result.message } : verdict,
    ),
  ],
  [
    'gives up when it is told to slow down',
    'failed: desired, refused for good, and not standing',
    mapped((verdict, rule, result) =>
      rule.desired && result?.result === 'refused' && verdict.kind === 'retry'
        ? { rule, kind: 'failed', message: result.message }
        : verdict,
    ),
  ],
  [
    'never gives up',
    'refused for good and not standing: failed, in the cloud’s words',
    mapped((verdict) => (verdict.kind === 'failed' ? again(verdict.rule, verdict.message) : verdict)),
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
      !rule.desired && !rule.inFlight && result?.result === 'unknown' ? absent(rule) : verdict,
    ),
  ],
  [
    'takes no answer for failure',
    'an unknown result settles nothing that was not seen',
    mapped((verdict, rule, result) =>
      rule.desired && verdict.kind === 'retry' && result?.result === 'unknown'
        ? { rule, kind: 'failed', message: result.message }
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
    (due) => due.map((rule) => again(rule)),
  ],
  [
    'takes an unmanaged rule for ours that is still to go',
    'a perfect round settles everything that nothing is in flight for',
    mapped((verdict, rule, _result, observed) =>
      verdict.kind === 'absent' && underKey(rule, observed) ? again(rule) : verdict,
    ),
  ],
  [
    'knows its own rules by the mark only',
    'absent: nothing of ours stands',
    (due, results, observed) =>
      judge(
        due.map((rule) => ({ ...rule, seenAs: null })),
        results,
        observed,
      ),
  ],
  [
    'does not say that our mark is gone',
    'present: unmarked exactly when its recorded id alone says that it is ours',
    mapped((verdict) => (verdict.kind === 'present' ? { ...verdict, unmarked: false } : verdict)),
  ],
  [
    'calls an unmanaged rule one without our mark',
    'present: unmarked exactly when its recorded id alone says that it is ours',
    mapped((verdict) =>
      verdict.kind === 'present' ? { ...verdict, unmarked: verdict.unmarked || verdict.unmanaged } : verdict,
    ),
  ],
  [
    'does not say that another program changed it',
    'absent: tells what its id lets in now',
    mapped((verdict, rule) => (verdict.kind === 'absent' ? absent(rule) : verdict)),
  ],
  [
    'forgets that what could not be removed is there',
    'retry: stands exactly when it is to go and ours is there',
    mapped((verdict) => (verdict.kind === 'retry' ? { ...verdict, stands: false } : verdict)),
  ],
  [
    'takes an answer that may change for a refusal',
    'retry: refused exactly when the cloud will refuse it again',
    mapped((verdict, _rule, result) =>
      verdict.kind === 'retry' ? { ...verdict, refused: result?.result === 'refused' } : verdict,
    ),
  ],
  [
    'hides that the cloud refuses a removal',
    'retry: refused exactly when the cloud will refuse it again',
    mapped((verdict) => (verdict.kind === 'retry' ? { ...verdict, refused: false } : verdict)),
  ],
];

const dueRule = (one: Pick<DueRule, 'ruleId' | 'key'> & Partial<DueRule>, desired: boolean): DueRule => ({
  desired,
  mayOpen: desired,
  inFlight: false,
  addCause: 'SESSION_STARTED',
  removeCause: 'SESSION_EXPIRED',
  ...one,
});

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
    const rule = (ruleId: string, desired: boolean): DueRule => dueRule({ ruleId, key: ruleId }, desired);
    const [added, removed] = [rule('new', true), rule('old', false)];
    const due = [
      added,
      rule('stands', true),
      removed,
      rule('gone', false),
      rule('unmanaged', false),
      rule('let in', true),
    ];
    const observed = [
      { key: 'stands', providerRuleId: 'sgr-1', ownRuleId: 'stands' },
      { key: 'old', providerRuleId: 'sgr-2', ownRuleId: 'old' },
      { key: 'unmanaged', providerRuleId: 'sgr-3', ownRuleId: null },
      { key: 'let in', providerRuleId: 'sgr-4', ownRuleId: null },
      { key: 'nobody asked', providerRuleId: 'sgr-5', ownRuleId: 'not due' },
    ];
    expect(planChanges(due, observed)).toEqual([
      { action: 'remove', rule: removed, providerRuleId: 'sgr-2', cause: 'SESSION_EXPIRED' },
      { action: 'add', rule: added, cause: 'SESSION_STARTED' },
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

describe('a target that cannot be read', () => {
  const desired = dueRule({ ruleId: 'desired', key: 'a' }, true);
  const unwanted = dueRule({ ruleId: 'unwanted', key: 'b', inFlight: true }, false);

  it.each(['throttled', 'transient', 'conflict'] as const)('%s: everything is tried again', (kind) => {
    expect(judgeUnreadable([desired, unwanted], kind, 'why')).toEqual([
      again(desired, 'why'),
      again(unwanted, 'why'),
    ]);
  });

  it.each(['denied', 'target-missing', 'quota', 'invalid'] as const)(
    '%s: adding fails, removing is tried again',
    (kind) => {
      expect(judgeUnreadable([unwanted, desired], kind, 'why')).toEqual([
        { ...again(unwanted, 'why'), refused: true },
        { rule: desired, kind: 'failed', message: 'why' },
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
      new Set([...RETRYABLE_KINDS, 'denied', 'target-missing', 'quota', 'invalid']),
    );
  });
});

describe('a rule that was seen, and is not shown', () => {
  const rule = dueRule({ ruleId: 'rule', key: '203.0.113.1/32 tcp 22', seenAs: 'sgr-1' }, false);
  const answer = (result: ChangeResult): ReadonlyMap<string, ChangeResult> =>
    new Map([[rule.ruleId, result]]);

  it('is removed by its id all the same, unless an unmanaged one stands in its place', () => {
    const desired = { ...rule, desired: true, mayOpen: true };
    expect(planChanges([rule], [])).toEqual([remove(rule, { providerRuleId: 'sgr-1' })]);
    expect(planChanges([desired], [])).toEqual([add(desired)]);
    const unmanaged = { key: rule.key, providerRuleId: 'sgr-9', ownRuleId: null };
    expect(planChanges([rule], [unmanaged])).toEqual([]);
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
    const desired = { ...rule, desired: true, mayOpen: true, seenAs: null };
    expect(judge([desired], answer({ result: 'done', providerRuleId: 'sgr-1' }), [])[0]).toMatchObject({
      kind: 'retry',
      unknown: true,
    });
  });
});

describe('A rule of ours that stands without being in force', () => {
  const key = '203.0.113.7/32 tcp 22';
  const bent: ObservedRule = { key, providerRuleId: 'bent', ownRuleId: 'rule', inForce: false };
  const due = (desired: boolean): DueRule => dueRule({ ruleId: 'rule', key, mayOpen: true }, desired);

  it('is written again while it is desired, and is not there until then', () => {
    expect(planChanges([due(true)], [bent])).toEqual([add(due(true))]);
    expect(judge([due(true)], new Map(), [bent])).toMatchObject([{ kind: 'retry' }]);
    expect(judge([due(true)], new Map(), [{ key, providerRuleId: 'bent', ownRuleId: 'rule' }])).toMatchObject(
      [{ kind: 'present' }],
    );
  });

  it('counts as there while it is not desired, and is removed', () => {
    expect(planChanges([due(false)], [bent])).toEqual([remove(due(false), bent)]);
    expect(judge([due(false)], new Map(), [bent])).toMatchObject([{ kind: 'retry' }]);
    expect(judge([due(false)], new Map(), [])).toMatchObject([{ kind: 'absent' }]);
  });

  it('is not needed beside a rule of others that lets the address in', () => {
    const unmanaged: ObservedRule = { key, providerRuleId: 'office', ownRuleId: null };
    expect(planChanges([due(true)], [unmanaged, bent])).toEqual([]);
    expect(judge([due(true)], new Map(), [unmanaged, bent])).toMatchObject([
      { kind: 'present', unmanaged: true },
    ]);
  });
});

describe('A rule whose provider id was recorded and that lost our mark', () => {
  const key = '203.0.113.8/32 tcp 22';
  const recorded = { ruleId: 'rule', key, seenAs: 'sgr-1' };
  const unwanted = dueRule({ ...recorded, removeCause: 'USER_OFFBOARDED' }, false);
  const bare: ObservedRule = { key, providerRuleId: 'sgr-1', ownRuleId: null };
  const unmanaged: ObservedRule = { key, providerRuleId: 'sgr-9', ownRuleId: null };

  it('is removed like any other, with its own cause', () => {
    expect(planChanges([unwanted], [bare])).toEqual([
      { action: 'remove', rule: unwanted, providerRuleId: 'sgr-1', cause: 'USER_OFFBOARDED' },
    ]);
  });

  it('is not absent before it is gone', () => {
    expect(judge([unwanted], new Map(), [bare])).toMatchObject([{ kind: 'retry', stands: true }]);
    expect(judge([unwanted], new Map(), [])).toEqual([absent(unwanted)]);
  });

  it('is present, ours and unmarked while it is desired; with our mark it is present and marked', () => {
    const desired = dueRule(recorded, true);
    expect(planChanges([desired], [bare])).toEqual([]);
    expect(judge([desired], new Map(), [bare])).toMatchObject([
      { kind: 'present', providerRuleId: 'sgr-1', unmanaged: false, unmarked: true },
    ]);
    expect(judge([desired], new Map(), [{ ...bare, ownRuleId: 'rule' }])).toMatchObject([
      { kind: 'present', providerRuleId: 'sgr-1', unmanaged: false, unmarked: false },
    ]);
  });

  it.each([
    ['before it', [unmanaged, bare]],
    ['after it', [bare, unmanaged]],
  ])('is the one that is removed when an unmanaged rule is present under the same key, %s', (_, observed) => {
    expect(planChanges([unwanted], observed)).toEqual([remove(unwanted, bare)]);
    expect(judge([dueRule(recorded, true)], new Map(), observed)).toMatchObject([
      { providerRuleId: 'sgr-1', unmanaged: false, unmarked: true },
    ]);
  });

  it('is not mistaken for an unmanaged rule with another id under the same key', () => {
    expect(planChanges([unwanted], [unmanaged])).toEqual([]);
    expect(judge([unwanted], new Map(), [unmanaged])).toEqual([absent(unwanted)]);
    expect(judge([dueRule(recorded, true)], new Map(), [unmanaged])).toMatchObject([
      { kind: 'present', unmanaged: true, unmarked: false },
    ]);
  });

  it.each([
    ['no recorded id', null],
    ['an id that was never read', undefined],
  ])('is unmanaged with %s', (_, seenAs) => {
    const without = { ...unwanted, seenAs: seenAs! };
    expect(planChanges([without], [bare])).toEqual([]);
    expect(judge([without], new Map(), [bare])).toEqual([absent(without)]);
    expect(judge([{ ...without, desired: true }], new Map(), [bare])).toMatchObject([
      { kind: 'present', unmanaged: true, unmarked: false },
    ]);
  });
});

describe('A rule that another program changed under its provider id', () => {
  const key = '203.0.113.9/32 tcp 22';
  const changedTo = '0.0.0.0/0 tcp 22';
  const unwanted = dueRule({ ruleId: 'rule', key, seenAs: 'sgr-1' }, false);

  it.each([
    ['with our mark', 'rule'],
    ['without our mark', null],
  ])('is not removed by its recorded id, %s: the verdict says what it lets in now', (_, ownRuleId) => {
    const changed: ObservedRule = { key: changedTo, providerRuleId: 'sgr-1', ownRuleId };
    expect(planChanges([unwanted], [changed])).toEqual([]);
    expect(judge([unwanted], new Map(), [changed])).toEqual([{ rule: unwanted, kind: 'absent', changedTo }]);
  });

  it('is added again while it is desired', () => {
    const desired = { ...unwanted, desired: true, mayOpen: true };
    const changed: ObservedRule = { key: changedTo, providerRuleId: 'sgr-1', ownRuleId: 'rule' };
    expect(planChanges([desired], [changed])).toEqual([add(desired)]);
    expect(judge([desired], new Map(), [changed])).toMatchObject([{ kind: 'retry' }]);
  });

  it('is not settled while an earlier call may still land', () => {
    const changed: ObservedRule = { key: changedTo, providerRuleId: 'sgr-1', ownRuleId: null };
    expect(judge([{ ...unwanted, inFlight: true }], new Map(), [changed])).toMatchObject([
      { kind: 'retry', unknown: true },
    ]);
  });
});

describe('The rules that are ours by our record', () => {
  const rule = (ruleId: string, state: 'absent' | 'unknown' | 'present', isUnmanaged = false) => ({
    ruleId,
    key: `key of ${ruleId}`,
    state,
    isUnmanaged,
  });

  it('are those that may be present', () => {
    expect(claimsOf([rule('in', 'present'), rule('sent', 'unknown'), rule('out', 'absent')])).toEqual(
      new Map([
        ['key of in', 'in'],
        ['key of sent', 'sent'],
      ]),
    );
  });

  it.each(['unknown', 'present'] as const)('are none that was observed to be unmanaged (%s)', (state) => {
    expect(claimsOf([rule('office', state, true)])).toEqual(new Map());
  });
});
