import { earliest, lastCertain, lastSeen, latest } from './ledger';
import { changedEvent, ruleEvent, type RuleEvent } from './rule-events';
import {
  NEW,
  NO_INTERVAL,
  type Access,
  type ChangeAction,
  type Instant,
  type ReadTimes,
  type Rule,
  type Times,
} from './rule';

export { NEW };

/**
 * The life of a rule: the moves of calls, comparisons, the sweep and states sent to agents. Those of passes are `observe` of
 * rule-observed.ts; those of rules that are not read, and of agents' reports, are in rule-unread.ts. What requests hold and release, the database decides.
 *
 *   state     means                                      becomes                    by
 *   absent    observed absent, or never written          unknown                    `intended`, `offered`, `requeued`
 *                                                                                   `observe`: a call is in flight
 *                                                        present                    `observe`: an unmanaged rule allows it, or
 *                                                                                   it was recorded as absent too early
 *   unknown   may be present: a call was sent, or        present, absent            `observe`, by a read or after its horizon;
 *             it was not read since                                                 `reported`
 *                                                        absent                     `settleAtRest`, `endedByKernel`
 *   present   observed present, with or without a        absent                     `observe`, `reported`; `lost`, `givenUp`;
 *             holder                                                                `settleAtRest`, `endedByKernel`
 *                                                        unknown                    `intended`, `requeued`, `unproven`, `changed`,
 *                                                                                   `awaited`; `observe`: not in force
 *   absent    without a holder, and present in the cloud present, unwanted          `stale`
 *   no row    present in the cloud with our mark         present, unwanted          `orphaned`
 *
 * A rule without a holder is unwanted and has a cause. Absent, not due, not held and without a call in flight, it is deleted.
 * Access is possible from `possibleSince` on, and certain from `presentSince` until the last observation, which always lies
 * within: whatever casts a doubt ends the certain part and never the possible one.
 */

const HOUR_MS = 3_600_000;
/** Repairs of a rule within an hour, before it is suspended for the rest of the hour. */
const MAX_REPAIRS = 3;
/** Longer than any wait but a suspension. */
const MAX_WAIT_MS = 3 * 60_000;

/** A rule after a move, and the event to record of it; null: none. */
export interface Moved {
  readonly rule: Rule;
  readonly event: RuleEvent | null;
}

const unmoved = (rule: Rule): Moved => ({ rule, event: null });

/** The event of a rule that is no longer as it was recorded: its access is that of the rule before the move. */
const disappeared = (before: Rule): RuleEvent =>
  ruleEvent('MISSING', before.id, { cause: 'CHANGED_OUTSIDE', before });

/**
 * A call that changes it is about to be sent, and may take effect until its horizon. An added rule was just observed absent: its
 * certain interval starts again.
 * @param access of the call
 * @param revision that the change was planned with; undefined: whatever its holders are now
 * @returns null: the addition or renewal may not be sent, its last holder has ended since
 */
export function intended(
  rule: Rule,
  action: ChangeAction,
  { access, until, revision }: { access: Access; until: Instant; revision?: number | undefined },
  now: Instant,
): Rule | null {
  const sent = { ...rule, state: 'unknown', inFlightUntil: until } as const;
  if (action === 'remove') return { ...sent, removalSentAt: rule.removalSentAt ?? now };
  if (rule.unwantedSince !== null && rule.revision !== revision) return null;
  if (action === 'renew') return sent;
  return {
    ...sent,
    credentialId: access.credentialId,
    region: access.region,
    isUnmanaged: false,
    // of an absent rule it is that of one that is gone
    providerRuleId: rule.isUnmanaged || rule.state === 'absent' ? null : rule.providerRuleId,
    possibleSince: rule.possibleSince ?? now,
    presentSince: null,
    observedAt: null,
    removalSentAt: rule.state === 'absent' ? null : rule.removalSentAt,
  };
}

/** What the reads of a pass say about a rule. */
export interface Shown {
  readonly observedPresent: boolean;
  /** present under its recorded id in the first read */
  readonly presentAtStart: boolean;
  /** the outcome of a call is still unknown */
  readonly inFlight: boolean;
  /** as observed; null: it was not */
  readonly providerRuleId: string | null;
  /** it may have been created anew by this pass */
  readonly isRecreated?: boolean;
}

/** What a read says about since when and until when the rule lets its address in. */
export function observedAccess(
  rule: Rule,
  { observedPresent, presentAtStart, inFlight, providerRuleId, isRecreated = false }: Shown,
  times: Times,
  { startedAt, firstStartedAt, endedAt }: ReadTimes,
): Partial<Rule> {
  const { removalSentAt, presentSince, observedAt } = rule;
  const seenAtStart =
    presentAtStart && presentSince !== null
      ? latest(observedAt, earliest(firstStartedAt, removalSentAt))
      : observedAt;
  if (!observedPresent)
    return { removalSentAt: removalSentAt ?? lastSeen(rule, times), observedAt: seenAtStart };
  const isRemovalOver = removalSentAt !== null && !inFlight;
  const isOther =
    rule.providerRuleId !== null && providerRuleId !== null && rule.providerRuleId !== providerRuleId;
  return {
    isMissing: false,
    isSuspended: false,
    possibleSince: rule.possibleSince ?? startedAt,
    // after a removal that may have taken effect, presence is certain only from now on
    presentSince: isRemovalOver || isOther || isRecreated ? endedAt : (presentSince ?? endedAt),
    // a read that began after the removal may be stale: it makes nothing certain
    observedAt: removalSentAt !== null && inFlight ? seenAtStart : startedAt,
    removalSentAt: inFlight ? removalSentAt : null,
  };
}

