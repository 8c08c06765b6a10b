import type { Access, Lease, MissingTargetStore, AccessPath } from '#engine-store';
import { TARGET_GONE_MS } from '#rules';
import { becomeAbsent } from './absent';
import type { Modelled } from './modelled';
import type { RuleRow, Tables } from './tables';

/** `MissingTargetStore` in memory. */
export class ModelMissingTargets implements Modelled<MissingTargetStore> {
  constructor(private readonly tables: Tables) {}

  noteMissing(lease: Lease, access: Access, missing: boolean): boolean {
    const now = this.tables.now();
    const rules = this.writtenBy(lease, access).filter(
      (rule) => rule.state !== 'absent' && (missing || rule.targetMissingSince !== null),
    );
    for (const rule of rules) rule.targetMissingSince = missing ? (rule.targetMissingSince ?? now) : null;
    return missing && rules.some((rule) => rule.targetMissingSince! <= now - TARGET_GONE_MS);
  }

  presentRules(lease: Lease, access: Access): string[] {
    return this.writtenBy(lease, access)
      .filter(({ state, unwantedSince }) => state === 'present' && unwantedSince === null)
      .map(({ id }) => id)
      .sort();
  }

  giveUpTarget(lease: Lease, { access, resources }: AccessPath, message: string): void {
    const now = this.tables.now();
    const isGivenUp = ({ state, dueAt, unwantedSince }: RuleRow): boolean =>
      unwantedSince === null &&
      (state === 'present' || (state === 'absent' && dueAt !== null && dueAt > now));
    for (const rule of this.writtenBy(lease, access).filter(isGivenUp))
      becomeAbsent(this.tables, rule, { dueAt: now, isMissing: false, isSuspended: false });
    const ids = new Set(resources.map((resource) => resource.id));
    for (const ip of this.tables.ipsWhere((one) => ids.has(one.resourceId) && one.status === 'APPLIED')) {
      this.tables.moveIp(ip, 'PENDING');
      Object.assign(ip, { pendingSince: now, givenUp: message });
    }
    for (const id of ids)
      Object.assign(this.tables.resources.get(id)!, { isActive: false, writeVerified: false });
  }

  private writtenBy(lease: Lease, { credentialId, region }: Access): RuleRow[] {
    return this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.credentialId === credentialId && rule.region === region);
  }
}
