import type { AdditionCause, RemovalCause } from './cause';
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

/** A change of a rule, with its cause. */
export type PlannedChange<Rule extends DueRule = DueRule> =
  | { readonly action: 'add'; readonly rule: Rule; readonly cause: AdditionCause }
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
      /** `ruleKey` of what its provider id allows now: another program changed it */
      readonly changedTo: string | null;
      /** what its removal left behind, without effect */
      readonly note?: string;
    }
  /** not settled: another pass follows */
  | {
      readonly kind: 'retry';
      readonly message: string | null;
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

/** Index of the observed rules of a target. */
class Observed {
  private readonly byKey = new Map<string, ObservedRule[]>();
  private readonly byId = new Map<string, ObservedRule>();

  constructor(observed: readonly ObservedRule[]) {
    for (const rule of observed) {
      const same = this.byKey.get(rule.key);
      if (same) same.push(rule);
      else this.byKey.set(rule.key, [rule]);
      if (!this.byId.has(rule.providerRuleId)) this.byId.set(rule.providerRuleId, rule);
    }
  }

  /** The rule observed under the key; ours, if there are several. */
  present({ key, recordedId }: Pick<DueRule, 'key' | 'recordedId'>): ObservedRule | undefined {
    const same = this.byKey.get(key) ?? [];
    return (
      same.find(({ ownRuleId }) => ownRuleId !== null) ??
      same.find(({ providerRuleId }) => providerRuleId === recordedId) ??
      same[0]
    );
  }

  /** As `present`, among the rules that are in force. */
  inForce({ key, recordedId }: Pick<DueRule, 'key' | 'recordedId'>): ObservedRule | undefined {
    const same = (this.byKey.get(key) ?? []).filter(({ inForce }) => inForce !== false);
    return (
      same.find(({ ownRuleId }) => ownRuleId !== null) ??
      same.find(({ providerRuleId }) => providerRuleId === recordedId) ??
      same[0]
    );
  }

  /** Why none of the rules under the key has an effect; null: one has, or none is present. */
  noEffect(key: string): string | null {
    return noEffect((this.byKey.get(key) ?? []).filter(({ inForce }) => inForce !== false));
  }

  /** The key now observed under the rule's provider id, if it differs; else null. */
  changedTo({ key, recordedId }: Pick<DueRule, 'key' | 'recordedId'>): string | null {
    const now = recordedId ? this.byId.get(recordedId) : undefined;
    return now && now.key !== key && !this.byKey.has(key) ? now.key : null;
  }
}

/** The message of rules of one key when none of them has an effect; null: one has, or there are none. */
export const noEffect = (rules: readonly ObservedRule[]): string | null =>
  rules.every((rule) => rule.noEffect !== undefined) ? (rules[0]?.noEffect ?? null) : null;

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
 * | yes | not in force | add, unless its last holder has expired |
 * | no | ours by mark or recorded id | remove |
 * | no | unmanaged | none |
 * | no | not present, and was observed before | remove by its recorded id: the read may be stale. Not while an earlier call is in flight, nor when that id allows other traffic now |
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
    if (rule.desired && !index.inForce(rule) && rule.mayOpen)
      additions.push({ action: 'add', rule, cause: rule.addCause });
    const providerRuleId = rule.desired ? null : idToRemove(rule, index);
    if (providerRuleId !== null)
      removals.push({ action: 'remove', rule, providerRuleId, cause: rule.removeCause });
  }
  return [...removals, ...additions];
}

function idToRemove(rule: DueRule, index: Observed): string | null {
  const present = index.present(rule);
  if (present) return isOurs(present, rule.recordedId) ? present.providerRuleId : null;
  // not shown: sending the removal again while it is in flight would extend the wait without end
  if (rule.inFlight || index.changedTo(rule) !== null) return null;
  return rule.recordedId ?? null;
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

function judgeDesired<Rule extends DueRule>(
  rule: Rule,
  index: Observed,
  result: ChangeResult | undefined,
): Verdict<Rule> {
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

function judgeUnwanted<Rule extends DueRule>(
  rule: Rule,
  index: Observed,
  result: ChangeResult | undefined,
): Verdict<Rule> {
  const present = index.present(rule);
  if (present && isOurs(present, rule.recordedId)) return retry(rule, result, true);
  if (result?.result === 'unknown') return retry(rule, result, false);
  // its removal was throttled or failed: the read may be older than the refusal
  if (rule.recordedId && result?.result === 'refused' && RETRYABLE_KINDS.has(result.kind))
    return retry(rule, result, false);
  // a call in flight could add the rule after it was reported as removed
  if (rule.inFlight) return retry(rule, { result: 'unknown', message: '' }, false);
  const note = result?.result === 'done' ? result.note : undefined;
  return { rule, kind: 'absent', changedTo: index.changedTo(rule), ...(note !== undefined && { note }) };
}

/** The verdict on a rule that another pass settles. */
export function retry<Rule extends DueRule>(
  rule: Rule,
  result: ChangeResult | undefined,
  observedPresent: boolean,
): Verdict<Rule> {
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
    if (gone && !rule.desired && !rule.inFlight) return { rule, kind: 'absent', changedTo: null };
    const refused = !RETRYABLE_KINDS.has(kind);
    return { rule, kind: 'retry', message, unknown: false, observedPresent: false, refused };
  });
}
