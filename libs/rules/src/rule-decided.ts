import { backoffMs, RULE_BACKOFF } from './waits';
import type { Verdict } from './judge';
import type { DueRule } from './due-rule';
import type { Access, Instant, OwnedAccess, ReadTimes, Rule } from './rule';
import { changedMessage, settledEvents, type Decided } from './rule-events';
import { endsTooEarly, nativeEnd, type NativeExpiry } from './native-end';
import { observedAccess } from './rule-life';
import { isHolding } from './status';

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

/** Shown to users, on what would be opened. */
export const RESTORED =
  'The database was restored from a backup: nothing is opened until an operator confirms';

const MIN_RETRY_MS = 200;

/** What a rule becomes when nothing is left to do. */
export const settledRow = ({ row, inFlight, desired }: DueRule): Partial<Rule> => ({
  // a holder's release made it urgent, also where others keep it
  closing: !desired && row.closing,
  // of two additions without an answer, one may be observed while the other is still in flight
  inFlightUntil: inFlight ? row.inFlightUntil : null,
  attempts: 0,
  dueAt: null,
  lastError: null,
});

export interface RetryAfter {
  /** failed so far */
  readonly attempts: number;
  /** requested by the provider or by a denied path; null: back off */
  readonly waitMs: number | null;
}

/**
 * How a row changes by what a pass means for it.
 * @param wasRead the target was read, so that a failed addition is known to be absent
 */
export function rowBy(
  rule: DueRule,
  verdict: Verdict,
  { attempts, waitMs }: RetryAfter,
  { now, chance }: Pick<Moment, 'now' | 'chance'>,
  wasRead = true,
): Partial<Rule> {
  const { row, inFlight, desired } = rule;
  const settled = settledRow(rule);
  // a requested wait is capped: a removal cannot wait for an hour
  const given = waitMs === null ? null : Math.min(waitMs, RULE_BACKOFF.capMs);
  const againInMs = Math.max(MIN_RETRY_MS, given ?? backoffMs(RULE_BACKOFF, attempts + 1, chance));
  switch (verdict.kind) {
    case 'present': {
      const { notRenewed, noEffect, endsAt } = verdict;
      const isRenewed = notRenewed === undefined;
      return {
        ...settled,
        state: 'present',
        providerRuleId: verdict.providerRuleId,
        isUnmanaged: verdict.unmanaged,
        inFlightUntil: inFlight || verdict.unknown ? row.inFlightUntil : null,
        attempts: isRenewed ? 0 : attempts + 1,
        // a removal in flight may still take effect: one more pass after its deadline
        dueAt: inFlight ? now + rule.inFlightMs + MIN_RETRY_MS : isRenewed ? null : now + againInMs,
        lastError: noEffect ?? notRenewed ?? null,
        nativeEndAt: endsAt === undefined ? null : endsAt * 1000,
      };
    }
    case 'absent': {
      // its remaining holders now write it through their own access paths
      const isWrittenAgain = rule.removeCause === 'WRITER_RELEASED' || desired;
      const dueAt = isWrittenAgain ? now : null;
      return { ...settled, state: 'absent', isUnmanaged: false, inFlightUntil: null, dueAt };
    }
    case 'retry': {
      // an absent rule without a call in flight stays absent, so that it is not claimed as ours
      const state = rule.state === 'absent' && !verdict.unknown && !inFlight ? 'absent' : 'unknown';
      const again = retried(rule, verdict, attempts, againInMs, now);
      return { ...settled, ...(wasRead && desired && { state }), ...again };
    }
    case 'failed': {
      const isHeldByOthers = rule.holders.some(({ status }) => status === 'APPLIED');
      return {
        ...settled,
        ...(wasRead && { state: inFlight ? 'unknown' : 'absent' }),
        attempts: attempts + 1,
        dueAt: isHeldByOthers ? now + againInMs : null,
        lastError: verdict.message,
      };
    }
  }
}

