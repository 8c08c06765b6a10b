import type { RemovalCause } from './cause';
import type { RuleState } from './planner';
import type { Access, RuleSettlement } from './rule-settlement';

/**
 * The life of a rule: its row, and every move that passes, comparisons and agents' reports make with it. Holding and releasing
 * a rule are requests, which the database decides; they touch `dueAt`, `closing`, `revision` and why it is unwanted.
 *
 *   state     means                                      becomes                    by
 *   absent    observed absent, or never written          unknown                    an intent to write it, `offered`
 *   unknown   may be present: a call was sent, or        present, absent            `settled`, by a read
 *             nobody has looked since
 *   present   observed present, with or without a        absent                     `settled`; `lost`, `givenUp`
 *             holder                                     unknown                    `requeued`, `unproven`
 *   absent    without a holder, and present in the cloud present, unwanted          `stale`
 *
 * A rule without a holder is unwanted and has a cause. Absent, not due, not held and without a call in flight, it is deleted.
 * Access is possible from `possibleSince` on, and certain from `presentSince` until the last observation, which always lies
 * within: whatever casts a doubt ends the certain part and never the possible one.
 */
export interface Rule {
  readonly id: string;
  readonly state: RuleState;
  /** incremented with every change of its holders */
  readonly revision: number;
  readonly attempts: number;
  /** null: settled */
  readonly dueAt: Instant | null;
  /** a holder was released */
  readonly closing: boolean;
  readonly inFlightUntil: Instant | null;
  readonly lastError: string | null;
  readonly targetMissingSince: Instant | null;
  /** last observed present as an unmanaged rule */
  readonly isUnmanaged: boolean;
  /** ours by its provider id alone */
  readonly isUnmarked: boolean;
  /** it was present and disappeared */
  readonly isMissing: boolean;
  readonly isSuspended: boolean;
  readonly lostCount: number;
  readonly lostAt: Instant | null;
  readonly providerRuleId: string | null;
  /** the access path it was written through */
  readonly credentialId: string | null;
  readonly region: string | null;
  /** why and since when it is unwanted */
  readonly cause: RemovalCause | null;
  readonly unwantedSince: Instant | null;
  /** when it was reported as overdue */
  readonly overdueAt: Instant | null;
  readonly possibleSince: Instant | null;
  readonly presentSince: Instant | null;
  /** when a pass last observed it present */
  readonly observedAt: Instant | null;
  /** when the first removal was sent, or it was first not observed */
  readonly removalSentAt: Instant | null;
  /** as last sent to the host's agent; null: never */
  readonly offeredRevision: number | null;
  /** when a host that it was sent to ends it at the latest, by its own clock; null: not sent */
  readonly offeredUntil: Instant | null;
}

/** A time of the database's clock, ms since 1970. */
export type Instant = number;

/** When a read of the target that a move is based on began and ended, and when the first read of its pass began. */
interface ReadTimes {
  readonly startedAt: Instant;
  readonly firstStartedAt: Instant;
  readonly endedAt: Instant;
}

/** The database's clock, and the last complete comparison of the target. */
export interface Times {
  readonly now: Instant;
  /** null: none yet */
  readonly comparedAt: Instant | null;
}

/** Repairs of a rule within an hour, before it is suspended for the rest of the hour. */
const MAX_REPAIRS = 3;
const HOUR_MS = 3_600_000;

const NO_INTERVAL = {
  possibleSince: null,
  presentSince: null,
  observedAt: null,
  removalSentAt: null,
} as const;

/** Null counts as no time at all. */
const among =
  (choose: (...of: number[]) => number) =>
  (...times: readonly (Instant | null)[]): Instant | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : choose(...known);
  };
const earliest = among(Math.min);
const latest = among(Math.max);

/** The last observation of the rule as present; null: never observed. */
function lastSeen({ presentSince, observedAt }: Rule, { comparedAt }: Times): Instant | null {
  if (presentSince === null) return null;
  const compared = comparedAt !== null && comparedAt >= presentSince ? comparedAt : null;
  return latest(presentSince, observedAt, compared);
}

/** As `lastSeen`, but not after a removal was sent or the rule was not observed. */
export const lastCertain = (rule: Rule, times: Times): Instant | null =>
  earliest(lastSeen(rule, times), rule.removalSentAt);

/**
 * What a pass or a report found. A rule whose holders have changed since stays due: what was found about the cloud counts, what
 * was concluded from its holders does not.
 * @param read null: the target was not read
 */
