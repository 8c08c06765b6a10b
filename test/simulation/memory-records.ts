import type {
  AccessPath,
  AffectedSession,
  ComparisonStore,
  DueComparison,
  KnownRules,
  Lease,
  LedgerRow,
  LedgerStore,
  ComparedResource,
  SettlementOwnersStore,
  UnissuedIds,
  UnmanagedRule,
  UnmanagedStore,
} from '#engine-store';
import type { SessionStatus } from '#rules';
import type { InMemory } from './in-memory';
import type { Tables } from './tables';

/** `LedgerStore` in memory. */
export class MemoryLedger implements InMemory<LedgerStore> {
  constructor(private readonly tables: Tables) {}

  record(rows: readonly LedgerRow[]): void {
    for (const row of rows) this.tables.record(row);
  }
}

/** `UnmanagedStore` in memory. */
export class MemoryUnmanaged implements InMemory<UnmanagedStore> {
  constructor(private readonly tables: Tables) {}

  listSeen(targetId: string): UnmanagedRule[] {
    return this.tables.unmanaged.filter((rule) => rule.targetId === targetId);
  }

  add(targetId: string, rules: readonly UnmanagedRule[]): void {
    this.remove(targetId, rules);
    this.tables.unmanaged.push(...rules.map((rule) => ({ ...rule, targetId })));
  }

  list(targetId: string, rules: readonly UnmanagedRule[]): void {
    const listed = new Set(this.listSeen(targetId).map(({ key }) => key));
    const fresh = rules.filter(({ key }) => !listed.has(key));
    if (fresh.length === 0) return;
    this.add(targetId, fresh);
    this.tables.targets.get(targetId)!.unmanagedDigest = null;
  }

  remove(targetId: string, rules: readonly Pick<UnmanagedRule, 'key' | 'providerRuleId'>[]): void {
    this.tables.unmanaged = this.tables.unmanaged.filter(
      (one) =>
        one.targetId !== targetId ||
        !rules.some(({ key, providerRuleId }) => one.key === key && one.providerRuleId === providerRuleId),
    );
  }
}

/** `SettlementOwnersStore` in memory. */
export class MemoryOwners implements InMemory<SettlementOwnersStore> {
  constructor(private readonly tables: Tables) {}

  sessions(ids: readonly string[]): AffectedSession[] {
    return [...ids].sort().flatMap((id) => {
      const session = this.tables.sessions.get(id);
      if (!session) return [];
      const { organizationId, status, endedReason, userId } = session;
      const ips = this.tables.ipsWhere((ip) => ip.sessionId === id);
      const messages = ips.filter((ip) => ip.status === 'FAILED').flatMap((ip) => ip.errorMessage ?? []);
      const isSuspended = ips.some(
        (ip) =>
          ip.status === 'PENDING' &&
          this.tables.heldBy(ip).some((rule) => rule.isSuspended || rule.isMissing),
      );
      return [
        {
          id,
          organizationId,
          status,
          endedReason,
          userId,
          userEmail: userId,
          errorMessage: messages.sort()[0] ?? null,
          leaseLost: false,
          // the targets of the model hold both IP versions
          ips: ips.map((ip) => ({ status: ip.status, ipVersion: 4, isWrongFamily: false })),
          isSuspended: status !== 'PENDING' && status !== 'EXPIRING' && isSuspended,
        },
      ];
    });
  }

  moveSessions(
    moves: readonly { readonly id: string; readonly from: SessionStatus; readonly to: SessionStatus }[],
  ): string[] {
    return moves.flatMap(({ id, from, to }) => {
      const session = this.tables.sessions.get(id);
      if (session?.status !== from) return [];
      this.tables.moveSession(session, to);
      return [id];
    });
  }

  /** Nobody reads audit records here, nor what they would say. */
  staticRules(): [] {
    return [];
  }

  writeVerifiedResources(): [] {
    return [];
  }

  overdue(): [] {
    return [];
  }
}

const INTERVAL_MS = 45_000;
const UNREACHABLE_INTERVAL_MS = 10 * 60_000;

/** `ComparisonStore` in memory. */
export class MemoryComparisons implements InMemory<ComparisonStore> {
  constructor(private readonly tables: Tables) {}

  finish(
    targetId: string,
    { againAt }: DueComparison,
    unmanagedDigest: string | null,
    startedAgoMs: number,
  ): void {
    const target = this.tables.targets.get(targetId)!;
    const now = this.tables.now();
    if (unmanagedDigest !== null) Object.assign(target, { comparedAt: now - startedAgoMs, unmanagedDigest });
    if (`${target.reconcileDueAt}` !== againAt) return;
    target.reconcileDueAt = now + INTERVAL_MS;
    target.reconcileRequested = false;
  }

  schedule(targetId: string, inSeconds: number, requested: boolean): void {
    const target = this.tables.targets.get(targetId)!;
    target.reconcileDueAt = Math.min(target.reconcileDueAt, this.tables.now() + inSeconds * 1000);
    target.reconcileRequested ||= requested;
  }

  postpone(targetId: string): void {
    const target = this.tables.targets.get(targetId)!;
    const isEmpty = this.tables.rulesOf(targetId).every(({ state }) => state === 'absent');
    if (target.reconcileRequested) return;
    const now = this.tables.now();
    const longestMs = Math.max(UNREACHABLE_INTERVAL_MS, INTERVAL_MS);
    const { comparedAt } = target;
    const waitMs = isEmpty || comparedAt === null ? longestMs : Math.min(longestMs, now - comparedAt);
    target.reconcileDueAt = Math.max(target.reconcileDueAt, now + waitMs);
  }

  /** No second installation is there. */
  findUnissued(): UnissuedIds {
    return { deploymentId: 'simulation', ids: [], hasRemoved: false };
  }

  noteUnissuedRemoval(): void {}

  readKnown(lease: Lease): KnownRules {
    return {
      unmanagedDigest: this.tables.targets.get(lease.targetId)!.unmanagedDigest,
      rules: this.tables.rulesOf(lease.targetId).map((rule) => ({
        ruleId: rule.id,
        key: rule.key,
        state: rule.state,
        isUnmanaged: rule.isUnmanaged,
        isSuspended: rule.isSuspended,
        isMissing: rule.isMissing,
        providerRuleId: rule.providerRuleId,
        targetMissing: rule.targetMissingSince !== null,
        wasObserved: rule.presentSince !== null,
        desired: this.tables.isDesired(rule),
      })),
    };
  }

  accessPaths(lease: Lease): AccessPath[] {
    const named = [...this.tables.resources.values()].filter(({ targetId }) => targetId === lease.targetId);
    const written = this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.state !== 'absent' && rule.credentialId !== null);
    const sources = named.length > 0 ? named : written;
    const ways = new Map<string, AccessPath & { resources: ComparedResource[] }>();
    for (const { credentialId, region } of sources) {
      ways.set(`${credentialId} ${region}`, {
        access: {
          credentialId: credentialId!,
          region,
          organizationId: this.tables.credentials.get(credentialId!)?.organizationId ?? null,
        },
        isProven: true,
        resources: [],
      });
    }
    for (const { id, organizationId, name, config, credentialId, region } of named) {
      const resource = { id, organizationId, name, config, lastOutcome: null };
      ways.get(`${credentialId} ${region}`)!.resources.push(resource);
    }
    return [...ways.values()];
  }

  /** Nobody reads health events here. */
  report(): void {}

  deactivate(resources: readonly Pick<ComparedResource, 'id'>[]): void {
    for (const { id } of resources)
      Object.assign(this.tables.resources.get(id)!, { isActive: false, writeVerified: false });
  }
}
