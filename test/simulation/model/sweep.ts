import type { SweepStore } from '#entities';
import { SESSION_MOVES, type SlotUse } from '#rules';
import type { Modelled } from './modelled';
import { HOLDING, type ResourceIpRow, type SessionRow, type Tables } from './tables';

const isUnsettled = (ip: ResourceIpRow): boolean => HOLDING.has(ip.status) || ip.status === 'REMOVING';

interface Waiting {
  readonly use: SlotUse;
  readonly since: number;
}

/** `IN_TURN`, among those of one place. */
const inTurn = (one: Waiting, other: Waiting): number =>
  Number(other.use.closing) - Number(one.use.closing) ||
  Number(one.use.patient) - Number(other.use.patient) ||
  one.since - other.since;

/** `SweepStore` in memory. */
export class ModelSweep implements Modelled<SweepStore> {
  constructor(private readonly tables: Tables) {}

  expireSessions(limit: number): number {
    const over = this.over()
      .sort((a, b) => a.expiresAt - b.expiresAt)
      .slice(0, limit);
    if (over.length > 0) endSessions(this.tables, over, 'EXPIRED');
    return over.length;
  }

  untilNextEnd(): number | null {
    const ends = this.live().map(({ expiresAt }) => expiresAt);
    return ends.length === 0 ? null : Math.max(0, Math.min(...ends) - this.tables.now());
  }

  private over(): SessionRow[] {
    const now = this.tables.now();
    return this.live().filter(({ expiresAt }) => expiresAt <= now);
  }

  private live(): SessionRow[] {
    return [...this.tables.sessions.values()].filter(({ status }) =>
      SESSION_MOVES[status].includes('EXPIRING'),
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

  waitingTargets(perOrganization: number, limit: number): SlotUse[] {
    const placed = new Map<string, number>();
    return this.waiting()
      .toSorted(inTurn)
      .map((waiting) => {
        const owners = waiting.use.organizations.join();
        const place = (placed.get(owners) ?? 0) + 1;
        placed.set(owners, place);
        return { ...waiting, place };
      })
      .filter(({ place }) => place <= perOrganization)
      .sort((a, b) => a.place - b.place || inTurn(a, b))
      .slice(0, limit)
      .map(({ use }) => use);
  }

  waitingTarget(targetId: string): SlotUse | null {
    return this.waiting().find(({ use }) => use.targetId === targetId)?.use ?? null;
  }

  /** Cloud objects with something to do, in nobody's hands. */
  private waiting(): Waiting[] {
    const now = this.tables.now();
    return [...this.tables.targets.values()].flatMap((target) => {
      if (target.leaseUntil !== null && target.leaseUntil > now) return [];
      const due = this.tables.rulesOf(target.id).filter(({ dueAt }) => dueAt !== null && dueAt <= now);
      if (due.length === 0 && target.reconcileDueAt > now) return [];
      const use = {
        targetId: target.id,
        provider: target.provider,
        organizations: this.naming(target.id),
        closing: due.some((rule) => rule.closing),
        patient: due.every((rule) => rule.attempts > 0),
      };
      const since = due.length === 0 ? target.reconcileDueAt : Math.min(...due.map((rule) => rule.dueAt!));
      return [{ use, since }];
    });
  }

  private naming(targetId: string): string[] {
    const named = [...this.tables.resources.values()].filter((resource) => resource.targetId === targetId);
    return [...new Set(named.map(({ organizationId }) => organizationId))].sort();
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