export function settled(rule: Rule, found: RuleSettlement, times: Times, read: ReadTimes | null): Rule {
  const { now } = times;
  const next: Rule = {
    ...rule,
    state: found.state ?? rule.state,
    isUnmanaged: found.isUnmanaged ?? rule.isUnmanaged,
    isUnmarked: found.isUnmarked ?? rule.isUnmarked,
    providerRuleId: found.providerRuleId ?? rule.providerRuleId,
    inFlightUntil: found.inFlight ? rule.inFlightUntil : null,
    lastError: found.message,
    targetMissingSince:
      found.targetMissing === null ? rule.targetMissingSince : missingSince(rule, found.targetMissing, now),
    ...(rule.revision === found.revision ? concluded(rule, found, now) : { attempts: 0 }),
  };
  return read === null ? next : { ...next, ...observed(rule, found, times, read) };
}

/** What follows from the holders that were read with the rule. */
function concluded(rule: Rule, found: RuleSettlement, now: Instant): Partial<Rule> {
  const { attempts, dueInMs, unwanted, adopt } = found;
  const isWanted = unwanted === null;
  return {
    attempts,
    dueAt: dueInMs === null ? null : now + dueInMs,
    unwantedSince: isWanted ? null : (rule.unwantedSince ?? now),
    cause: isWanted ? null : (rule.cause ?? unwanted),
    overdueAt: isWanted ? null : rule.overdueAt,
    ...(adopt && { credentialId: adopt.credentialId, region: adopt.region }),
  };
}

/** What a read says about since when and until when the rule lets its address in. */
function observed(
  rule: Rule,
  { observedPresent, presentAtStart, inFlight, providerRuleId }: RuleSettlement,
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
    presentSince: isRemovalOver || isOther ? endedAt : (presentSince ?? endedAt),
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

/** A worker without the lease may have changed it. */
export const requeued = (rule: Rule, now: Instant): Rule => ({
  ...rule,
  state: 'unknown',
  dueAt: now,
  revision: rule.revision + 1,
});

/** Nobody has proved it since this time: another installation reports, or its host was away. */
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
export function lost(rule: Rule, now: Instant): Rule {
  if (rule.state !== 'present') return rule;
  const firstLostAt = rule.lostAt !== null && rule.lostAt > now - HOUR_MS ? rule.lostAt : null;
  const isSuspended = firstLostAt !== null && rule.lostCount >= MAX_REPAIRS;
  return {
    ...gone(rule, isSuspended ? firstLostAt + HOUR_MS : now, now),
    isMissing: true,
    isUnmarked: false,
    isSuspended,
    lostCount: firstLostAt === null ? 1 : rule.lostCount + 1,
    lostAt: firstLostAt ?? now,
  };
}

/** Its target is given up as missing: a desired rule that was present, or waits to be added, is to be added again. */
export function givenUp(rule: Rule, now: Instant): Rule {
  const waits = rule.state === 'absent' && rule.dueAt !== null && rule.dueAt > now;
  if (rule.unwantedSince !== null || !(rule.state === 'present' || waits)) return rule;
  return { ...gone(rule, now, now), isMissing: false, isSuspended: false };
}

/**
 * A settled rule is present and lets nobody in: it is suspended, or its suspension extended, for an hour in which the next
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

/** It is ours by its recorded id alone. */
export const unmarked = (rule: Rule): Rule => ({ ...rule, isUnmarked: true });

/** An unmanaged rule for the same traffic has replaced it. */
export const taken = (rule: Rule, now: Instant): Rule => ({
  ...rule,
  isUnmanaged: true,
  isUnmarked: false,
  possibleSince: now,
  presentSince: now,
  observedAt: now,
  removalSentAt: null,
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

/** Recorded as absent and without holders, it is present: it is due for removal. */
export const stale = (rule: Rule, access: Access, now: Instant): Rule =>
  rule.state === 'absent'
    ? {
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
        possibleSince: now,
        presentSince: now,
        observedAt: now,
        removalSentAt: null,
      }
    : rule;

/** Whether it is over, once nobody holds it: absent, not due and without a call in flight. */
export const isOver = ({ state, dueAt, inFlightUntil }: Rule, now: Instant): boolean =>
  state === 'absent' && dueAt === null && (inFlightUntil === null || inFlightUntil <= now);

/** An absent rule that is held or due goes on without a past: what was recorded of it is in the ledger. */
export const forgotten = (rule: Rule): Rule =>
  rule.state === 'absent' ? { ...rule, ...NO_INTERVAL, providerRuleId: null, isUnmarked: false } : rule;
