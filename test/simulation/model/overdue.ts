import type { OverdueStore } from '#engine-store';
import type { OrganizationId } from '#rules';
import type { Modelled } from './modelled';
import type { RuleRow, Tables } from './tables';

/** `OverdueStore` in memory. */
export class ModelOverdue implements Modelled<OverdueStore> {
  constructor(private readonly tables: Tables) {}

  recordOverdue(seconds: number, limit: number): string[] {
    const now = this.tables.now();
    const rules = [...this.tables.rules.values()]
      .filter(
        (rule) =>
          rule.overdueAt === null &&
          rule.unwantedSince !== null &&
          rule.unwantedSince < now - seconds * 1000 &&
          rule.state !== 'absent',
      )
      .sort((one, other) => one.unwantedSince! - other.unwantedSince!)
      .slice(0, limit);
    const events = new Map<string, { resourceId: string; message: string }>();
    for (const rule of rules) {
      rule.overdueAt = now;
      for (const event of this.tellOf(rule)) events.set(`${event.resourceId} ${event.message}`, event);
    }
    for (const { resourceId, message } of events.values()) {
      if (!this.tables.resources.has(resourceId)) continue;
      const before = this.tables.health.get(resourceId) ?? [];
      this.tables.health.set(resourceId, [...before, { eventType: 'RECONCILE_FAILED', message }]);
    }
    return rules.map(({ id }) => id);
  }

  private tellOf(rule: RuleRow): { resourceId: string; message: string }[] {
    const resources = this.concerned(rule);
    const reason = rule.lastError ?? 'the provider has not said why';
    const message = `${rule.spec.address.replace(/\/(32|128)$/, '')} is still open though it should be closed: ${reason}`;
    for (const { organizationId, resourceId } of resources)
      this.tables.audit.push({
        organizationId,
        eventType: 'RULE_REVOCATION_OVERDUE',
        resourceId,
      });
    return resources.map(({ resourceId }) => ({ resourceId, message }));
  }

  /** The resources of its released holders; for a rule without holders, the write-verified ones of the target. */
  private concerned(rule: RuleRow): { organizationId: OrganizationId; resourceId: string }[] {
    const holders = this.tables.holderRows(rule);
    const released = holders
      .filter(({ releasedAt }) => releasedAt !== null)
      .map(({ resourceIpId }) => this.tables.resourceIps.get(resourceIpId)!);
    if (holders.length > 0) return released;
    return [...this.tables.resources.values()]
      .filter((one) => one.targetId === rule.targetId && one.writeVerified && one.deletedAt === null)
      .map(({ organizationId, id }) => ({ organizationId, resourceId: id }));
  }
}
