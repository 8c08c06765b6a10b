import type { AdditionCause, RemovalCause } from './cause';
import { Observed } from './observed-rules';
import type { RecordedRule } from './own-rules';
import {
  failsAddition,
  RETRYABLE_KINDS,
  type ChangeResult,
  type DriverErrorKind,
  type ObservedRule,
} from './provider';

/**
 * Recorded state of a rule. `present`: last observed. `absent`: last observed, never written, or given up. `unknown`: a call
 * was sent, or may be, and its outcome was not observed.
 */
export type RuleState = 'absent' | 'unknown' | 'present';

/** A due rule with its desired state. */
export interface DueRule {
  readonly ruleId: string;
  /** `ruleKey` of its traffic */
  readonly key: string;
  /** a live holder exists that may have the rule written (`canHoldRule`) */
  readonly desired: boolean;
  /** false when its last holder has expired: it may no longer be added, and its removal is not due yet */
  readonly mayOpen: boolean;
  /** a call without an answer may still take effect */
  readonly inFlight: boolean;
  /** the provider's id under which it was last observed as ours; undefined or null: it was not */
  readonly recordedId?: string | null;
  /**
   * for how long it has been removed, or not been observed, ms; 0: it was present. Undefined or null: it was never observed, or a
   * call in doubt may have removed it
   */
  readonly removingMs?: number | null;
  /** why it would be added */
  readonly addCause: AdditionCause;
  /** why it would be removed */
  readonly removeCause: RemovalCause;
}

/**
 * Recorded rules of ours, for providers whose entries have no mark. A rule counts as ours from its recorded intent, which
 * follows a read that did not show it.
 * @returns rule ids by rule key
 */
export function claimsOf(
  rules: readonly {
    readonly ruleId: string;
    readonly key: string;
    readonly state: RuleState;
    readonly isUnmanaged: boolean;
  }[],
): Map<string, string> {
  const ours = rules.filter((rule) => rule.state !== 'absent' && !rule.isUnmanaged);
  return new Map(ours.map((rule) => [rule.key, rule.ruleId]));
}

/** The keys of rules by their recorded provider ids, for providers that may show a changed rule without a key. */
export const recordedKeysOf = (
  rules: readonly Pick<RecordedRule, 'key' | 'recordedId'>[],
): Map<string, string> =>
  new Map(rules.flatMap(({ key, recordedId }) => (recordedId ? [[recordedId, key] as const] : [])));

/** A change of a rule, with its cause. */
export type PlannedChange<Rule extends DueRule = DueRule> =
  | {
      readonly action: 'add';
      readonly rule: Rule;
      readonly cause: AdditionCause;
      /** ids of what the rule has become by the hand of another program */
      readonly replaces?: readonly string[];
    }
  | {
      readonly action: 'remove';
      readonly rule: Pick<Rule, 'ruleId'>;
      readonly providerRuleId: string;
      readonly cause: RemovalCause;
    };

/** What one pass found out about a rule. */
export type Verdict<Rule extends DueRule = DueRule> = { readonly rule: Rule } & (
  | {
      readonly kind: 'present';
      readonly providerRuleId: string;
      /** present, and not ours */
      readonly unmanaged: boolean;
      /** ours by its recorded provider id, without our mark */
      readonly unmarked: boolean;
      /** an addition without an answer did not add what was observed: it may still take effect */
      readonly unknown: boolean;
      /** it lets nobody in, for this reason: it is given up like a failed addition */
      readonly noEffect?: string;
    }
  | {
      readonly kind: 'absent';
      /** what its removal left behind, without effect */
      readonly note?: string;
    }
  /** not settled: another pass follows */
  | {
      readonly kind: 'retry';
      readonly message: string | null;
      /** what it does now: another program changed it */
      readonly changedTo?: string;
      /** by then another pass settles it, ms */
      readonly againInMs?: number;
      /** of the rule that the addition created, which no read has shown yet */
      readonly createdId?: string;
      readonly unknown: boolean;
      /** ours, and still observed present */
      readonly observedPresent: boolean;
      /** the provider refused the change, and would refuse it again */
      readonly refused: boolean;
    }
  /** the addition failed and is not retryable */
  | { readonly kind: 'failed'; readonly message: string; readonly refusedAs: DriverErrorKind }
);

/** A rule is ours by its mark or by its recorded provider id. */
export const isOurs = (
  { ownRuleId, providerRuleId }: Pick<ObservedRule, 'ownRuleId' | 'providerRuleId'>,
  recordedId: string | null | undefined,
): boolean => ownRuleId !== null || providerRuleId === recordedId;

