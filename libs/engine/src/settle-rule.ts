import { isDeepStrictEqual } from 'node:util';
import type { Access, DueRuleRow, RuleSettlement } from '#engine-store';
import { backoffMs, HOLDING_STATUSES, RULE_BACKOFF, type RuleState, type Verdict } from '#rules';
import type { Pass, PassAccess } from './passes';

const MIN_RETRY_MS = 200;

/** What to write for a rule that needed no look at the target. */
function settledLocally(rule: DueRuleRow): RuleSettlement {
  // no holder wants it and it was never written: without a way to it there is nothing to read
  return {
    ...base(rule),
    state: rule.desired ? null : 'absent',
    dueInMs: null,
    inFlight: rule.inFlight && rule.desired,
  };
}

/** Keeps the rule due as it is; only the holders that were released are settled. */
function stillDue(rule: DueRuleRow): RuleSettlement {
  return { ...base(rule), attempts: rule.attempts, dueInMs: 0 };
}

/** What to write for the rules that the target is not asked about, or not for this. */
export const withoutLook = (
  settled: readonly DueRuleRow[],
  kept: readonly DueRuleRow[],
): Map<DueRuleRow, RuleSettlement> =>
  new Map([
    ...settled.map((rule) => [rule, settledLocally(rule)] as const),
    ...kept.map((rule) => [rule, stillDue(rule)] as const),
  ]);

/** Shown to people: the account's write budget is spent. */
export const BUDGET_SPENT = 'Waiting for the cloud account to allow more changes';
/** Shown to people: the credential was refused a moment ago. */
export const CREDENTIAL_DENIED = 'The credential was refused; it is tried again in a moment';

/**
 * Rules that were not looked at: no try of theirs has failed.
 * @param waitMs until it is worth asking again
 * @param message why, for people
 */
export const postponed = (rules: readonly DueRuleRow[], waitMs: number, message: string): RuleSettlement[] =>
  rules.map((rule) => ({
    ...settlement(
      { rule, kind: 'retry', message, unknown: false, stands: false, refused: false },
      false,
      waitMs,
      0,
    ),
    attempts: rule.attempts,
  }));

/**
 * What to write for a verdict.
 * @param sent the target was read, so that a failed add is known to be absent
 * @param waitMs when to try again, if the provider or its budget said; null: back off
 * @param chance 0 (inclusive) to 1 (exclusive), for the jitter of the next try
 */
export function settlement(
  verdict: Verdict<DueRuleRow>,
  sent: boolean,
  waitMs: number | null,
  chance: number,
): RuleSettlement {
  const { rule } = verdict;
  const looked = { ...base(rule), targetMissing: sent ? false : null };
  // whoever asks for more than the longest pause is asked again after that: what is to be closed cannot wait an hour
  const given = waitMs === null ? null : Math.min(waitMs, RULE_BACKOFF.capMs);
  const again = Math.max(MIN_RETRY_MS, given ?? backoffMs(RULE_BACKOFF, rule.attempts + 1, chance));
  switch (verdict.kind) {
    case 'present':
      return {
        ...looked,
        state: 'present',
        stands: true,
        providerRuleId: verdict.providerRuleId,
        isUnmanaged: verdict.unmanaged,
        isUnmarked: verdict.unmarked,
        // a removal without an answer may still remove it: one more pass when it no longer can
        dueInMs: rule.inFlight ? rule.inFlightMs + MIN_RETRY_MS : null,
      };
    case 'absent':
      return {
        ...looked,
        state: 'absent',
        isUnmanaged: false,
        isUnmarked: false,
        inFlight: false,
        // removed for want of a holder who could: those it has write it themselves
        dueInMs: rule.removeCause === 'WRITER_RELEASED' ? 0 : null,
      };
    case 'retry':
      return { ...looked, ...retried(verdict, sent, again) };
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

function retried(
  { rule, message, unknown, stands }: Verdict<DueRuleRow> & { kind: 'retry' },
  sent: boolean,
  again: number,
): Pick<RuleSettlement, 'state' | 'stands' | 'attempts' | 'dueInMs' | 'inFlight' | 'message'> {
  const inFlight = unknown || rule.inFlight;
  const awaitsLanding = rule.inFlight && !rule.desired;
  return {
    state: sent && rule.desired ? unsettled(rule, inFlight) : null,
    stands: sent && stands,
    attempts: rule.attempts + 1,
    dueInMs: awaitsLanding ? Math.min(again, rule.inFlightMs + MIN_RETRY_MS) : again,
    inFlight,
    message,
  };
}

/** It was believed present and was not seen; or it never was, and is not claimed where others may write it. */
const unsettled = ({ state }: DueRuleRow, inFlight: boolean): RuleState =>
  state === 'absent' && !inFlight ? 'absent' : 'unknown';

/** A rule that several wait for stays due until the next round finds that nothing waits: one way may fail, or break off. */
export function keptDue(found: readonly RuleSettlement[], { shared }: Pass): RuleSettlement[] {
  return found.map((rule) => (shared.has(rule.ruleId) ? { ...rule, dueInMs: rule.dueInMs ?? 0 } : rule));
}

/**
 * The way by which a rule that was observed present is removed from now on: the one this pass took, where no holder goes
 * the way it was written any more, so that the old credential may go. Another organization's only where it is
 * write-verified: a credential that may only read would not close what the writer's can.
 * @returns null: as it was
 */
export function adopted(rule: DueRuleRow, access: PassAccess): Access | null {
  const sameWay = (way: Access): boolean =>
    way.credentialId === rule.writtenWith?.credentialId && way.region === rule.writtenWith.region;
  if (sameWay(access)) return null;
  const live = rule.holders.filter(({ status }) => HOLDING_STATUSES.some((holding) => holding === status));
  if (live.some((holder) => sameWay(holder.access))) return null;
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
    stands: false,
    stoodBefore: false,
    providerRuleId: null,
    isUnmanaged: null,
    isUnmarked: null,
    attempts: 0,
    dueInMs: null,
    // of two adds without an answer one may be seen and the other still land
    inFlight: rule.inFlight,
    message: null,
    targetMissing: null,
    failed: false,
    unwanted: rule.desired ? null : rule.removeCause,
    addCause: rule.addCause,
    adopt: null,
  };
}
