import { backoffMs, RULE_BACKOFF } from './backoff';
import type { Verdict } from './judge';
import type { DriverErrorKind } from './provider';
import type { DueRule } from './due-rule';
import type { Access, Instant, OwnedAccess, ReadTimes, Rule, RuleEvent, RuleState } from './rule';
import { changedMessage, settledEvents, type Ending } from './rule-events';
import { endsTooEarly, nativeEnd } from './native-end';
import { missingSince, observedAccess } from './rule-life';
import { HOLDING_STATUSES } from './status';
import type { NativeExpiry } from './target-times';

/** When rules are decided, under their lock. */
export interface Moment {
  readonly now: Instant;
  /** of the read that they are decided by; null: the target was not read */
  readonly read: ReadTimes | null;
  /** of the pass; null: there was none */
  readonly access: OwnedAccess | null;
  /** 0 (inclusive) to 1 (exclusive): one jitter for all, so that rules that failed together are retried in one call */
  readonly chance: number;
  /** how the provider ends its rules by itself; null or omitted: it does not */
  readonly expiry?: NativeExpiry | null;
}

/** What became of a rule. */
export interface Decided {
  readonly rule: Rule;
  readonly events: readonly RuleEvent[];
  /** it was found absent, or given up */
  readonly isAbsent: boolean;
  /** why its addition is given up for the holders that wait; null: it is not */
  readonly failed: DriverErrorKind | 'no effect' | null;
  /** what another program made of it: its addresses are not let in as they should be; null: it is as it should be */
  readonly changedTo: string | null;
  readonly ending: Ending;
}

/** Shown to users, on what would be opened. */
export const RESTORED =
  'The database was restored from a backup: nothing is opened until an operator confirms';

const MIN_RETRY_MS = 200;

/** How the row changes, before its intervals; null: unchanged. */
export interface RowChange {
  readonly state: RuleState | null;
  readonly observedPresent: boolean;
  readonly providerRuleId: string | null;
  readonly isUnmanaged: boolean | null;
  /** what another program made of it, while it is desired: until it is observed as it was written, it counts as missing */
  readonly changedTo: string | null;
  /** the outcome of a call is still unknown */
  readonly inFlight: boolean;
  readonly attempts: number;
  /** ms until the next pass; null: settled */
  readonly dueInMs: number | null;
  readonly message: string | null;
  /** when the provider ends it, as observed; undefined: it was not observed */
  readonly nativeEndAt: Instant | null | undefined;
  readonly isRecreated: boolean;
  readonly targetMissing: boolean | null;
  readonly failed: Decided['failed'];
}

export function unchanged(rule: DueRule): RowChange {
  return {
    state: null,
    observedPresent: false,
    providerRuleId: null,
    isUnmanaged: null,
    changedTo: null,
    // of two additions without an answer, one may be observed while the other is still in flight
    inFlight: rule.inFlight,
    attempts: 0,
    dueInMs: null,
    message: null,
    nativeEndAt: undefined,
    isRecreated: false,
    targetMissing: null,
    failed: null,
  };
}

export interface RetryAfter {
  /** failed so far */
  readonly attempts: number;
  /** requested by the provider or by a denied path; null: back off */
  readonly waitMs: number | null;
  readonly chance: number;
}

/**
 * How a row changes by what a pass means for it.
 * @param wasRead the target was read, so that a failed addition is known to be absent
 */
export function changeBy(
  rule: DueRule,
  verdict: Verdict,
  { attempts, waitMs, chance }: RetryAfter,
  wasRead = true,
): RowChange {
  const none = unchanged(rule);
  // a requested wait is capped: a removal cannot wait for an hour
  const given = waitMs === null ? null : Math.min(waitMs, RULE_BACKOFF.capMs);
  const again = Math.max(MIN_RETRY_MS, given ?? backoffMs(RULE_BACKOFF, attempts + 1, chance));
  switch (verdict.kind) {
    case 'present':
      return {
        ...none,
        state: 'present',
        observedPresent: true,
        providerRuleId: verdict.providerRuleId,
        isUnmanaged: verdict.unmanaged,
        inFlight: rule.inFlight || verdict.unknown,
        attempts: verdict.notRenewed === undefined ? 0 : attempts + 1,
        // a removal in flight may still take effect: one more pass after its deadline
        dueInMs: rule.inFlight
          ? rule.inFlightMs + MIN_RETRY_MS
          : verdict.notRenewed === undefined
            ? null
            : again,
        message: verdict.noEffect ?? verdict.notRenewed ?? null,
        nativeEndAt: verdict.endsAt === undefined ? null : verdict.endsAt * 1000,
        isRecreated: verdict.isRecreated ?? false,
        failed: verdict.noEffect === undefined ? null : 'no effect',
      };
    case 'absent': {
      // its remaining holders now write it through their own access paths
      const dueInMs = rule.removeCause === 'WRITER_RELEASED' || rule.desired ? 0 : null;
      return { ...none, state: 'absent', isUnmanaged: false, inFlight: false, dueInMs };
    }
    case 'retry':
      return { ...none, ...retried(rule, verdict, attempts, again, wasRead) };
    case 'failed': {
      const isHeldByOthers = rule.holders.some(({ status }) => status === 'APPLIED');
      return {
        ...none,
        state: wasRead ? (rule.inFlight ? 'unknown' : 'absent') : null,
        attempts: attempts + 1,
        dueInMs: isHeldByOthers ? again : null,
        message: verdict.message,
        failed: verdict.refusedAs,
      };
    }
  }
}