/**
 * Plans the changes from observed to desired, removals first. Unmanaged rules are never removed; if one of them already
 * allows the traffic, no rule of ours is added.
 *
 * | desired | observed | change |
 * |---|---|---|
 * | yes | in force, ours or unmanaged | none |
 * | yes | not in force, or ours and changed by another program | add, unless its last holder has expired |
 * | no | ours by mark or recorded id, changed or not | remove |
 * | no | unmanaged | none |
 * | no | not present, and was observed before | remove by its recorded id: the read may be stale. Not while an earlier call is in flight |
 * | no | not present, never observed | none |
 */
export function planChanges<Rule extends DueRule>(
  due: readonly Rule[],
  observed: readonly ObservedRule[],
): PlannedChange<Rule>[] {
  const index = new Observed(observed);
  const removals: PlannedChange<Rule>[] = [];
  const additions: PlannedChange<Rule>[] = [];
  for (const rule of due) {
    const isChanged = index.changeOf(rule) !== null;
    if (rule.desired && (isChanged || !index.inForce(rule)) && rule.mayOpen)
      additions.push({
        action: 'add',
        rule,
        cause: rule.addCause,
        ...(isChanged && { replaces: index.idsOf(rule) }),
      });
    const providerRuleId = rule.desired ? null : idToRemove(rule, index);
    if (providerRuleId !== null)
      removals.push({ action: 'remove', rule, providerRuleId, cause: rule.removeCause });
  }
  return [...removals, ...additions];
}

function idToRemove(rule: DueRule, index: Observed): string | null {
  const present = index.present(rule);
  if (present && isOurs(present, rule.recordedId)) return present.providerRuleId;
  const [changed] = index.idsOf(rule);
  if (present || changed !== undefined) return changed ?? null;
  // not shown: sending the removal again while it is in flight would extend the wait without end
  return rule.inFlight ? null : (rule.recordedId ?? null);
}

/**
 * Judges rules by the read after the changes. Results alone decide only refusals.
 * @param results of the planned changes, by rule id
 * @param observed the target, read after the changes
 */
export function judge<Rule extends DueRule>(
  due: readonly Rule[],
  results: ReadonlyMap<string, ChangeResult>,
  observed: readonly ObservedRule[],
): Verdict<Rule>[] {
  const index = new Observed(observed);
  return due.map((rule) => {
    const result = results.get(rule.ruleId);
    return rule.desired ? judgeDesired(rule, index, result) : judgeUnwanted(rule, index, result);
  });
}

/** Ids of the rules observed under their recorded provider id. */
export function observedAsRecorded(
  due: readonly Pick<DueRule, 'ruleId' | 'key' | 'recordedId'>[],
  observed: readonly ObservedRule[],
): Set<string> {
  const index = new Observed(observed);
  const same = due.filter((rule) => {
    const present = index.present(rule);
    return present !== undefined && present.providerRuleId === rule.recordedId;
  });
  return new Set(same.map(({ ruleId }) => ruleId));
}

/**
 * The rules with the ids under which a read shows them with our mark, where none was recorded before: should the mark be lost
 * until the next read, their id says that they are ours.
 */
export function withObservedIds<Rule extends DueRule>(
  due: readonly Rule[],
  observed: readonly ObservedRule[],
): Rule[] {
  const marked = new Map(
    observed.flatMap(({ key, ownRuleId, providerRuleId }) =>
      ownRuleId === null ? [] : [[key, providerRuleId] as const],
    ),
  );
  return due.map((rule) => {
    const recordedId = rule.recordedId ?? marked.get(rule.key);
    return recordedId === undefined ? rule : { ...rule, recordedId };
  });
}

/** Rules that are ours by their recorded id alone: our mark was removed. */
export function unmarkedOf<Rule extends DueRule>(
  due: readonly Rule[],
  observed: readonly ObservedRule[],
): Rule[] {
  const index = new Observed(observed);
  return due.filter((rule) => {
    const present = index.present(rule);
    return present !== undefined && present.ownRuleId === null && isOurs(present, rule.recordedId);
  });
}

/** What another program made of desired rules, as phrases by rule id. */
export function changesOf(due: readonly DueRule[], observed: readonly ObservedRule[]): Map<string, string> {
  const index = new Observed(observed);
  return new Map(
    due.flatMap((rule) => {
      const change = rule.desired ? index.changeOf(rule) : null;
      return change === null ? [] : [[rule.ruleId, change] as const];
    }),
  );
}

