import * as fc from 'fast-check';
import { ADDITION_CAUSES, REMOVAL_CAUSES, type AdditionCause, type RemovalCause } from './cause';
import { judge as judgeOne, judgeUnread, type Judged, type Verdict as Found } from './judge';
import { Observed } from './observed-rules';
import type { PlannedChange } from './planner';
import {
  DRIVER_ERROR_KINDS,
  failsAddition,
  RETRYABLE_KINDS,
  type ChangeResult,
  type DriverErrorKind,
  type ObservedRule,
} from './provider';

export type DueRule = Judged;
export type Verdict = Found & { readonly rule: DueRule };

/** Judges rules by the results of what they are planned to be. */
export function judge(
  due: readonly DueRule[],
  results: ReadonlyMap<string, ChangeResult>,
  observed: readonly ObservedRule[],
): Verdict[] {
  const index = new Observed(observed);
  return due.map((rule) => {
    const result = results.get(rule.ruleId);
    const change = rule.desired
      ? ({ action: 'add', cause: rule.addCause } as const)
      : ({ action: 'remove', cause: rule.removeCause } as const);
    return { ...judgeOne(rule, result && { ...change, result }, index), rule };
  });
}

export const judgedUnread = (
  due: readonly DueRule[],
  kind: DriverErrorKind,
  message: string,
  missingMs = 0,
): Verdict[] =>
  due.map((rule) => ({
    ...judgeUnread({ ...rule, row: { lastError: null } }, { kind, message }, undefined, missingMs),
    rule,
  }));

/** The rules of a target, by provider rule id. */
export type Cloud = ReadonlyMap<string, ObservedRule>;

/** What the provider does with a change. `lie` answers done without doing it; `late` does it without an answer. */
export type Fate = 'done' | 'lie' | 'late' | 'lost' | (typeof DRIVER_ERROR_KINDS)[number];
export interface World {
  readonly due: readonly DueRule[];
  readonly cloud: Cloud;
  /** by rule id */
  readonly fates: ReadonlyMap<string, Fate>;
}

interface Slot {
  readonly demand: 'desired' | 'expired' | 'unwanted' | 'not due';
  readonly inFlight: boolean;
  readonly unmanaged: boolean;
  readonly own: number;
  /** the first own rule has our mark, and so does a rule changed under its id */
  readonly marked: boolean;
  /** the recorded id: none, that of the first own rule, of a rule that is gone, or of one that allows other traffic now */
  readonly recorded: 'never' | 'as the first' | 'gone' | 'changed';
  readonly addCause: AdditionCause;
  readonly removeCause: RemovalCause;
  readonly fate: Fate;
}

const slot = (maxOwn: number): fc.Arbitrary<Slot> =>
  fc.record({
    demand: fc.constantFrom('desired', 'expired', 'unwanted', 'not due'),
    inFlight: fc.boolean(),
    unmanaged: fc.boolean(),
    own: fc.nat({ max: maxOwn }),
    marked: fc.boolean(),
    recorded: fc.constantFrom('never', 'as the first', 'gone', 'changed'),
    addCause: fc.constantFrom(...ADDITION_CAUSES),
    removeCause: fc.constantFrom(...REMOVAL_CAUSES),
    fate: fc.oneof(
      fc.constantFrom<Fate[]>('done', 'lie', 'late', 'lost'),
      fc.constantFrom<Fate[]>(...DRIVER_ERROR_KINDS),
    ),
  });

/** One key per slot. An unmanaged rule may be present under the same key, before or after ours. */
function worldOf(slots: readonly Slot[], reversed: boolean): World {
  const named = slots.map((one, index) => ({
    ...one,
    key: `203.0.113.${index}/32 tcp 22`,
    otherKey: `198.51.100.${index}/32 tcp 22`,
    ruleId: `rule-${index}`,
  }));
  const observed = named.flatMap(({ key, otherKey, ruleId, unmanaged, own, marked, recorded }) => [
    ...(unmanaged ? [{ key, providerRuleId: `unmanaged ${key}`, ownRuleId: null }] : []),
    ...Array.from({ length: own }, (_, copy) => ({
      key,
      providerRuleId: `own ${copy} ${key}`,
      ownRuleId: marked || copy > 0 ? ruleId : null,
    })),
    ...(recorded === 'changed' && own === 0
      ? [{ key: otherKey, providerRuleId: `changed ${key}`, ownRuleId: marked ? ruleId : null }]
      : []),
  ]);
  const due = named.flatMap(
    ({ key, ruleId, demand, inFlight, recorded, addCause, removeCause }): DueRule[] => {
      if (demand === 'not due') return [];
      const idOf = {
        never: null,
        'as the first': `own 0 ${key}`,
        gone: 'gone',
        changed: `changed ${key}`,
      };
      const isDesired = demand !== 'unwanted';
      return [
        {
          ruleId,
          key,
          desired: isDesired,
          mayOpen: demand === 'desired',
          inFlight,
          isAwaited: false,
          recordedId: idOf[recorded],
          removingMs: null,
          hasExpired: false,
          holders: [],
          addCause,
          removeCause,
        },
      ];
    },
  );
  return {
    due,
    cloud: new Map((reversed ? observed.toReversed() : observed).map((rule) => [rule.providerRuleId, rule])),
    fates: new Map(named.map(({ ruleId, fate }) => [ruleId, fate])),
  };
}

