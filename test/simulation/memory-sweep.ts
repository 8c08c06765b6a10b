import type { SweeperLease, SweeperLeaseStore, SweepOutlook, SweepStore, WokenTargets } from '#engine-store';
import { grouped, SESSION_MOVES, type SlotUse } from '#rules';
import type { InMemory } from './in-memory';
import { isUnleased } from './memory-rules';
import { endSessions } from './releases';
import { endOf, HOLDING, type ResourceIpRow, type SessionRow, type Tables, type TargetRow } from './tables';

/** Removed, or refused and released. */
const isOut = ({ status, releasedAt }: ResourceIpRow): boolean =>
  status === 'REMOVED' || (status === 'FAILED' && releasedAt !== null);

/** `RestoreStore.confirm` in memory. */
export function confirmRestore(tables: Tables): void {
  const now = tables.now();
  tables.isRestored = false;
  for (const target of tables.targets.values()) target.reconcileDueAt = Math.min(target.reconcileDueAt, now);
  for (const rule of tables.rules.values()) {
    const isHeldBack = rule.cause === 'ORPHAN' && rule.dueAt === null && rule.state !== 'absent';
    if (isHeldBack || ((rule.dueAt ?? 0) > now && !rule.isSuspended)) rule.dueAt = now;
  }
  for (const ip of tables.resourceIps.values()) if (ip.status === 'PENDING') ip.pendingSince = now;
}

/** `SweepStore` in memory, for too few organizations for the turns between them to matter. */
export class MemorySweep implements InMemory<SweepStore> {
  constructor(private readonly tables: Tables) {}

  expireSessions(limit: number): { count: number; targets: WokenTargets[] } {
    const over = this.over().slice(0, limit);
    const woken = endSessions(this.tables, over, 'EXPIRED', 'SESSION_EXPIRED');
    const byProvider = grouped(woken, (id) => this.tables.targets.get(id)!.provider);
    return {
      count: over.length,
      targets: [...byProvider].map(([provider, targetIds]) => ({ provider, targetIds })),
    };
  }

  /** No static IP rule has an end here. */
  expireStaticRules(): { count: number; targets: WokenTargets[] } {
    return { count: 0, targets: [] };
  }

  outlook(): SweepOutlook {
    const now = this.tables.now();
    const ends = this.live().map(endOf);
    return {
      nextEndMs: ends.length === 0 ? null : Math.max(0, Math.min(...ends) - now),
      isDue: [...this.tables.targets.values()].some((target) => this.use(target) !== null),
    };
  }

  private over(): SessionRow[] {
    const now = this.tables.now();
    return this.live().filter((session) => endOf(session) <= now);
  }

  private live(): SessionRow[] {
    const sessions = [...this.tables.sessions.values()];
    return sessions.filter(({ status }) => SESSION_MOVES[status].includes('EXPIRING'));
  }

  /** No resource is deleted here. */
  purge(): void {
    const isUsed = (ip: ResourceIpRow): boolean => this.tables.holdersBy(ip).length > 0;
    const entries = this.tables.ipsWhere((ip) => ip.staticIpRuleId !== null && isOut(ip) && !isUsed(ip));
    for (const ip of entries) this.tables.deleteIp(ip);
    for (const { id, deletedAt } of this.tables.staticIpRules.values()) {
      const own = this.tables.ipsWhere((ip) => ip.staticIpRuleId === id);
      const isHeld = own.some((ip) => HOLDING.has(ip.status) || ip.status === 'REMOVING' || isUsed(ip));
      if (deletedAt === null || isHeld) continue;
      for (const ip of own) this.tables.deleteIp(ip);
      this.tables.staticIpRules.delete(id);
    }
  }

  /** No credential is deleted here. */
  purgeCredentials(): string[] {
    return [];
  }

  /** The clock is not set back here. */
  bringForward(): void {}

  waitingTargets(_: number, limit: number): SlotUse[] {
    const now = this.tables.now();
    return [...this.tables.targets.values()]
      .filter((target) => isUnleased(target, now))
      .flatMap((target) => this.use(target) ?? [])
      .toSorted(
        (one, other) =>
          Number(other.closing) - Number(one.closing) || Number(one.deferrable) - Number(other.deferrable),
      )
      .slice(0, limit);
  }

  waitingTarget(targetId: string): SlotUse | null {
    const target = this.tables.targets.get(targetId);
    return target && isUnleased(target, this.tables.now()) ? this.use(target) : null;
  }

  /** @returns null: nothing of it is due */
  private use({ id, provider, reconcileDueAt }: TargetRow): SlotUse | null {
    const now = this.tables.now();
    const due = this.tables.rulesOf(id).filter(({ dueAt }) => dueAt !== null && dueAt <= now);
    if (due.length === 0 && reconcileDueAt > now) return null;
    const named = [...this.tables.resources.values()].filter(({ targetId }) => targetId === id);
    return {
      targetId: id,
      provider,
      organizations: [...new Set(named.map(({ organizationId }) => organizationId))].toSorted(),
      closing: due.some(({ closing }) => closing),
      deferrable: due.every(({ attempts }) => attempts > 0),
    };
  }
}

/** `SweeperLeaseStore` in memory. */
export class MemorySweeperLease implements InMemory<SweeperLeaseStore> {
  constructor(private readonly tables: Tables) {}

  find(workerId: string): SweeperLease & { readonly now: number } {
    const now = this.tables.now();
    this.tables.sweeper ??= { workerId, leaseUntil: now, othersSeenAt: null, sweptAt: null };
    return { ...this.tables.sweeper, now };
  }

  save({ workerId, leaseUntil }: SweeperLease, lease: SweeperLease): boolean {
    const { sweeper } = this.tables;
    const isUnchanged = sweeper?.workerId === workerId && sweeper.leaseUntil === leaseUntil;
    if (isUnchanged) this.tables.sweeper = lease;
    return isUnchanged;
  }

  release(workerId: string): void {
    const { sweeper } = this.tables;
    if (sweeper?.workerId === workerId) this.tables.sweeper = { ...sweeper, leaseUntil: this.tables.now() };
  }
}
