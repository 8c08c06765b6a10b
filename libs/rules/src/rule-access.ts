import { endsAccess, type RuleEventKind } from './ledger';
import type { Instant, Rule, Times } from './rule';

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
): {
  possibleFrom: Instant | null;
  certainFrom: Instant | null;
  certainUntil: Instant | null;
  possibleUntil: Instant | null;
} {
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
