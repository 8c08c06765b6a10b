import type { DueTarget, SweepStore } from '#entities';
import { SESSION_MOVES } from '#rules';
import type { Modelled } from './modelled';
import { HOLDING, type ResourceIpRow, type SessionRow, type TargetRow, type Tables } from './tables';

const isUnsettled = (ip: ResourceIpRow): boolean => HOLDING.has(ip.status) || ip.status === 'REMOVING';

/** `SweepStore` in memory. */
export class ModelSweep implements Modelled<SweepStore> {
  constructor(private readonly tables: Tables) {}

  expireSessions(limit: number): { count: number; targetIds: string[] } {
    const over = this.over()
      .sort((a, b) => a.expiresAt - b.expiresAt)
      .slice(0, limit);
    return {
      count: over.length,
      targetIds: over.length === 0 ? [] : endSessions(this.tables, over, 'EXPIRED'),
    };
  }

  private over(): SessionRow[] {
    const now = this.tables.now();
    return [...this.tables.sessions.values()].filter(
      (session) => session.expiresAt <= now && SESSION_MOVES[session.status].includes('EXPIRING'),
    );
  }

  purge(): void {
    const { staticIpRules, resources } = this.tables;
    for (const ip of this.tables.ipsWhere((one) => one.staticIpRuleId !== null && one.status === 'REMOVED'))
      this.tables.deleteIp(ip);
    for (const rule of staticIpRules.values()) {
      const entries = this.tables.ipsWhere((ip) => ip.staticIpRuleId === rule.id);
      if (rule.deletedAt === null || entries.some(isUnsettled)) continue;
      for (const ip of entries) this.tables.deleteIp(ip);
      staticIpRules.delete(rule.id);
    }
    for (const resource of resources.values()) {
      if (resource.deletedAt === null) continue;
      const used = this.tables.ipsWhere((ip) => ip.resourceId === resource.id).some(isUnsettled);
      if (!used) resources.delete(resource.id);
    }
  }

  dueTargets(limit: number): DueTarget[] {
    const now = this.tables.now();
    const oldest = new Map<string, number>();
    for (const { targetId, dueAt } of this.tables.rules.values()) {
      if (dueAt === null || dueAt > now || !this.isFree(this.tables.targets.get(targetId)!)) continue;
      oldest.set(targetId, Math.min(dueAt, oldest.get(targetId) ?? dueAt));
    }
    return [...oldest]
      .sort((a, b) => a[1] - b[1])
      .slice(0, limit)
      .map(([targetId]) => this.dueTarget(this.tables.targets.get(targetId)!));
  }

  reconcileTargets(limit: number): DueTarget[] {
    return [...this.tables.targets.values()]
      .filter((target) => target.reconcileDueAt <= this.tables.now() && this.isFree(target))
      .sort((a, b) => a.reconcileDueAt - b.reconcileDueAt)
      .slice(0, limit)
      .map((target) => this.dueTarget(target));
  }

  /** Whether a sweep now would find nothing. Asked more often than anything else: it makes no lists. */
  isIdle(): boolean {
    const now = this.tables.now();
    const { sessions, rules, targets, resourceIps, staticIpRules, resources } = this.tables;
    for (const { expiresAt, status } of sessions.values())
      if (expiresAt <= now && SESSION_MOVES[status].includes('EXPIRING')) return false;
    for (const { dueAt } of rules.values()) if (dueAt !== null && dueAt <= now) return false;
    for (const { reconcileDueAt } of targets.values()) if (reconcileDueAt <= now) return false;
    for (const { staticIpRuleId, status } of resourceIps.values())
      if (staticIpRuleId !== null && status === 'REMOVED') return false;
    for (const { deletedAt } of staticIpRules.values()) if (deletedAt !== null) return false;
    for (const { deletedAt } of resources.values()) if (deletedAt !== null) return false;
    return true;
  }

  private isFree(target: TargetRow): boolean {
    return target.leaseUntil === null || target.leaseUntil <= this.tables.now();
  }

  private dueTarget({ id, provider }: TargetRow): DueTarget {
    return { targetId: id, provider };
  }
}

/** Moves sessions to EXPIRING, and takes the steps of `RELEASE`. @returns the cloud objects to wake */
export function endSessions(
  tables: Tables,
  sessions: readonly SessionRow[],
  reason: NonNullable<SessionRow['endedReason']>,
): string[] {
  for (const session of sessions) {
    tables.moveSession(session, 'EXPIRING');
    session.endedAt = tables.now();
    session.endedReason = reason;
  }
  const ids = new Set(sessions.map((session) => session.id));
  const released = tables.ipsWhere((ip) => ids.has(ip.sessionId ?? '') && HOLDING.has(ip.status));
  return releaseIps(tables, released);
}

/** ResourceIps let go, and their rules become due. @returns the cloud objects to wake */
export function releaseIps(tables: Tables, released: readonly ResourceIpRow[]): string[] {
  for (const ip of released) {
    tables.moveIp(ip, 'REMOVING');
    ip.releasedAt = tables.now();
  }
  tables.makeDue(released);
  return [...new Set(released.flatMap((ip) => tables.heldBy(ip).map((rule) => rule.targetId)))];
}
