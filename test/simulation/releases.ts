import type { RemovalCause } from '#rules';
import {
  endOf,
  HOLDING,
  type ResourceIpRow,
  type RuleHolderRow,
  type SessionRow,
  type Tables,
} from './tables';

/** Moves sessions to EXPIRING, and releases their holders. @returns the targets to wake */
export function endSessions(
  tables: Tables,
  sessions: readonly SessionRow[],
  reason: NonNullable<SessionRow['endedReason']>,
  cause: RemovalCause,
): string[] {
  for (const session of sessions) {
    tables.moveSession(session, 'EXPIRING');
    session.endedAt = Math.min(tables.now(), endOf(session));
    session.endedReason = reason;
  }
  const ids = new Set(sessions.map((session) => session.id));
  return release(
    tables,
    cause,
    tables.ipsWhere((ip) => ids.has(ip.sessionId ?? '')),
  );
}

/** Now, or the end of its session if that has passed. */
function endsBy(tables: Tables, { sessionId }: ResourceIpRow): number {
  return Math.min(tables.now(), sessionId === null ? Infinity : endOf(tables.sessions.get(sessionId)!));
}

/** `release` of the store, for these ResourceIps. @returns the targets to wake */
export function release(tables: Tables, cause: RemovalCause, ips: readonly ResourceIpRow[]): string[] {
  const released = ips.filter(({ status }) => HOLDING.has(status));
  for (const ip of released) {
    tables.moveIp(ip, 'REMOVING');
    ip.releasedAt = endsBy(tables, ip);
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
  for (const holder of gone) {
    const releasedAt = endsBy(tables, tables.resourceIps.get(holder.resourceIpId)!);
    Object.assign(holder, { releasedAt, releaseCause: cause });
  }
  const left = new Set(gone.map(({ ruleId }) => ruleId));
  for (const ruleId of left) {
    const rule = tables.rules.get(ruleId)!;
    const isKept = tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null);
    Object.assign(rule, { dueAt: now, revision: rule.revision + 1, attempts: 0, closing: true });
    if (isKept) continue;
    rule.unwantedSince ??= Math.max(...tables.holderRows(rule).map(({ releasedAt }) => releasedAt!));
    rule.cause ??= cause;
  }
  return [...new Set([...left].map((id) => tables.rules.get(id)!.targetId))];
}
