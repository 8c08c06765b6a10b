import type { AdditionCause, RemovalCause } from './cause';
import { RETRYABLE_KINDS, type ChangeResult, type DriverErrorKind, type ObservedRule } from './provider';

/**
 * What the database knows of one cloud rule. `absent` and `present` were observed; `unknown` means a call was on
 * its way when we last knew.
 */
export type RuleState = 'absent' | 'unknown' | 'present';

/** One cloud rule that is due, as the database wants it. */
export interface DueRule {
  readonly ruleId: string;
  /** `ruleKey` of the opening */
  readonly key: string;
  /** a live holder exists */
  readonly desired: boolean;
  /** false when its last holder's time is over: no longer opened, though not yet closed */
  readonly mayOpen: boolean;
  /** a call that nobody has heard of since may still land in the cloud */
  readonly inFlight: boolean;
  /** the provider's id under which it was last seen to be ours; missing or null: it was not */
  readonly seenAs?: string | null;
  /** why it would be added */
  readonly addCause: AdditionCause;
  /** why it is to be removed */
  readonly removeCause: RemovalCause;
}

/**
 * The rules that stand by our record, for clouds whose entries carry no mark. A rule is ours from the moment we note
 * that we are about to write it, which is after its place was seen empty.
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

/** A change with the rule it is about, and its cause. */
export type PlannedChange<Rule extends DueRule = DueRule> =
  | { readonly action: 'add'; readonly rule: Rule; readonly cause: AdditionCause }
  | {
      readonly action: 'remove';
      readonly rule: Pick<Rule, 'ruleId'>;
      readonly providerRuleId: string;
      readonly cause: RemovalCause;
    };

/** What one pass settled for a rule. */
export type Verdict<Rule extends DueRule = DueRule> = { readonly rule: Rule } & (
  | {
      readonly kind: 'present';
      readonly providerRuleId: string;
      /** it is there and not ours */
      readonly unmanaged: boolean;
      /** ours by its recorded provider id, without our mark */
      readonly unmarked: boolean;
    }
  | {
      readonly kind: 'absent';
      /** what its provider id lets in now: another program changed it */
      readonly changedTo: string | null;
    }
  /** not settled: another pass follows */
  | {
      readonly kind: 'retry';
      readonly message: string | null;
      readonly unknown: boolean;
      /** ours, and still observed present */
      readonly stands: boolean;
      /** the provider refused the change, and will again */
      readonly refused: boolean;
    }
  /** adding it will not work however often it is tried */
  | { readonly kind: 'failed'; readonly message: string }
);

/** The observed rules of a target, to be asked for one of ours. */
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

  /** What is present under the rule's key: ours when both ours and another is. */
  present({ key, seenAs }: Pick<DueRule, 'key' | 'seenAs'>): ObservedRule | undefined {
    const same = this.byKey.get(key) ?? [];
    return (
      same.find(({ ownRuleId }) => ownRuleId !== null) ??
      same.find(({ providerRuleId }) => providerRuleId === seenAs) ??
      same[0]
    );
  }

  /** As `present`, of what really lets an address in. */
  inForce({ key, seenAs }: Pick<DueRule, 'key' | 'seenAs'>): ObservedRule | undefined {
    const same = (this.byKey.get(key) ?? []).filter(({ inForce }) => inForce !== false);
    return (
      same.find(({ ownRuleId }) => ownRuleId !== null) ??
      same.find(({ providerRuleId }) => providerRuleId === seenAs) ??
      same[0]
    );
  }

  /** What the rule's provider id lets in now, when that is something else; null: nothing, or the same. */
  changedTo({ key, seenAs }: Pick<DueRule, 'key' | 'seenAs'>): string | null {
    const now = seenAs ? this.byId.get(seenAs) : undefined;
    return now && now.key !== key && !this.byKey.has(key) ? now.key : null;
  }
}

/** Ownership evidence is the mark or the recorded provider id. */
export const isOurs = (
  { ownRuleId, providerRuleId }: Pick<ObservedRule, 'ownRuleId' | 'providerRuleId'>,
  seenAs: string | null | undefined,
): boolean => ownRuleId !== null || providerRuleId === seenAs;

/**
 * The changes that bring a target to what is desired, removals first. Unmanaged rules are never removed; an address that
 * one of them lets in needs no rule of ours.
 *
 * | desired | observed | change |
 * |---|---|---|
 * | yes | in force, ours or unmanaged | none |
 * | yes | not in force | add, unless its last holder has run out |
 * | no | ours by mark or recorded id | remove |
 * | no | unmanaged | none |
 * | no | not present, and was seen before | remove by its recorded id: the read may be stale. Not while an earlier call may still land, nor when that id lets in something else now |
 * | no | not present, never seen | none |
 */
export function planChanges<Rule extends DueRule>(
  due: readonly Rule[],
  observed: readonly ObservedRule[],
): PlannedChange<Rule>[] {
  const seen = new Observed(observed);
  const removals: PlannedChange<Rule>[] = [];
  const additions: PlannedChange<Rule>[] = [];
  for (const rule of due) {
    if (rule.desired && !seen.inForce(rule) && rule.mayOpen)
      additions.push({ action: 'add', rule, cause: rule.addCause });
    const providerRuleId = rule.desired ? null : idToRemove(rule, seen);
    if (providerRuleId !== null)
      removals.push({ action: 'remove', rule, providerRuleId, cause: rule.removeCause });
  }
  return [...removals, ...additions];
}

