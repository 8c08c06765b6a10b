import type { AccessInterval } from './access-interval';
import type { Instant, Rule, Times } from './rule';

/**
 * Events that the ledger records of rules, always after an observation.
 * - `OPENED`, `CLOSED`: first observed present, observed absent
 * - `HELD`: a new holder's pass observed the rule already present; `RELEASED`: a holder ended, another holder or an
 *   unmanaged rule keeps the access
 * - `MISSING`: a rule of ours disappeared; `RESTORED`: present again
 * - `ADD_REFUSED`, `REMOVAL_REFUSED`: the provider's answer
 * - `FOUND`: an orphan, a stale rule, or an unmanaged rule was observed for the first time
 * - `CHANGED`: another program changed a rule of ours: it does something else than was written, or more
 * - `ABANDONED`: given up, by an admin or because its target was not found for hours; whether it is present is unknown
 */
export const RULE_EVENT_KINDS = [
  'OPENED',
  'CLOSED',
  'HELD',
  'RELEASED',
  'MISSING',
  'RESTORED',
  'ADD_REFUSED',
  'REMOVAL_REFUSED',
  'FOUND',
  'CHANGED',
  'ABANDONED',
] as const;
export type RuleEventKind = (typeof RULE_EVENT_KINDS)[number];

/** Events that end the holder's access through the rule. Each has the complete interval. */
export const INTERVAL_ENDS = [
  'CLOSED',
  'RELEASED',
  'MISSING',
  'CHANGED',
  'ABANDONED',
] as const satisfies readonly RuleEventKind[];

/** Whether the event ends the holder's access through the rule. */
export const endsAccess = (kind: RuleEventKind): boolean => INTERVAL_ENDS.some((end) => end === kind);

/** Kinds of holders in the ledger. `OTHER`: a holder of another organization. */
export const HOLDER_KINDS = ['SESSION', 'STATIC_RULE', 'ORPHAN', 'UNMANAGED', 'OTHER'] as const;
export type HolderKind = (typeof HOLDER_KINDS)[number];

/** Null counts as no time at all. */
const among =
  (choose: (...of: number[]) => number) =>
  (...times: readonly (Instant | null)[]): Instant | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : choose(...known);
  };
export const earliest = among(Math.min);
export const latest = among(Math.max);

/** The last observation of the rule as present; null: never observed. */
export function lastSeen({ presentSince, observedAt }: Rule, { comparedAt }: Times): Instant | null {
  if (presentSince === null) return null;
  const compared = comparedAt !== null && comparedAt >= presentSince ? comparedAt : null;
  return latest(presentSince, observedAt, compared);
}

/** As `lastSeen`, but not after a removal was sent or the rule was not observed. */
export const lastCertain = (rule: Rule, times: Times): Instant | null =>
  earliest(lastSeen(rule, times), rule.removalSentAt);

/** An `AccessInterval` by the database's clock. */
export type LedgerInterval = Readonly<Record<keyof AccessInterval, Instant | null>>;

/**
 * The access of a holder through the rule, as far as observed, for an event about it.
 * @param heldSince null: it has no holder
 * @param endedAt end of the read that shows the event
 */
export function intervalOf(
  rule: Rule,
  kind: RuleEventKind,
  heldSince: Instant | null,
  times: Times,
  endedAt: Instant,
): LedgerInterval {
  const isOver = endsAccess(kind);
  const from = rule.presentSince === null ? null : latest(rule.presentSince, heldSince);
  const until = lastCertain(rule, times);
  const isCertain = from !== null && (!isOver || (until !== null && until >= from));
  // the end of an abandoned one was never observed; access that began after the read does not end before it began
  const ended = kind === 'ABANDONED' ? null : latest(heldSince, endedAt);
  return {
    possibleFrom: latest(rule.possibleSince, heldSince),
    certainFrom: isCertain ? from : null,
    certainUntil: isCertain && isOver ? until : null,
    possibleUntil: isOver ? ended : null,
  };
}
