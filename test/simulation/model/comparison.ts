import type { Access } from '#rules';
import type {
  ComparisonStore,
  DueComparison,
  HealthReport,
  KnownRules,
  Lease,
  NamingResource,
  AccessPath,
} from '#engine-store';
import type { Modelled } from './modelled';
import type { Tables } from './tables';

const INTERVAL_MS = 45_000;
const READS_PER_SECOND = 5;
const UNREACHABLE_INTERVAL_MS = 10 * 60_000;

/** `ComparisonStore` in memory. */
export class ModelComparisons implements Modelled<ComparisonStore> {
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
    target.reconcileDueAt =
      now + Math.max(INTERVAL_MS, (1000 * this.maxTargets(targetId)) / READS_PER_SECOND);
    target.reconcileRequested = false;
  }

  /** The largest number of targets that one of the target's credentials serves. */
  private maxTargets(targetId: string): number {
    const resources = [...this.tables.resources.values()];
    const ways = new Set(
      resources.filter((one) => one.targetId === targetId).map(({ credentialId }) => credentialId),
    );
    const counts = [...ways].map(
      (way) =>
        new Set(resources.filter(({ credentialId }) => credentialId === way).map((one) => one.targetId)).size,
    );
    return Math.max(0, ...counts);
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

  known(lease: Lease): KnownRules {
    return {
      unmanagedDigest: this.tables.targets.get(lease.targetId)!.unmanagedDigest,
      rules: this.tables.rulesOf(lease.targetId).map((rule) => ({
        ruleId: rule.id,
        key: rule.key,
        state: rule.state,
        isUnmanaged: rule.isUnmanaged,
        isUnmarked: rule.isUnmarked,
        isSuspended: rule.isSuspended,
        providerRuleId: rule.providerRuleId,
        targetMissing: rule.targetMissingSince !== null,
        wasObserved: rule.presentSince !== null,
        desired: this.tables.isDesired(rule),
      })),
    };
  }

  accessPaths(lease: Lease): AccessPath[] {
    const named = [...this.tables.resources.values()].filter(
      (resource) => resource.targetId === lease.targetId && resource.deletedAt === null,
    );
    const written = this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.state !== 'absent' && rule.credentialId !== null);
    const sources = named.length > 0 ? named : written;
    const ways = new Map<string, { access: Access; resources: NamingResource[] }>();
    for (const { credentialId, region } of sources) {
      ways.set(`${credentialId} ${region}`, {
        access: { credentialId: credentialId!, region },
        resources: [],
      });
    }
    for (const { id, organizationId, name, credentialId, region } of named) {
      const lastOutcome = this.tables.health.get(id)?.at(-1) ?? null;
      ways.get(`${credentialId} ${region}`)!.resources.push({ id, organizationId, name, lastOutcome });
    }
    return [...ways.values()];
  }

  report(reports: readonly HealthReport[]): void {
    for (const { resources, eventType, message } of reports) {
      for (const { id } of resources) {
        const resource = this.tables.resources.get(id);
        if (!resource || resource.deletedAt !== null) continue;
        this.tables.health.set(id, [...(this.tables.health.get(id) ?? []), { eventType, message }]);
      }
    }
  }
}
