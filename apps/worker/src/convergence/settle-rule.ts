import type { DueRuleRow, RuleSettlement } from '#entities';
import { backoffMs, RULE_BACKOFF, type RuleState, type Verdict } from '#rules';
import type { Pass } from './passes';

const SOONEST_MS = 200;

/** What to write for a rule that needed no look at the cloud. */
function settledLocally(rule: DueRuleRow): RuleSettlement {
  // nobody wants it and it was never written: without a way to it there is nothing to look at
  return { ...base(rule), state: rule.wanted ? null : 'absent', dueInMs: null };
}

/** Keeps the rule due as it is; only those who let go of it are settled. */
function stillDue(rule: DueRuleRow): RuleSettlement {
  return { ...base(rule), attempts: rule.attempts, dueInMs: 0 };
}

/** What to write for the rules that the cloud is not asked about, or not for this. */
export const withoutLook = (
  settled: readonly DueRuleRow[],
  kept: readonly DueRuleRow[],
): Map<DueRuleRow, RuleSettlement> =>
  new Map([
    ...settled.map((rule) => [rule, settledLocally(rule)] as const),
    ...kept.map((rule) => [rule, stillDue(rule)] as const),
  ]);

/** In words for people: the account's write budget is spent. */
export const BUDGET_SPENT = 'Waiting for the cloud account to allow more changes';

/**
 * Rules that were not looked at because their account's write budget is spent: no try of theirs has failed.
 * @param waitMs until it is worth asking again
 */
export const postponed = (rules: readonly DueRuleRow[], waitMs: number): RuleSettlement[] =>
  rules.map((rule) => ({
    ...settlement(
      rule,
      { ruleId: rule.ruleId, kind: 'retry', message: BUDGET_SPENT, unknown: false },
      false,
      waitMs,
      0,
    ),
    attempts: rule.attempts,
  }));

/**
 * What to write for a verdict.
 * @param sent the cloud was read, so that a failed add is known to be absent
 * @param waitMs when to look again, if the provider or its budget said; null: back off
 * @param chance 0 (inclusive) to 1 (exclusive), for the jitter of the next look
 */
export function settlement(
  rule: DueRuleRow,
  verdict: Verdict,
  sent: boolean,
  waitMs: number | null,
  chance: number,
): RuleSettlement {
  const looked = { ...base(rule), targetMissing: sent ? false : null };
  // whoever asks for more than the longest pause is asked again after that: what is to be closed cannot wait an hour
  const given = waitMs === null ? null : Math.min(waitMs, RULE_BACKOFF.capMs);
  const again = Math.max(SOONEST_MS, given ?? backoffMs(RULE_BACKOFF, rule.attempts + 1, chance));
  const awaitsLanding = rule.inFlight && !rule.wanted;
  switch (verdict.kind) {
    case 'present':
      return {
        ...looked,
        state: 'present',
        providerRuleId: verdict.providerRuleId,
        isForeign: verdict.foreign,
        // a removal that nobody heard of may still take it out: look once more when it no longer can
        dueInMs: rule.inFlight ? rule.inFlightMs + SOONEST_MS : null,
      };
    case 'absent':
      return { ...looked, state: 'absent', isForeign: false, inFlight: false };
    case 'retry': {
      const inFlight = verdict.unknown || rule.inFlight;
      return {
        ...looked,
        state: sent && rule.wanted ? unsettled(rule, inFlight) : null,
        attempts: rule.attempts + 1,
        dueInMs: awaitsLanding ? Math.min(again, rule.inFlightMs + SOONEST_MS) : again,
        inFlight,
        message: verdict.message,
      };
    }
    case 'failed': {
      const heldByOthers = rule.holders.some((holder) => holder.status === 'APPLIED');
      return {
        ...looked,
        state: sent ? (rule.inFlight ? 'unknown' : 'absent') : null,
        attempts: rule.attempts + 1,
        dueInMs: heldByOthers ? again : null,
        message: verdict.message,
        failed: true,
      };
    }
  }
}

/** It was believed to stand, and the look did not show it; or it never stood, and is not claimed where others may write it. */
const unsettled = ({ state }: DueRuleRow, inFlight: boolean): RuleState =>
  state === 'absent' && !inFlight ? 'absent' : 'unknown';

/** A rule that several wait for stays due until the next round finds that nobody does: one way may fail, or break off. */
export function keptDue(found: readonly RuleSettlement[], { shared }: Pass): RuleSettlement[] {
  return found.map((rule) => (shared.has(rule.ruleId) ? { ...rule, dueInMs: rule.dueInMs ?? 0 } : rule));
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
    // of two adds that nobody heard of one may be seen and the other still land
    inFlight: rule.inFlight,
    message: null,
    targetMissing: null,
    failed: false,
  };
}
