import { PASSING_KINDS, type ChangeResult, type DriverErrorKind, type ObservedRule } from './provider';

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
  readonly wanted: boolean;
  /** false when its last holder's time is over: no longer opened, though not yet closed */
  readonly mayOpen: boolean;
  /** a call that nobody has heard of since may still land in the cloud */
  readonly inFlight: boolean;
  /** the provider's id under which it was last seen to be ours; missing or null: it was not */
  readonly seenAs?: string | null;
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
    readonly isForeign: boolean;
  }[],
): Map<string, string> {
  const ours = rules.filter((rule) => rule.state !== 'absent' && !rule.isForeign);
  return new Map(ours.map((rule) => [rule.key, rule.ruleId]));
}

export type PlannedChange =
  | { readonly action: 'add'; readonly ruleId: string }
  | { readonly action: 'remove'; readonly ruleId: string; readonly providerRuleId: string };

/** What one look at the cloud, and one batch of changes, settled for a rule. */
export type Verdict =
  | {
      readonly ruleId: string;
      readonly kind: 'present';
      readonly providerRuleId: string;
      readonly foreign: boolean;
    }
  | { readonly ruleId: string; readonly kind: 'absent' }
  /** not settled: look again after a while */
  | {
      readonly ruleId: string;
      readonly kind: 'retry';
      readonly message: string | null;
      readonly unknown: boolean;
    }
  /** adding it will not work however often it is tried */
  | { readonly ruleId: string; readonly kind: 'failed'; readonly message: string };

/** The rule standing under a key: ours when both ours and a foreign one do. */
function byKey(observed: readonly ObservedRule[]): Map<string, ObservedRule> {
  const found = new Map<string, ObservedRule>();
  for (const rule of observed) {
    if (rule.ownRuleId !== null || !found.has(rule.key)) found.set(rule.key, rule);
  }
  return found;
}

/** As `byKey`, of what really lets an address in. */
const inForceByKey = (observed: readonly ObservedRule[]): Map<string, ObservedRule> =>
  byKey(observed.filter(({ inForce }) => inForce !== false));

/**
 * The changes that bring the cloud to what is wanted, removals first. Foreign rules are never removed; a wanted
 * address that a foreign rule lets in needs no rule of ours.
 */
export function planChanges(due: readonly DueRule[], observed: readonly ObservedRule[]): PlannedChange[] {
  const standing = byKey(observed);
  const open = inForceByKey(observed);
  const removals: PlannedChange[] = [];
  const additions: PlannedChange[] = [];
  for (const rule of due) {
    const stands = standing.get(rule.key);
    if (rule.wanted && !open.has(rule.key) && rule.mayOpen)
      additions.push({ action: 'add', ruleId: rule.ruleId });
    const providerRuleId = rule.wanted ? null : toRemove(rule, stands);
    if (providerRuleId !== null) removals.push({ action: 'remove', ruleId: rule.ruleId, providerRuleId });
  }
  return [...removals, ...additions];
}

/**
 * One that was seen and is not shown may stand all the same: what was read may be older than what was seen. While an
 * earlier call may still land that one is waited for: a call sent again before would have us wait without end.
 */
function toRemove({ seenAs, inFlight }: DueRule, stands: ObservedRule | undefined): string | null {
  if (!stands) return inFlight ? null : (seenAs ?? null);
  return stands.ownRuleId === null ? null : stands.providerRuleId;
}

/**
 * What is settled after the changes, by what was read last: an answer alone settles nothing but a refusal.
 * @param results what the driver said of each planned change, by rule id
 * @param observed the cloud object, read after the changes
 */
export function judge(
  due: readonly DueRule[],
  results: ReadonlyMap<string, ChangeResult>,
  observed: readonly ObservedRule[],
): Verdict[] {
  const standing = byKey(observed);
  const open = inForceByKey(observed);
  return due.map((rule) => {
    const result = results.get(rule.ruleId);
    return rule.wanted
      ? judgeWanted(rule, open.get(rule.key), result)
      : judgeUnwanted(rule, standing.get(rule.key), result);
  });
}

function judgeWanted(
  rule: DueRule,
  stands: ObservedRule | undefined,
  result: ChangeResult | undefined,
): Verdict {
  const { ruleId } = rule;
  if (stands) {
    return {
      ruleId,
      kind: 'present',
      providerRuleId: stands.providerRuleId,
      foreign: stands.ownRuleId === null,
    };
  }
  if (result?.result === 'refused' && !PASSING_KINDS.has(result.kind)) {
    return { ruleId, kind: 'failed', message: result.message };
  }
  return retry(ruleId, result);
}

function judgeUnwanted(
  rule: DueRule,
  stands: ObservedRule | undefined,
  result: ChangeResult | undefined,
): Verdict {
  const { ruleId } = rule;
  if (stands && stands.ownRuleId !== null) return retry(ruleId, result);
  if (result?.result === 'unknown') return retry(ruleId, result);
  // one that was seen and whose removal the cloud put off: what was read may be older than the refusal
  if (rule.seenAs && result?.result === 'refused' && PASSING_KINDS.has(result.kind))
    return retry(ruleId, result);
  // A call that may still land would open the address again after we said that it is closed.
  return rule.inFlight ? retry(ruleId, { result: 'unknown', message: '' }) : { ruleId, kind: 'absent' };
}

function retry(ruleId: string, result: ChangeResult | undefined): Verdict {
  const message = result && result.result !== 'done' && result.message !== '' ? result.message : null;
  // done and yet not to be seen: the look was stale, or the answer was
  return {
    ruleId,
    kind: 'retry',
    message,
    unknown: result?.result === 'unknown' || result?.result === 'done',
  };
}

/** For how long a cloud must say that its object is gone before rules count as gone with it. */
export const TARGET_GONE_MS = 30_000;

/**
 * What every rule gets when the cloud object could not even be read.
 * @param missingMs for how long the way a rule was written has led to no object, by rule id
 */
export function judgeUnreadable(
  due: readonly DueRule[],
  kind: DriverErrorKind,
  message: string,
  missingMs: ReadonlyMap<string, number> = new Map(),
): Verdict[] {
  return due.map((rule) => {
    const { ruleId } = rule;
    if (rule.wanted && !PASSING_KINDS.has(kind)) return { ruleId, kind: 'failed', message };
    const gone = kind === 'target-missing' && (missingMs.get(ruleId) ?? 0) >= TARGET_GONE_MS;
    if (gone && !rule.wanted && !rule.inFlight) return { ruleId, kind: 'absent' };
    return { ruleId, kind: 'retry', message, unknown: false };
  });
}