export const worlds = (maxOwn = 1): fc.Arbitrary<World> =>
  fc
    .tuple(fc.array(slot(maxOwn), { maxLength: 6 }), fc.boolean())
    .map(([slots, reversed]) => worldOf(slots, reversed));

export const PERFECT: World['fates'] = new Map();

export function applied(cloud: Cloud, changes: readonly PlannedChange[], fates: World['fates']): Cloud {
  const after = new Map(cloud);
  for (const change of changes) {
    const { ruleId } = change.rule;
    if (!['done', 'late'].includes(fates.get(ruleId) ?? 'done')) continue;
    if (change.action === 'remove') after.delete(change.providerRuleId);
    else {
      const providerRuleId = `added ${ruleId}`;
      for (const id of (change.action === 'add' && change.replaces) || []) after.delete(id);
      after.set(providerRuleId, { key: change.rule.key, providerRuleId, ownRuleId: ruleId });
    }
  }
  return after;
}

export function answered({ rule: { ruleId } }: PlannedChange, fates: World['fates']): ChangeResult {
  const fate = fates.get(ruleId) ?? 'done';
  if (fate === 'done' || fate === 'lie') return { result: 'done', providerRuleId: `added ${ruleId}` };
  if (fate === 'late' || fate === 'lost') return { result: 'unknown', message: 'no answer in time' };
  return { result: 'refused', kind: fate, message: `refused: ${fate}` };
}

export const list = (cloud: Cloud): ObservedRule[] => [...cloud.values()];
export const presentUnder = (cloud: Cloud, key: string): ObservedRule[] =>
  list(cloud).filter((rule) => rule.key === key);
export const isOwn = (rule: DueRule, { key, ownRuleId, providerRuleId }: ObservedRule): boolean =>
  (key === rule.key && ownRuleId !== null) || providerRuleId === rule.recordedId;
/** Whether another program changed the rule under its recorded id. */
export const isChanged = (cloud: Cloud, { key, recordedId }: DueRule): boolean => {
  const now = recordedId ? cloud.get(recordedId) : undefined;
  return now !== undefined && now.key !== key;
};
export const ownPresent = (cloud: Cloud, rule: DueRule): ObservedRule[] =>
  list(cloud).filter((one) => isOwn(rule, one));
export const ruleOf = (due: readonly DueRule[], { rule: { ruleId } }: PlannedChange): DueRule => {
  const found = due.find((rule) => rule.ruleId === ruleId);
  if (!found) throw new Error(`a change of ${ruleId}, which is not due`);
  return found;
};
export const keyOf = (due: readonly DueRule[], change: PlannedChange): string => ruleOf(due, change).key;
/** A removal by the recorded id of a rule that was not observed. */
export const isBlind = (cloud: Cloud, due: readonly DueRule[], change: PlannedChange): boolean =>
  change.action === 'remove' &&
  !cloud.has(change.providerRuleId) &&
  change.providerRuleId === ruleOf(due, change).recordedId;

export function isConverged(due: readonly DueRule[], cloud: Cloud): boolean {
  return due.every((rule) =>
    rule.desired
      ? !rule.mayOpen || (presentUnder(cloud, rule.key).length > 0 && !isChanged(cloud, rule))
      : ownPresent(cloud, rule).length === 0,
  );
}

export const add = (rule: DueRule): PlannedChange => ({ action: 'add', rule, cause: rule.addCause });
export const remove = (
  rule: DueRule,
  { providerRuleId }: Pick<ObservedRule, 'providerRuleId'>,
): PlannedChange => ({
  action: 'remove',
  rule,
  providerRuleId,
  cause: rule.removeCause,
});

export const absent = (rule: DueRule): Verdict => ({ rule, kind: 'absent' });
export const again = (rule: DueRule, message: string | null = null): Verdict => ({
  rule,
  kind: 'retry',
  message,
  unknown: false,
  observedPresent: false,
  refused: false,
});

export const dueRule = (
  one: Pick<DueRule, 'ruleId' | 'key'> & Partial<DueRule>,
  desired: boolean,
): DueRule => ({
  desired,
  mayOpen: desired,
  inFlight: false,
  isAwaited: false,
  recordedId: null,
  removingMs: null,
  hasExpired: false,
  holders: [],
  addCause: 'SESSION_STARTED',
  removeCause: 'SESSION_EXPIRED',
  ...one,
});

export const RUNS = { numRuns: 1000 };
/** For planted bugs: the search ends at the first counterexample, so many runs are cheap. */
export const SEARCH = { numRuns: 20_000 };
export const entries = <T extends object>(of: T): [keyof T & string, T[keyof T]][] =>
  Object.entries(of) as [keyof T & string, T[keyof T]][];

type Refusal = Extract<ChangeResult, { result: 'refused' }>;

/** A refusal that would be repeated. */
export const isFinalRefusal = (result: ChangeResult | undefined): result is Refusal =>
  result?.result === 'refused' && !RETRYABLE_KINDS.has(result.kind);

/** A refusal after which an addition fails at once. */
export const failsAdditionFor = (result: ChangeResult | undefined): result is Refusal =>
  result?.result === 'refused' && failsAddition(result.kind);
