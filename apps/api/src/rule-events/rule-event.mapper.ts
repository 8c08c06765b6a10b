import type { RuleEventRow } from '#engine-store/port';
import { INTERVAL_ENDS, type RuleEventKind } from '#rules';
import type { RuleEventDto } from './dto/rule-event.dto';

/** Events after which the rule is present. They lie between the last observation without it and the first one with it. */
const BEGINNINGS: ReadonlySet<RuleEventKind> = new Set(['OPENED', 'RESTORED', 'FOUND', 'HELD']);
const ENDS: ReadonlySet<RuleEventKind> = new Set(INTERVAL_ENDS);

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** @param isAdmin worker and pass are shown to administrators only */
export function toRuleEvent(row: RuleEventRow, isAdmin: boolean): RuleEventDto {
  const { provider, resourceType, identifier, workerId, passId } = row;
  const [before, after] = edgesOf(row);
  return {
    id: row.id,
    kind: row.kind,
    at: row.at.toISOString(),
    target: { provider, resourceType, identifier },
    address: row.address,
    protocol: row.protocol,
    ports: row.ports,
    providerRuleId: row.providerRuleId,
    cause: row.cause,
    message: row.message,
    lastObservedBefore: iso(before),
    firstObservedAfter: iso(after),
    holderKind: row.holderKind,
    resourceId: row.resourceId,
    resourceName: row.resourceName,
    sessionId: row.sessionId,
    staticIpRuleId: row.staticIpRuleId,
    userEmail: row.userEmail,
    credentialId: row.credentialId,
    workerId: isAdmin ? workerId : null,
    passId: isAdmin ? passId : null,
  };
}

function edgesOf(row: RuleEventRow): [before: Date | null, after: Date | null] {
  if (BEGINNINGS.has(row.kind)) return [row.possibleFrom, row.certainFrom];
  return ENDS.has(row.kind) ? [row.certainUntil, row.possibleUntil] : [null, null];
}
