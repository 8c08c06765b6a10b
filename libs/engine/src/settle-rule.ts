import { isDeepStrictEqual } from 'node:util';
import type { DueRuleRow, OwnedAccess } from '#engine-store';
import {
  backoffMs,
  HOLDING_STATUSES,
  RULE_BACKOFF,
  type RuleState,
  type Verdict,
  type Access,
  type RuleSettlement,
} from '#rules';

const MIN_RETRY_MS = 200;

/** The settlement of a rule that needs no read of the target. */
function localSettlement(rule: DueRuleRow): RuleSettlement {
  // unwanted rules here are abandoned, absent or were never written
  return {
    ...base(rule),
    state: rule.desired ? null : 'absent',
    dueInMs: null,
    inFlight: rule.inFlight && rule.desired,
  };
}

/** Keeps the rule due; only its released holders are settled. */
function stillDue(rule: DueRuleRow): RuleSettlement {
  return { ...base(rule), attempts: rule.attempts, dueInMs: 0 };
}

/** Settlements that need no read of the target. @param kept rules whose released holders are settled */
export const localSettlements = (
  settled: readonly DueRuleRow[],
  kept: readonly DueRuleRow[],
): Map<DueRuleRow, RuleSettlement> =>
  new Map([
    ...settled.map((rule) => [rule, localSettlement(rule)] as const),
    ...kept.map((rule) => [rule, stillDue(rule)] as const),
  ]);

/** Shown to users: the account's write budget is spent. */
export const BUDGET_SPENT = 'Waiting for the cloud account to allow more changes';

/**
 * Settlements of rules whose target was not read. They do not count as failed attempts.
 * @param waitMs until the next attempt
 * @param message the reason, shown to users
 */
export const postponed = (rules: readonly DueRuleRow[], waitMs: number, message: string): RuleSettlement[] =>
  rules.map((rule) => ({
    ...settlement(
      { rule, kind: 'retry', message, unknown: false, observedPresent: false, refused: false },
      false,
      waitMs,
      0,
    ),
    attempts: rule.attempts,
  }));

/**
 * Converts a verdict to a settlement.
 * @param wasRead the target was read, so that a failed addition is known to be absent
 * @param waitMs wait requested by the provider or its budget; null: back off
 * @param chance 0 (inclusive) to 1 (exclusive), for the jitter of the next attempt
 */
export function settlement(
  verdict: Verdict<DueRuleRow>,
  wasRead: boolean,
  waitMs: number | null,
  chance: number,
): RuleSettlement {
  const { rule } = verdict;
  const settled = { ...base(rule), targetMissing: wasRead ? false : null };
  // a requested wait is capped: a removal cannot wait for an hour
  const given = waitMs === null ? null : Math.min(waitMs, RULE_BACKOFF.capMs);
  const again = Math.max(MIN_RETRY_MS, given ?? backoffMs(RULE_BACKOFF, rule.attempts + 1, chance));
  switch (verdict.kind) {
    case 'present':
      return {
        ...settled,
        state: 'present',
        observedPresent: true,
        providerRuleId: verdict.providerRuleId,
        isUnmanaged: verdict.unmanaged,
        isUnmarked: verdict.unmarked,
        inFlight: rule.inFlight || verdict.unknown,
        // a removal in flight may still take effect: one more pass after its deadline
        dueInMs: rule.inFlight ? rule.inFlightMs + MIN_RETRY_MS : null,
        message: verdict.noEffect ?? null,
        failed: verdict.noEffect !== undefined,
      };
    case 'absent':
      return {
        ...settled,
        state: 'absent',
        isUnmanaged: false,
        isUnmarked: false,
        inFlight: false,
        // its remaining holders now write it through their own access paths
        dueInMs: rule.removeCause === 'WRITER_RELEASED' ? 0 : null,
      };
    case 'retry':
      return { ...settled, ...retried(verdict, wasRead, again) };
    case 'failed': {
      const heldByOthers = rule.holders.some((holder) => holder.status === 'APPLIED');
      return {
        ...settled,
        state: wasRead ? (rule.inFlight ? 'unknown' : 'absent') : null,
        attempts: rule.attempts + 1,
        dueInMs: heldByOthers ? again : null,
        message: verdict.message,
        failed: true,
        ...(verdict.refusedAs === 'wrong-family' && { wrongFamily: true as const }),
      };
    }
  }
}

function retried(
  { rule, message, createdId, unknown, observedPresent }: Verdict<DueRuleRow> & { kind: 'retry' },
  wasRead: boolean,
  again: number,
): Pick<
  RuleSettlement,
  'state' | 'observedPresent' | 'providerRuleId' | 'attempts' | 'dueInMs' | 'inFlight' | 'message'
> {
  const inFlight = unknown || rule.inFlight;
  const awaitsLanding = rule.inFlight && !rule.desired;
  return {
    state: wasRead && rule.desired ? unsettled(rule, inFlight) : null,
    observedPresent: wasRead && observedPresent,
    providerRuleId: createdId ?? null,
    attempts: rule.attempts + 1,
    dueInMs: awaitsLanding ? Math.min(again, rule.inFlightMs + MIN_RETRY_MS) : again,
    inFlight,
    message,
  };
}

/** The state of a desired rule that was not observed. An absent rule without a call in flight stays absent, so that it is not
 * claimed as ours. */
const unsettled = ({ state }: DueRuleRow, inFlight: boolean): RuleState =>
  state === 'absent' && !inFlight ? 'absent' : 'unknown';

/**
 * The access path for the later removal of a present rule. It changes to that of this pass when no holder uses the one the
 * rule was written through, so that the old credential can be deleted. A path of another organization must be write-verified,
 * because a read-only credential could not remove the rule.
 * @returns null: unchanged
 */
export function accessToAdopt(rule: DueRuleRow, access: OwnedAccess): Access | null {
  const isWrittenThrough = (path: Access): boolean =>
    path.credentialId === rule.writtenWith?.credentialId && path.region === rule.writtenWith.region;
  if (isWrittenThrough(access)) return null;
  const live = rule.holders.filter(({ status }) => HOLDING_STATUSES.some((holding) => holding === status));
  if (live.some((holder) => isWrittenThrough(holder.access))) return null;
  const isWritersOwn =
    rule.writerOrganizationId === null || rule.writerOrganizationId === access.organizationId;
  const isVerified = live.some(
    (holder) => holder.writeVerified && isDeepStrictEqual(plain(holder.access), plain(access)),
  );
  return isWritersOwn || isVerified ? plain(access) : null;
}

const plain = ({ credentialId, region }: Access): Access => ({ credentialId, region });

function base(rule: DueRuleRow): RuleSettlement {
  return {
    ruleId: rule.ruleId,
    revision: rule.revision,
    state: null,
    observedPresent: false,
    presentAtStart: false,
    providerRuleId: null,
    isUnmanaged: null,
    isUnmarked: null,
    attempts: 0,
    dueInMs: null,
    // of two additions without an answer, one may be observed while the other is still in flight
    inFlight: rule.inFlight,
    message: null,
    targetMissing: null,
    failed: false,
    unwanted: rule.desired ? null : rule.removeCause,
    addCause: rule.addCause,
    adopt: null,
  };
}
