import type { Lease, LeaseStore, WriteBudgetStore } from '#entities';
import type { Modelled } from './modelled';
import type { Tables } from './tables';

/** `LeaseStore` in memory. */
export class ModelLeases implements Modelled<LeaseStore> {
  constructor(private readonly tables: Tables) {}

  take(targetId: string, seconds: number): Lease | null {
    const now = this.tables.now();
    const target = this.tables.targets.get(targetId);
    if (!target || (target.leaseUntil !== null && target.leaseUntil > now)) return null;
    target.leaseGeneration += 1;
    target.leaseUntil = now + seconds * 1000;
    return {
      targetId,
      provider: target.provider,
      resourceType: target.resourceType,
      identifier: target.identifier,
      generation: `${target.leaseGeneration}`,
      sinceLastWriteMs: target.lastWriteAt === null ? null : now - target.lastWriteAt,
      lastWriteSize: target.lastWriteSize,
      reconcileDue: target.reconcileDueAt <= now,
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
}

/** `WriteBudgetStore` in memory. */
export class ModelBudgets implements Modelled<WriteBudgetStore> {
  constructor(private readonly tables: Tables) {}

  take(
    accountKey: string,
    budget: { burst: number; refillPerSecond: number },
    calls: number,
    reserve: number,
  ): number {
    const now = this.tables.now();
    const bucket = this.tables.budgets.get(accountKey);
    const filled = bucket
      ? Math.min(budget.burst, bucket.tokens + ((now - bucket.refilledAt) / 1000) * budget.refillPerSecond)
      : budget.burst;
    if (bucket && filled - calls < reserve) return Math.ceil((1000 * calls) / budget.refillPerSecond);
    this.tables.budgets.set(accountKey, { tokens: filled - calls, refilledAt: now });
    return 0;
  }

  give(accountKey: string, budget: { burst: number }, calls: number): void {
    const bucket = this.tables.budgets.get(accountKey);
    if (bucket) bucket.tokens = Math.min(budget.burst, bucket.tokens + calls);
  }
}
