import {
  dueRules,
  type ResourceIp,
  type ChangedRows,
  type DueRules,
  type Holder,
  type BudgetTurn,
  type LastWrite,
  type Lease,
  type LeaseStore,
  type Loaded,
  type LockedRules,
  type NotedWrite,
  type RuleStore,
  type Queued,
  type WriteBudget,
  WriteBudgetStore,
} from '#engine-store';
import type { ResourceIpStatus, Rule, TargetRule } from '#rules';
import type { InMemory } from './in-memory';
import { releaseClaims } from './releases';
import { endOf, type ResourceIpRow, type RuleRow, type Tables, type TargetRow } from './tables';

const COMPARE_AFTER_WRITE_MS = 45_000;
const BROKEN_OFF_MS = 30_000;
const MAX_LEASE_MS = 60_000;

/** No worker holds the target. */
export const isUnleased = ({ leaseUntil }: Pick<TargetRow, 'leaseUntil'>, now: number): boolean =>
  leaseUntil === null || leaseUntil <= now || leaseUntil > now + MAX_LEASE_MS;

/** `LeaseStore` in memory. */
export class MemoryLeases implements InMemory<LeaseStore> {
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
      isShort: target.wasShort,
      comparison: isDue
        ? { requested: target.reconcileRequested, againAt: `${target.reconcileDueAt}` }
        : null,
      takenAt: now,
      configs: [],
      // what the model driver says, so that nothing is news
      noted: { room: null, accountKey: 'account' },
    };
  }

  note(): void {
    throw new Error('The model driver knows no room');
  }

  renew(lease: Lease, seconds: number): boolean {
    if (!this.lock(lease)) return false;
    this.tables.targets.get(lease.targetId)!.leaseUntil = this.tables.now() + seconds * 1000;
    return true;
  }

  lock(lease: Lease): boolean {
    return `${this.tables.targets.get(lease.targetId)?.leaseGeneration}` === lease.generation;
  }

  noteWrite(
    lease: Lease,
    { size, isShort }: LastWrite,
    listInDoubtSeconds: number | null,
  ): NotedWrite | null {
    const now = this.tables.now();
    const target = this.tables.targets.get(lease.targetId)!;
    if (!this.lock(lease) || (target.leaseUntil ?? 0) <= now) return null;
    const listInFlightUntil = target.inFlightUntil;
    const inFlightUntil = listInDoubtSeconds === null ? null : now + listInDoubtSeconds * 1000;
    const reconcileDueAt = Math.min(target.reconcileDueAt, now + COMPARE_AFTER_WRITE_MS);
    Object.assign(target, {
      lastWriteAt: now,
      lastWriteSize: size,
      wasShort: isShort,
      inFlightUntil,
      reconcileDueAt,
    });
    return { listInFlightUntil };
  }

  confirmWrite(lease: Lease, { listInFlightUntil }: NotedWrite): void {
    if (this.lock(lease)) this.tables.targets.get(lease.targetId)!.inFlightUntil = listInFlightUntil;
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

/** `RuleStore` in memory. */
export class MemoryRules implements InMemory<RuleStore> {
  constructor(private readonly tables: Tables) {}

  due({ targetId }: Lease, limit: number): DueRules {
    const now = this.tables.now();
    const due = this.tables.rulesOf(targetId).filter(({ dueAt }) => dueAt !== null && dueAt <= now);
    return { now, rules: dueRules(this.load(targetId, due)).slice(0, limit) };
  }

  again({ targetId }: Lease, ruleIds: readonly string[]): DueRules {
    const rows = ruleIds.flatMap((id) => this.tables.rules.get(id) ?? []);
    return { now: this.tables.now(), rules: dueRules(this.load(targetId, rows)) };
  }

  /** No provider replaces a whole list here. */
  possiblyPresent(): [] {
    return [];
  }

  lock(targetId: string, ruleIds: readonly string[], statuses: readonly ResourceIpStatus[]): Loaded {
    const { tables } = this;
    const own = ruleIds.flatMap((id) => tables.rules.get(id) ?? []);
    const beside = own.flatMap((rule) =>
      tables
        .holderRows(rule)
        .map(({ resourceIpId }) => tables.resourceIps.get(resourceIpId)!)
        .filter(({ status }) => rule.isMissing || statuses.includes(status))
        .flatMap((ip) => tables.heldBy(ip)),
    );
    return this.load(targetId, [...new Set([...own, ...beside])]);
  }

  lockAlone(ruleIds: readonly string[]): LockedRules {
    const chosen = new Set(ruleIds);
    return this.locked(({ id }) => chosen.has(id));
  }

  live(targetId: string): string[] {
    const live = this.tables
      .rulesOf(targetId)
      .filter(({ state, dueAt }) => state !== 'absent' || dueAt !== null);
    return live.map(({ id }) => id);
  }

  save({ rules = [], addresses = [], ended = [] }: Partial<ChangedRows>): void {
    const { tables } = this;
    for (const rule of rules) {
      const row = tables.rules.get(rule.id);
      if (row) Object.assign(row, rule);
    }
    for (const { was, ...address } of addresses) {
      const row = tables.resourceIps.get(address.id);
      if (row?.status !== was) continue;
      if (address.status !== was) tables.moveIp(row, address.status);
      Object.assign(row, address);
    }
    for (const holder of ended) tables.deleteHolder(holder);
  }

  insert(
    targetId: string,
    rules: readonly (Rule & Pick<TargetRule, 'key' | 'address' | 'protocol' | 'ports'>)[],
  ): Pick<TargetRule, 'id' | 'key'>[] {
    return rules.flatMap(({ id: _, ...rule }) => {
      if (this.tables.rulesOf(targetId).some(({ key }) => key === rule.key)) return [];
      const { id, key } = this.tables.addRule({ ...rule, targetId });
      return [{ id, key }];
    });
  }

  releaseRefused(holders: readonly Holder[]): void {
    const rows = holders.flatMap(
      ({ ruleId, resourceIpId }) => this.tables.holder(ruleId, resourceIpId) ?? [],
    );
    releaseClaims(this.tables, 'ADD_REFUSED', rows);
  }

  deleteUnheld(ruleIds: readonly string[]): void {
    for (const id of ruleIds) if (this.tables.holderRows({ id }).length === 0) this.tables.deleteRule(id);
  }

  lockRetries({ targetId }: Lease, ruleIds: readonly string[]): LockedRules {
    const now = this.tables.now();
    return this.locked(
      (rule) =>
        rule.targetId === targetId &&
        !ruleIds.includes(rule.id) &&
        rule.attempts > 0 &&
        (rule.dueAt ?? 0) > now &&
        !rule.isSuspended,
    );
  }

  lockUnheld(): LockedRules {
    return this.locked(
      (rule) => rule.state === 'absent' && rule.dueAt === null && this.tables.holderRows(rule).length === 0,
    );
  }

  /** No credential is deleted here. */
  lockWrittenWith(): LockedRules {
    return this.locked(() => false);
  }

  lockMisdated(seconds: number, leadSeconds: number): LockedRules {
    const now = this.tables.now();
    const isExpiring = (rule: RuleRow): boolean =>
      (rule.nativeEndAt ?? Infinity) < now + leadSeconds * 1000 &&
      rule.dueAt === null &&
      rule.unwantedSince === null &&
      this.tables.plannedEndOf(rule) > rule.nativeEndAt!;
    return this.locked((rule) => (rule.dueAt ?? 0) > now + seconds * 1000 || isExpiring(rule));
  }

  lockUnreported(seconds: number, limit: number): LockedRules {
    const latest = this.tables.now() - seconds * 1000;
    const since = (rule: RuleRow): number => rule.unwantedSince ?? this.tables.lastEndOf(rule);
    const { now, rules } = this.locked(
      (rule) => rule.overdueAt === null && since(rule) < latest && rule.state !== 'absent',
    );
    return { now, rules: rules.slice(0, limit) };
  }

  private locked(isMeant: (rule: RuleRow) => boolean): LockedRules {
    const rules = [...this.tables.rules.values()].filter(isMeant);
    return { now: this.tables.now(), rules: rules.map((rule) => ({ ...rule })) };
  }

  private load(targetId: string, rules: readonly RuleRow[]): Loaded {
    const { tables } = this;
    const now = tables.now();
    const { comparedAt, inFlightUntil } = tables.targets.get(targetId)!;
    const holders = rules.flatMap((rule) => tables.holderRows(rule));
    const held = new Set(holders.map(({ resourceIpId }) => resourceIpId));
    return {
      now,
      readAt: now,
      comparedAt,
      // 0: the creation of the target
      knownSince: comparedAt ?? 0,
      listInFlightUntil: inFlightUntil,
      isRestored: tables.isRestored,
      rules: rules
        .map((rule) => this.withTarget(rule))
        .toSorted((one, other) => (one.key < other.key ? -1 : 1)),
      holders: holders.map((holder) => ({ ...holder })),
      addresses: [...held].map((id) => this.address(tables.resourceIps.get(id)!)),
    };
  }

  private withTarget(rule: RuleRow): TargetRule {
    const { provider, resourceType, identifier, comparedAt } = this.tables.targets.get(rule.targetId)!;
    const writer = this.tables.credentials.get(rule.credentialId ?? '');
    return {
      ...rule,
      provider,
      resourceType,
      identifier,
      comparedAt,
      writerOrganizationId: writer?.organizationId ?? null,
    };
  }

  private address(ip: ResourceIpRow): ResourceIp {
    const resource = this.tables.resources.get(ip.resourceId);
    const session = this.tables.sessions.get(ip.sessionId ?? '');
    return {
      ...ip,
      resourceName: resource?.name ?? '',
      resource: resource
        ? {
            access: { credentialId: resource.credentialId, region: resource.region },
            config: resource.config,
            writeVerified: resource.writeVerified,
            abandoned: null,
          }
        : null,
      session: session
        ? {
            userId: session.userId,
            userEmail: session.userId,
            expiresAt: session.expiresAt,
            endsAt: endOf(session),
          }
        : null,
      staticEndsAt: null,
    };
  }
}

/** `WriteBudgetStore` in memory. */
export class MemoryBudgets implements InMemory<WriteBudgetStore> {
  constructor(private readonly tables: Tables) {}

  take(
    accountKey: string,
    { burst, refillPerSecond }: WriteBudget,
    calls: number,
    maxWaitMs: number,
  ): BudgetTurn | null {
    const now = this.tables.now();
    const { budgets } = this.tables;
    const fullAt = Math.max(budgets.get(accountKey) ?? now, now) + (1000 * calls) / refillPerSecond;
    const waitMs = fullAt - now - (1000 * burst) / refillPerSecond;
    if (budgets.has(accountKey) && waitMs > maxWaitMs) return null;
    budgets.set(accountKey, fullAt);
    return { waitMs: Math.max(0, Math.round(waitMs)), fullInMs: fullAt - now };
  }

  enqueue(
    accountKey: string,
    { burst, refillPerSecond }: WriteBudget,
    { action, calls }: Queued,
    maxWaitMs: number,
  ): number | null {
    const { budgets, queuedUntil } = this.tables;
    const fullAt = budgets.get(accountKey);
    if (fullAt === undefined) return null;
    const queue = `${accountKey} ${action}`;
    const freeAt = Math.max(queuedUntil.get(queue) ?? 0, fullAt - (1000 * burst) / refillPerSecond);
    const place = freeAt + (1000 * calls) / refillPerSecond;
    const waitMs = place - this.tables.now();
    if (waitMs > maxWaitMs) return null;
    queuedUntil.set(queue, place);
    return Math.max(0, Math.round(waitMs));
  }

  empty(accountKey: string, { burst, refillPerSecond }: WriteBudget, waitMs: number): void {
    const { budgets } = this.tables;
    const fullAt = budgets.get(accountKey);
    const emptied = this.tables.now() + (1000 * burst) / refillPerSecond + waitMs;
    if (fullAt !== undefined) budgets.set(accountKey, Math.max(fullAt, emptied));
  }
}