function retried(
  rule: DueRule,
  { message, createdId, changedTo, againInMs: judgedMs = Infinity, unknown }: Verdict & { kind: 'retry' },
  attempts: number,
  againInMs: number,
  now: Instant,
): Partial<Rule> {
  const { row, desired, isTurned = false } = rule;
  // not a failure of its target, unless that says so
  const isHeldBack = rule.isHeldBack && message === null;
  const changed = desired && changedTo !== undefined ? changedMessage(changedTo) : null;
  const waitMs = isHeldBack ? RULE_BACKOFF.capMs : Math.min(againInMs, judgedMs + MIN_RETRY_MS);
  const landsMs = rule.inFlight && !desired ? Math.min(waitMs, rule.inFlightMs + MIN_RETRY_MS) : waitMs;
  return {
    ...(createdId !== undefined && { providerRuleId: createdId }),
    attempts: isTurned ? 0 : attempts + (isHeldBack ? 0 : 1),
    dueAt: isTurned ? now : now + landsMs,
    inFlightUntil: unknown || rule.inFlight ? row.inFlightUntil : null,
    lastError: isHeldBack ? RESTORED : (message ?? changed),
  };
}

/** What a verdict says of a rule besides its row. */
export function foundBy(
  { desired }: DueRule,
  verdict: Verdict,
): Pick<Decided, 'isShown' | 'isRecreated' | 'failed' | 'changedTo' | 'refusal' | 'note'> {
  switch (verdict.kind) {
    case 'present': {
      const { isRecreated = false, noEffect } = verdict;
      return { isShown: true, isRecreated, failed: noEffect === undefined ? null : 'no effect' };
    }
    case 'absent':
      return { note: verdict.note ?? null };
    case 'retry': {
      const { observedPresent, changedTo = null, refused, message } = verdict;
      return desired
        ? { isShown: observedPresent, changedTo }
        : { isShown: observedPresent, refusal: refused ? message : null };
    }
    case 'failed':
      return { failed: verdict.refusedAs };
  }
}

/**
 * The rule as it is now, and what that means for the ledger and its addresses.
 * @param change of its row, before its intervals. A state is given only where it was found
 */
export function decideRule(
  rule: DueRule,
  change: Partial<Rule>,
  moment: Moment,
  found: Partial<Decided> = {},
): Decided {
  const { row, desired } = rule;
  const { now, read } = moment;
  const isAbsent = change.state === 'absent';
  const adopted = change.state === 'present' && moment.access ? accessToAdopt(rule, moment.access) : null;
  const settled: Rule = {
    ...row,
    ...change,
    ...adopted,
    dueAt: change.dueAt ?? prolongedAt(rule, change, moment),
    isMissing: row.isMissing || (found.changedTo ?? null) !== null,
    ...(isAbsent && { nativeEndAt: null }),
    unwantedSince: desired ? null : (row.unwantedSince ?? now),
    cause: desired ? null : (row.cause ?? rule.removeCause),
    // before a sweep releases what should have ended, its report counts
    overdueAt: desired && row.unwantedSince !== null ? null : row.overdueAt,
  };
  const shown = {
    observedPresent: found.isShown ?? false,
    presentAtStart: found.wasShown ?? false,
    isRecreated: found.isRecreated ?? false,
    inFlight: settled.inFlightUntil !== null,
    providerRuleId: change.providerRuleId ?? null,
  };
  const times = { now, comparedAt: row.comparedAt };
  const next = read ? { ...settled, ...observedAccess(row, shown, times, read) } : settled;
  const decided = { ...found, rule: next, isAbsent };
  return { ...decided, events: settledEvents(rule, decided) };
}

/** Its holders' end has moved since the pass planned, or its provider grants less: another pass renews it. Null: it does not. */
function prolongedAt(
  rule: DueRule,
  { state, nativeEndAt }: Partial<Rule>,
  { now, expiry }: Moment,
): Instant | null {
  if (!expiry || !nativeEndAt || state !== 'present' || !rule.desired || !rule.mayOpen) return null;
  const clock = { ...expiry, now };
  const isTooEarly = endsTooEarly(nativeEndAt / 1000, nativeEnd(rule.holders, clock), clock);
  return isTooEarly ? now + RULE_BACKOFF.capMs : null;
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
  const live = rule.holders.filter(({ status }) => isHolding(status));
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
