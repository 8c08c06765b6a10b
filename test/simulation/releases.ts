import type { RemovalCause } from '#rules';
import { HOLDING, type ResourceIpRow, type RuleHolderRow, type SessionRow, type Tables } from './tables';

/** Moves sessions to EXPIRING, and releases their holders. @returns the targets to wake */
export function endSessions(
  tables: Tables,
  sessions: readonly SessionRow[],
  reason: NonNullable<SessionRow['endedReason']>,
  cause: RemovalCause,
): string[] {
  for (const session of sessions) {
    tables.moveSession(session, 'EXPIRING');
    session.endedAt = tables.now();
    session.endedReason = reason;
  }
  const ids = new Set(sessions.map((session) => session.id));
  return release(
    tables,
    cause,
    tables.ipsWhere((ip) => ids.has(ip.sessionId ?? '')),
  );
}

/** `release` of the store, for these ResourceIps. @returns the targets to wake */
export function release(tables: Tables, cause: RemovalCause, ips: readonly ResourceIpRow[]): string[] {
  const released = ips.filter(({ status }) => HOLDING.has(status));
  for (const ip of released) {
    tables.moveIp(ip, 'REMOVING');
    ip.releasedAt = tables.now();
  }
  return releaseClaims(
    tables,
    cause,
    released.flatMap((ip) => tables.holdersBy(ip)),
  );
}

/** `releaseClaims` of the store, and the steps of `DUE`. @returns the targets to wake */
export function releaseClaims(
  tables: Tables,
  cause: RemovalCause,
  holders: readonly RuleHolderRow[],
): string[] {
  const now = tables.now();
  const gone = holders.filter(({ releasedAt }) => releasedAt === null);
  for (const holder of gone) Object.assign(holder, { releasedAt: now, releaseCause: cause });
  const left = new Set(gone.map(({ ruleId }) => ruleId));
  for (const ruleId of left) {
    const rule = tables.rules.get(ruleId)!;
    const isKept = tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null);
    Object.assign(rule, { dueAt: now, revision: rule.revision + 1, attempts: 0, closing: true });
    if (isKept) continue;
    rule.unwantedSince ??= now;
    rule.cause ??= cause;
  }
  return [...new Set([...left].map((id) => tables.rules.get(id)!.targetId))];
}