const missingSince = ({ targetMissingSince }: Rule, isMissing: boolean, now: Instant): Instant | null =>
  isMissing ? (targetMissingSince ?? now) : null;

/** Its target is missing through the access path it was written through, or is there again. */
export function targetMissing(rule: Rule, isMissing: boolean, now: Instant): Rule {
  const targetMissingSince = missingSince(rule, isMissing, now);
  const isSame = rule.state === 'absent' || targetMissingSince === rule.targetMissingSince;
  return isSame ? rule : { ...rule, targetMissingSince };
}

/** The next pass is delayed by a failure that says nothing about the rule, unless its holders have changed since it was read. */
export const postponed = (rule: Rule, revision: number, message: string, dueAt: Instant): Rule =>
  rule.revision === revision ? { ...rule, attempts: rule.attempts + 1, dueAt, lastError: message } : rule;

/** A worker without the lease may have changed it, unless it was never written. */
export const requeued = (rule: Rule, now: Instant): Rule => ({
  ...rule,
  state: rule.state === 'absent' && rule.credentialId === null ? 'absent' : 'unknown',
  dueAt: now,
  revision: rule.revision + 1,
});

/** It is unproved since this time: another installation reports, or its host was away. */
export const unproven = (rule: Rule, since: Instant, now: Instant): Rule =>
  rule.state === 'absent'
    ? rule
    : { ...requeued(rule, now), attempts: 0, removalSentAt: rule.removalSentAt ?? since };

/** It was observed to be gone. It stays possible while a call in flight may still take effect. */
function gone(rule: Rule, dueAt: Instant, now: Instant): Rule {
  const mayLand = rule.inFlightUntil !== null && rule.inFlightUntil > now;
  return {
    ...rule,
    ...NO_INTERVAL,
    state: 'absent',
    dueAt,
    revision: rule.revision + 1,
    attempts: 0,
    possibleSince: mayLand ? rule.possibleSince : null,
  };
}

/**
 * A desired rule has disappeared, and is due again. One that another program keeps removing is suspended until the hour is
 * over that began with its first loss.
 */
export function lost(rule: Rule, now: Instant): Moved {
  if (rule.state !== 'present') return unmoved(rule);
  const firstLostAt = rule.lostAt !== null && rule.lostAt > now - HOUR_MS ? rule.lostAt : null;
  const isSuspended = firstLostAt !== null && rule.lostCount >= MAX_REPAIRS;
  const next = {
    ...gone(rule, isSuspended ? firstLostAt + HOUR_MS : now, now),
    isMissing: true,
    isSuspended,
    lostCount: firstLostAt === null ? 1 : rule.lostCount + 1,
    lostAt: firstLostAt ?? now,
  };
  return { rule: next, event: disappeared(rule) };
}

/**
 * Another program changed a desired rule: it may still let its address in, and is due to be written again.
 * @param changedTo what it does now, as a phrase
 */
export function changed(rule: Rule, changedTo: string, possibleSince: Instant, now: Instant): Moved {
  if (rule.state === 'absent' || rule.isMissing) return unmoved(rule);
  const next = { ...gone(rule, now, now), isMissing: true, isSuspended: false, state: 'unknown' } as const;
  return { rule: { ...next, possibleSince }, event: { ...changedEvent(rule.id, changedTo), before: rule } };
}

/**
 * Its target is given up as missing: a desired rule that was present, or waits to be added, is to be added again.
 * @param reason what the provider says
 */
export function givenUp(rule: Rule, reason: string, now: Instant): Moved {
  const wasPresent = rule.state === 'present';
  const waits = rule.state === 'absent' && rule.dueAt !== null && rule.dueAt > now;
  if (rule.unwantedSince !== null || !(wasPresent || waits)) return unmoved(rule);
  const next = { ...gone(rule, now, now), isMissing: false, isSuspended: false };
  const given = { cause: 'TARGET_GONE', message: reason, before: rule } as const;
  return { rule: next, event: wasPresent ? ruleEvent('ABANDONED', rule.id, given) : null };
}

/**
 * A settled rule is present and admits no traffic: it is suspended, or its suspension extended, for an hour in which the next
 * comparison looks again.
 */
export function withoutEffect(rule: Rule, now: Instant): Rule {
  const isSettled = rule.dueAt === null || (rule.isSuspended && rule.dueAt > now);
  if (rule.state !== 'present' || rule.unwantedSince !== null || !isSettled) return rule;
  return { ...rule, isSuspended: true, dueAt: now + HOUR_MS };
}