function retried(
  rule: DueRule,
  {
    message,
    createdId,
    changedTo,
    againInMs = Infinity,
    unknown,
    observedPresent,
  }: Verdict & { kind: 'retry' },
  attempts: number,
  again: number,
  wasRead: boolean,
): Partial<RowChange> {
  const { desired, isTurned = false } = rule;
  const inFlight = unknown || rule.inFlight;
  // not a failure of its target, unless that says so
  const isHeldBack = rule.isHeldBack && message === null;
  const changed = desired && changedTo !== undefined ? changedTo : null;
  const wait = isHeldBack ? RULE_BACKOFF.capMs : Math.min(again, againInMs + MIN_RETRY_MS);
  const lands = rule.inFlight && !desired ? Math.min(wait, rule.inFlightMs + MIN_RETRY_MS) : wait;
  // an absent rule without a call in flight stays absent, so that it is not claimed as ours
  const state = rule.state === 'absent' && !inFlight ? 'absent' : 'unknown';
  return {
    state: wasRead && desired ? state : null,
    observedPresent: wasRead && observedPresent,
    providerRuleId: createdId ?? null,
    attempts: isTurned ? 0 : attempts + (isHeldBack ? 0 : 1),
    dueInMs: isTurned ? 0 : lands,
    inFlight,
    message: isHeldBack ? RESTORED : (message ?? (changed === null ? null : changedMessage(changed))),
    changedTo: changed,
  };
}

/** The rule as it is now, and what that means for the ledger and its addresses. */
export function decided(rule: DueRule, change: RowChange, moment: Moment, ending: Ending): Decided {
  const { row, desired } = rule;
  const { now, read } = moment;
  const { state, targetMissing, inFlight, nativeEndAt } = change;
  const dueInMs = change.dueInMs ?? prolongedInMs(rule, change, moment);
  const adopt = state === 'present' && moment.access ? accessToAdopt(rule, moment.access) : null;
  const settled: Rule = {
    ...row,
    ...adopt,
    state: state ?? row.state,
    isUnmanaged: change.isUnmanaged ?? row.isUnmanaged,
    isMissing: row.isMissing || change.changedTo !== null,
    providerRuleId: change.providerRuleId ?? row.providerRuleId,
    inFlightUntil: inFlight ? row.inFlightUntil : null,
    lastError: change.message,
    nativeEndAt: state === 'absent' ? null : nativeEndAt === undefined ? row.nativeEndAt : nativeEndAt,
    targetMissingSince:
      targetMissing === null ? row.targetMissingSince : missingSince(row, targetMissing, now),
    attempts: change.attempts,
    dueAt: dueInMs === null ? null : now + dueInMs,
    unwantedSince: desired ? null : (row.unwantedSince ?? now),
    cause: desired ? null : (row.cause ?? rule.removeCause),
    // before a sweep releases what should have ended, its report counts
    overdueAt: desired && row.unwantedSince !== null ? null : row.overdueAt,
  };
  const shown = { ...change, presentAtStart: ending.wasShown ?? false };
  const times = { now, comparedAt: row.comparedAt };
  const next = read ? { ...settled, ...observedAccess(row, shown, times, read) } : settled;
  const isAbsent = state === 'absent';
  return {
    rule: next,
    events: settledEvents(rule, next, change.observedPresent, isAbsent, ending),
    isAbsent,
    failed: change.failed,
    changedTo: change.changedTo,
    ending,
  };
}

/** Its holders' end has moved since the pass planned, or its provider grants less: another pass renews it. Null: it does not. */
function prolongedInMs(
  rule: DueRule,
  { state, nativeEndAt }: RowChange,
  { now, expiry }: Moment,
): number | null {
  if (!expiry || !nativeEndAt || state !== 'present' || !rule.desired || !rule.mayOpen) return null;
  const clock = { ...expiry, now };
  return endsTooEarly(nativeEndAt / 1000, nativeEnd(rule.holders, clock), clock) ? RULE_BACKOFF.capMs : null;
}

/**
 * The access path for the later removal of a present rule. It changes to that of this pass when no holder uses the one the
 * rule was written through, so that the old credential can be deleted. A path of another organization must be write-verified,
 * because a read-only credential could not remove the rule.
 * @returns null: unchanged
 */
export function accessToAdopt(rule: DueRule, access: OwnedAccess): Access | null {
  const isRecorded = (path: Access): boolean => isSamePath(rule.writtenWith, path);
  if (isRecorded(access)) return null;
  const live = rule.holders.filter(({ status }) => HOLDING_STATUSES.some((holding) => holding === status));
  if (live.some((holder) => isRecorded(holder.access))) return null;
  const { writerOrganizationId } = rule.row;
  const isWritersOwn = writerOrganizationId === null || writerOrganizationId === access.organizationId;
  const isVerified = live.some((holder) => holder.writeVerified && isSamePath(holder.access, access));
  const { credentialId, region } = access;
  return isWritersOwn || isVerified ? { credentialId, region } : null;
}

export const isSamePath = (one: Access | null, other: Access): boolean =>
  one?.credentialId === other.credentialId && one.region === other.region;

/** The verdict on a rule that nothing was found out about. @param inDoubt a call may have been sent */
export const waiting = (message: string, inDoubt = false): Verdict => ({
  kind: 'retry',
  message,
  unknown: inDoubt,
  observedPresent: false,
  refused: false,
});
