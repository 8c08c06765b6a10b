import type { DueRuleRow, RuleSettlement } from '#entities';
import { backoffMs, RULE_BACKOFF, type ChangeResult, type PlannedChange, type Verdict } from '#rules';

const SOONEST_MS = 200;
const BUDGET_SPENT = 'Waiting for the cloud account to allow more changes';

/** The wait after one more failure of a rule. @param random the same for all of a look: what fails together comes back together */
export const backoffOf = (rule: DueRuleRow, random: number): number =>
  backoffMs(RULE_BACKOFF, rule.attempts + 1, random);

/** The wait after an object could not be read: one for all its rules, as one look will do for all. */
export const backoffOfAll = (rules: readonly DueRuleRow[]): number =>
  backoffMs(RULE_BACKOFF, Math.max(...rules.map(({ attempts }) => attempts)) + 1, Math.random());

/** What to write for a rule that needed no look at the cloud. */
export function settledLocally(rule: DueRuleRow): RuleSettlement {
  return { ...base(rule), state: null, dueInMs: null };
}

/** Keeps the rule due as it is; only those who let go of it are settled. */
export function stillDue(rule: DueRuleRow): RuleSettlement {
  return { ...base(rule), attempts: rule.attempts, dueInMs: 0, inFlight: rule.inFlight };
}

/**
 * Rules that were not looked at because their account's write budget is spent: no try of theirs has failed.
 * @param waitMs until it is worth asking again
 */
export const heldBack = (rules: readonly DueRuleRow[], waitMs: number): RuleSettlement[] =>
  rules.map((rule) => ({
    ...settlement(
      rule,
      { ruleId: rule.ruleId, kind: 'retry', message: BUDGET_SPENT, unknown: false },
      false,
      waitMs,
    ),
    attempts: rule.attempts,
  }));

/** The same when it was found out after the look. */
export const refused = (planned: readonly PlannedChange[]): Map<string, ChangeResult> =>
  new Map(
    planned.map(({ ruleId }) => [ruleId, { result: 'refused', kind: 'throttled', message: BUDGET_SPENT }]),
  );

/**
 * What to write for a verdict.
 * @param sent the cloud was read, so that a failed add is known to be absent
 * @param waitMs when to look again if it is not settled
 */
export function settlement(
  rule: DueRuleRow,
  verdict: Verdict,
  sent: boolean,
  waitMs: number,
): RuleSettlement {
  const looked = { ...base(rule), targetMissing: sent ? false : null };
  const again = Math.max(SOONEST_MS, waitMs);
  const awaitsLanding = rule.inFlight && !rule.wanted;
  switch (verdict.kind) {
    case 'present':
      return {
        ...looked,
        state: 'present',
        providerRuleId: verdict.providerRuleId,
        isForeign: verdict.foreign,
      };
    case 'absent':
      return { ...looked, state: 'absent', isForeign: false };
    case 'retry':
      return {
        ...looked,
        attempts: rule.attempts + 1,
        dueInMs: awaitsLanding ? Math.min(again, rule.inFlightMs + SOONEST_MS) : again,
        inFlight: verdict.unknown || rule.inFlight,
        message: verdict.message,
      };
    case 'failed': {
      const heldByOthers = rule.holders.some((holder) => holder.status === 'APPLIED');
      return {
        ...looked,
        state: sent ? 'absent' : null,
        attempts: rule.attempts + 1,
        dueInMs: heldByOthers ? again : null,
        message: verdict.message,
        failed: true,
      };
    }
  }
}

function base(rule: DueRuleRow): RuleSettlement {
  return {
    ruleId: rule.ruleId,
    revision: rule.revision,
    state: null,
    providerRuleId: null,
    isForeign: null,
    attempts: 0,
    dueInMs: null,
    inFlight: false,
    message: null,
    targetMissing: null,
    failed: false,
  };
}
