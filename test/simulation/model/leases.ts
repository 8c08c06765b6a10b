import type {
  Lease,
  LeaseStore,
  SweeperLeaseStore,
  SweepRole,
  WriteBudget,
  WriteBudgetStore,
} from '#engine-store';
import type { Modelled } from './modelled';
import type { Tables, TargetRow } from './tables';

const BROKEN_OFF_MS = 30_000;
const MAX_LEASE_MS = 60_000;

/** `UNLEASED` of the store. */
export const isUnleased = ({ leaseUntil }: Pick<TargetRow, 'leaseUntil'>, now: number): boolean =>
  leaseUntil === null || leaseUntil <= now || leaseUntil > now + MAX_LEASE_MS;

/** `LeaseStore` in memory. */
export class ModelLeases implements Modelled<LeaseStore> {
  constructor(private readonly tables: Tables) {}

  take(targetId: string, seconds: number, compares: boolean): Lease | null {
    const now = this.tables.now();
    const target = this.tables.targets.get(targetId);
    if (!target || !isUnleased(target, now)) return null;
    target.leaseGeneration += 1;
    target.leaseUntil = now + seconds * 1000;
    const isDue = compares && target.reconcileDueAt <= now;
    if (isDue) target.reconcileDueAt = now + BROKEN_OFF_MS;
    return {
      targetId,
      provider: target.provider,
      resourceType: target.resourceType,
      identifier: target.identifier,
      generation: `${target.leaseGeneration}`,
      sinceLastWriteMs: target.lastWriteAt === null ? null : now - target.lastWriteAt,
      lastWriteSize: target.lastWriteSize,
      promptWrites: target.promptWrites,
      comparison: isDue
        ? { requested: target.reconcileRequested, againAt: `${target.reconcileDueAt}` }
        : null,
    };
  }

  renew(lease: Lease, seconds: number): boolean {
    if (!this.lock(lease)) return false;
    this.tables.targets.get(lease.targetId)!.leaseUntil = this.tables.now() + seconds * 1000;
    return true;
  }

  lock(lease: Lease): boolean {
    return `${this.tables.targets.get(lease.targetId)?.leaseGeneration}` === lease.generation;
  }

  release(lease: Lease): void {
    if (this.lock(lease)) this.tables.targets.get(lease.targetId)!.leaseUntil = null;
  }

  releaseUnlessDue(lease: Lease): boolean {
    const now = this.tables.now();
    const isDue = this.tables.rulesOf(lease.targetId).some(({ dueAt }) => dueAt !== null && dueAt <= now);
    if (isDue || !this.lock(lease)) return false;
    this.release(lease);
    return true;
  }
}

const OTHERS_NOTED_MS = 5000;
const OTHERS_THERE_MS = 15_000;

/** `SweeperLeaseStore` in memory. */
export class ModelSweeperLease implements Modelled<SweeperLeaseStore> {
  constructor(private readonly tables: Tables) {}

  take(workerId: string, seconds: number): SweepRole {
    const now = this.tables.now();
    const leaseUntil = now + seconds * 1000;
    const lease = this.tables.sweeper;
    if (!lease) {
      this.tables.sweeper = { workerId, leaseUntil, othersSeenAt: null };
      return { sweeps: true, hasOthers: false, heldForMs: leaseUntil - now };
    }
    const isOwn = lease.workerId === workerId;
    const maySweep = isOwn || lease.leaseUntil <= now || lease.leaseUntil > now + MAX_LEASE_MS;
    const isNoted = lease.othersSeenAt !== null && lease.othersSeenAt >= now - OTHERS_NOTED_MS;
    if (!maySweep && isNoted) return { sweeps: false, hasOthers: false, heldForMs: lease.leaseUntil - now };
    if (maySweep) Object.assign(lease, { workerId, leaseUntil });
    if (!isOwn) lease.othersSeenAt = now;
    const hasOthers = lease.othersSeenAt !== null && lease.othersSeenAt > now - OTHERS_THERE_MS;
    return { sweeps: lease.workerId === workerId, hasOthers, heldForMs: lease.leaseUntil - now };
  }

  release(workerId: string): void {
    if (this.tables.sweeper?.workerId === workerId) this.tables.sweeper.leaseUntil = this.tables.now();
  }
}

/** `WriteBudgetStore` in memory. */
export class ModelBudgets implements Modelled<WriteBudgetStore> {
  constructor(private readonly tables: Tables) {}

  take(
    accountKey: string,
    { burst, refillPerSecond }: WriteBudget,
    calls: number,
    maxWaitMs: number,
  ): number | null {
    const now = this.tables.now();
    const { budgets } = this.tables;
    const fullAt = Math.max(budgets.get(accountKey) ?? now, now) + (1000 * calls) / refillPerSecond;
    const waitMs = fullAt - now - (1000 * burst) / refillPerSecond;
    if (budgets.has(accountKey) && waitMs > maxWaitMs) return null;
    budgets.set(accountKey, fullAt);
    return Math.max(0, Math.round(waitMs));
  }

  empty(accountKey: string, { burst, refillPerSecond }: WriteBudget, waitMs: number): void {
    const { budgets } = this.tables;
    const fullAt = budgets.get(accountKey);
    const emptied = this.tables.now() + (1000 * burst) / refillPerSecond + waitMs;
    if (fullAt !== undefined) budgets.set(accountKey, Math.max(fullAt, emptied));
  }
}
