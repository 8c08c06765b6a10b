import type { RuleEventRow } from '#engine-store/port';
import { INTERVAL_ENDS, type RuleEventKind } from '#rules';
import type { RuleEventDto } from './dto/rule-event.dto';

/** Events after which the rule is present. They lie between the last observation without it and the first one with it. */
const BEGINNINGS: ReadonlySet<RuleEventKind> = new Set(['OPENED', 'RESTORED', 'FOUND', 'HELD']);
const ENDS: ReadonlySet<RuleEventKind> = new Set(INTERVAL_ENDS);

/** @param isAdmin worker and pass are shown to administrators only */
export function toRuleEvent(row: RuleEventRow, isAdmin: boolean): RuleEventDto {
  const { provider, resourceType, identifier, workerId, passId, ...event } = row;
  const { possibleFrom, certainFrom, certainUntil, possibleUntil, ...shown } = event;
  const [before, after] = BEGINNINGS.has(row.kind)
    ? [possibleFrom, certainFrom]
    : ENDS.has(row.kind)
      ? // it was observed by then, also where the provider acts later on it
        [certainUntil, possibleUntil && (possibleUntil > row.at ? row.at : possibleUntil)]
      : [null, null];
  return {
    ...shown,
    target: { provider, resourceType, identifier },
    lastObservedBefore: before,
    firstObservedAfter: after,
    workerId: isAdmin ? workerId : null,
    passId: isAdmin ? passId : null,
  };
}