/** A suspended rule is present and effective: a pass settles it. */
export const effective = (rule: Rule, now: Instant): Rule =>
  rule.isSuspended && rule.state === 'present' ? { ...rule, dueAt: now } : rule;

/** Of rules that were sent without an end. */
const NEVER: Instant = Date.UTC(9999, 0);

/**
 * Before a host's agent is sent it, the intent to have it.
 * @param endsAt when the host ends it by itself; null: never
 */
export function offered(rule: Rule, endsAt: Instant | null, now: Instant): Rule {
  const isNew = rule.state === 'absent';
  return {
    ...rule,
    state: isNew ? 'unknown' : rule.state,
    offeredRevision: rule.revision,
    offeredUntil: latest(rule.offeredUntil, endsAt ?? NEVER),
    possibleSince: isNew ? now : (rule.possibleSince ?? now),
    presentSince: isNew ? null : rule.presentSince,
    // until it is observed again, it may have been removed meanwhile
    removalSentAt: isNew ? null : rule.removalSentAt,
  };
}

/** Before a host's agent is sent a state without it. */
export const removalOffered = (rule: Rule, now: Instant): Rule => ({
  ...rule,
  offeredRevision: rule.revision,
  removalSentAt: rule.removalSentAt ?? now,
});

/** It was not observed, and a pass has yet to settle it: it is certain no longer. */
export const unobserved = (rule: Rule, times: Times): Rule =>
  rule.state === 'absent' ? rule : { ...rule, removalSentAt: lastCertain(rule, times) };

/** An unmanaged rule for the same traffic has replaced it. @param endedAt end of the read that shows it: one read shows one moment */
export const taken = (rule: Rule, endedAt: Instant): Moved => ({
  rule: {
    ...rule,
    isUnmanaged: true,
    ...NO_INTERVAL,
    possibleSince: endedAt,
    presentSince: endedAt,
  },
  event: disappeared(rule),
});

/** Another program has created it anew: its certain interval starts again. */
export const renamed = (rule: Rule, providerRuleId: string, endedAt: Instant): Rule => ({
  ...rule,
  providerRuleId,
  presentSince: endedAt,
  observedAt: null,
  removalSentAt: null,
});

/** A comparison observes a rule that was recorded as present. */
export const firstObserved = (rule: Rule, endedAt: Instant): Rule =>
  rule.state === 'present' && rule.presentSince === null ? { ...rule, presentSince: endedAt } : rule;

/** Recorded as absent and without holders, it is present: it is due for removal. @param endedAt as of `taken` */
export function stale(rule: Rule, access: Access, now: Instant, endedAt: Instant): Moved {
  if (rule.state !== 'absent') return unmoved(rule);
  const next: Rule = {
    ...rule,
    ...(rule.credentialId === null && access),
    state: 'present',
    dueAt: now,
    revision: rule.revision + 1,
    attempts: 0,
    closing: true,
    unwantedSince: now,
    overdueAt: null,
    cause: 'STALE_RULE',
    ...NO_INTERVAL,
    possibleSince: endedAt,
    presentSince: endedAt,
  };
  return { rule: next, event: ruleEvent('FOUND', rule.id, { cause: 'STALE_RULE' }) };
}

/**
 * A rule with our mark that the database does not know, due for removal. It may be present since the target was last compared.
 * @param heldBack why it is not due until an operator confirms; null: it is
 */
export const orphaned = (
  id: string,
  { access, providerRuleId }: { access: Access; providerRuleId: string },
  { possibleSince, presentSince }: { possibleSince: Instant; presentSince: Instant },
  heldBack: string | null,
  now: Instant,
): Rule => ({
  ...NEW,
  id,
  ...access,
  state: 'present',
  dueAt: heldBack === null ? now : null,
  lastError: heldBack,
  closing: true,
  providerRuleId,
  cause: 'ORPHAN',
  unwantedSince: now,
  possibleSince,
  presentSince,
});

/** Its credential is deleted, and others hold it: it is read again, as after a call without an answer. */
export const reread = (rule: Rule, now: Instant): Rule => ({ ...rule, dueAt: now, inFlightUntil: now });

/** The database's clock was set back: no delay lasts that long. A settled rule is due because its provider ends it too early. */
export function broughtForward(rule: Rule, now: Instant): Rule {
  const isTooLate =
    rule.dueAt === null || rule.dueAt > now + (rule.isSuspended ? HOUR_MS + 60_000 : MAX_WAIT_MS);
  return isTooLate ? { ...rule, dueAt: now } : rule;
}

/** It has been unwanted for too long, and that is reported. */
export const overdue = (rule: Rule, now: Instant): Rule => ({ ...rule, overdueAt: now });

/** Whether it is over, once it has no holder: absent, not due and without a call in flight. */
export const isOver = ({ state, dueAt, inFlightUntil }: Rule, now: Instant): boolean =>
  state === 'absent' && dueAt === null && (inFlightUntil === null || inFlightUntil <= now);

/** An absent rule that is held or due goes on without a past: what was recorded of it is in the ledger. */
export const forgotten = (rule: Rule): Rule =>
  rule.state === 'absent' ? { ...rule, ...NO_INTERVAL, providerRuleId: null } : rule;