function judgeDesired<Rule extends DueRule>(
  rule: Rule,
  index: Observed,
  result: ChangeResult | undefined,
): Verdict<Rule> {
  const changedTo = index.changeOf(rule);
  if (changedTo !== null) return { ...retry(rule, result, false), changedTo };
  const present = index.inForce(rule);
  if (present) {
    const unmanaged = !isOurs(present, rule.recordedId);
    const unmarked = !unmanaged && present.ownRuleId === null;
    const unknown = result?.result === 'unknown' && present.ownRuleId !== rule.ruleId;
    const { providerRuleId } = present;
    const found = { rule, kind: 'present', providerRuleId, unmanaged, unmarked, unknown } as const;
    const reason = index.noEffect(rule.key);
    return reason === null ? found : { ...found, noEffect: reason };
  }
  if (result?.result === 'refused' && failsAddition(result.kind)) {
    return { rule, kind: 'failed', message: result.message, refusedAs: result.kind };
  }
  return retry(rule, result, false);
}

/** For how long a read, or "not found", may be older than what was observed before. */
const MAX_READ_LAG_MS = 30_000;
/** Shown on what is being removed. */
const NOT_FOUND = 'The provider does not find the rule, which was there a moment ago: it is looked for again';

function judgeUnwanted<Rule extends DueRule>(
  rule: Rule,
  index: Observed,
  result: ChangeResult | undefined,
): Verdict<Rule> {
  const present = index.present(rule);
  if (present && isOurs(present, rule.recordedId)) return retry(rule, result, true);
  const changedTo = index.changeOf(rule);
  if (changedTo !== null) return { ...retry(rule, result, false), changedTo };
  if (result?.result === 'unknown') return retry(rule, result, false);
  // its removal was throttled or failed: the read may be older than the refusal
  if (rule.recordedId && result?.result === 'refused' && RETRYABLE_KINDS.has(result.kind))
    return retry(rule, result, false);
  // it was there a moment ago: what does not find it may be late
  const doubtMs = MAX_READ_LAG_MS - (rule.removingMs ?? MAX_READ_LAG_MS);
  if (result?.result === 'done' && result.wasAbsent && doubtMs > 0)
    return { ...retry(rule, undefined, false), message: NOT_FOUND, againInMs: doubtMs };
  // a call in flight could add the rule after it was reported as removed
  if (rule.inFlight) return retry(rule, { result: 'unknown', message: '' }, false);
  const note = result?.result === 'done' ? result.note : undefined;
  return { rule, kind: 'absent', ...(note !== undefined && { note }) };
}

/** The verdict on a rule that another pass settles. */
export function retry<Rule extends DueRule>(
  rule: Rule,
  result: ChangeResult | undefined,
  observedPresent: boolean,
): Verdict<Rule> & { readonly kind: 'retry' } {
  const message = result && result.result !== 'done' && result.message !== '' ? result.message : null;
  return {
    rule,
    kind: 'retry',
    message,
    ...(result?.result === 'done' && result.isNew && { createdId: result.providerRuleId! }),
    // done, but not observed: either the read or the answer is stale
    unknown: result?.result === 'unknown' || result?.result === 'done',
    observedPresent,
    refused: result?.result === 'refused' && !RETRYABLE_KINDS.has(result.kind),
  };
}

/**
 * How long a target must be missing before its rules are given up. Waiting costs little, and "not found" is often said of a
 * target that exists; a person who knows better abandons the resource.
 */
export const TARGET_GONE_MS = 6 * 3_600_000;

/**
 * Settles rules of a target that could not be read. `absent`: given up, not observed.
 * @param missingMs for how long the target has been missing through the path a rule was written through, by rule id
 */
export function judgeUnreadable<Rule extends DueRule>(
  due: readonly Rule[],
  kind: DriverErrorKind,
  message: string,
  missingMs: ReadonlyMap<string, number> = new Map(),
): Verdict<Rule>[] {
  return due.map((rule) => {
    if (rule.desired && failsAddition(kind)) return { rule, kind: 'failed', message, refusedAs: kind };
    const gone = kind === 'target-missing' && (missingMs.get(rule.ruleId) ?? 0) >= TARGET_GONE_MS;
    if (gone && !rule.desired && !rule.inFlight) return { rule, kind: 'absent' };
    const refused = !RETRYABLE_KINDS.has(kind);
    return { rule, kind: 'retry', message, unknown: false, observedPresent: false, refused };
  });
}