function idToRemove(rule: DueRule, seen: Observed): string | null {
  const present = seen.present(rule);
  if (present) return isOurs(present, rule.seenAs) ? present.providerRuleId : null;
  // one call at a time: a removal sent again while the last one may land would be waited for without end
  if (rule.inFlight || seen.changedTo(rule) !== null) return null;
  return rule.seenAs ?? null;
}

/**
 * What is settled after the changes, by what was read last: an answer alone settles nothing but a refusal.
 * @param results what the driver said of each planned change, by rule id
 * @param observed the target, read after the changes
 */
export function judge<Rule extends DueRule>(
  due: readonly Rule[],
  results: ReadonlyMap<string, ChangeResult>,
  observed: readonly ObservedRule[],
): Verdict<Rule>[] {
  const seen = new Observed(observed);
  return due.map((rule) => {
    const result = results.get(rule.ruleId);
    return rule.desired ? judgeDesired(rule, seen, result) : judgeUnwanted(rule, seen, result);
  });
}

/** The rules that are present as they were recorded: ours, under the same provider id. @returns their ids */
export function asRecorded(
  due: readonly Pick<DueRule, 'ruleId' | 'key' | 'seenAs'>[],
  observed: readonly ObservedRule[],
): Set<string> {
  const seen = new Observed(observed);
  const same = due.filter((rule) => {
    const present = seen.present(rule);
    return present !== undefined && present.providerRuleId === rule.seenAs;
  });
  return new Set(same.map(({ ruleId }) => ruleId));
}

/** The rules of ours that are present by their recorded id alone: our mark was removed from them. */
export function unmarkedOf<Rule extends DueRule>(
  due: readonly Rule[],
  observed: readonly ObservedRule[],
): Rule[] {
  const seen = new Observed(observed);
  return due.filter((rule) => {
    const present = seen.present(rule);
    return present !== undefined && present.ownRuleId === null && isOurs(present, rule.seenAs);
  });
}

function judgeDesired<Rule extends DueRule>(
  rule: Rule,
  seen: Observed,
  result: ChangeResult | undefined,
): Verdict<Rule> {
  const present = seen.inForce(rule);
  if (present) {
    const unmanaged = !isOurs(present, rule.seenAs);
    const unmarked = !unmanaged && present.ownRuleId === null;
    return { rule, kind: 'present', providerRuleId: present.providerRuleId, unmanaged, unmarked };
  }
  if (result?.result === 'refused' && !RETRYABLE_KINDS.has(result.kind)) {
    return { rule, kind: 'failed', message: result.message };
  }
  return retry(rule, result, false);
}

function judgeUnwanted<Rule extends DueRule>(
  rule: Rule,
  seen: Observed,
  result: ChangeResult | undefined,
): Verdict<Rule> {
  const present = seen.present(rule);
  if (present && isOurs(present, rule.seenAs)) return retry(rule, result, true);
  if (result?.result === 'unknown') return retry(rule, result, false);
  // one that was seen and whose removal the cloud put off: what was read may be older than the refusal
  if (rule.seenAs && result?.result === 'refused' && RETRYABLE_KINDS.has(result.kind))
    return retry(rule, result, false);
  // A call that may still land would open the address again after we said that it is closed.
  if (rule.inFlight) return retry(rule, { result: 'unknown', message: '' }, false);
  return { rule, kind: 'absent', changedTo: seen.changedTo(rule) };
}

function retry<Rule extends DueRule>(
  rule: Rule,
  result: ChangeResult | undefined,
  stands: boolean,
): Verdict<Rule> {
  const message = result && result.result !== 'done' && result.message !== '' ? result.message : null;
  return {
    rule,
    kind: 'retry',
    message,
    // done and yet not to be seen: the read was stale, or the answer was
    unknown: result?.result === 'unknown' || result?.result === 'done',
    stands,
    refused: result?.result === 'refused' && !RETRYABLE_KINDS.has(result.kind),
  };
}

/** For how long a cloud must say that its object is gone before rules count as gone with it. */
export const TARGET_GONE_MS = 30_000;

/**
 * What every rule gets when the target could not even be read.
 * @param missingMs for how long the way a rule was written has led to no target, by rule id
 */
export function judgeUnreadable<Rule extends DueRule>(
  due: readonly Rule[],
  kind: DriverErrorKind,
  message: string,
  missingMs: ReadonlyMap<string, number> = new Map(),
): Verdict<Rule>[] {
  return due.map((rule) => {
    if (rule.desired && !RETRYABLE_KINDS.has(kind)) return { rule, kind: 'failed', message };
    const gone = kind === 'target-missing' && (missingMs.get(rule.ruleId) ?? 0) >= TARGET_GONE_MS;
    if (gone && !rule.desired && !rule.inFlight) return { rule, kind: 'absent', changedTo: null };
    const refused = !RETRYABLE_KINDS.has(kind);
    return { rule, kind: 'retry', message, unknown: false, stands: false, refused };
  });
}
