import type { DriftStore } from '#engine-store';
import { parseRuleKey, type ObservedRule, type Access } from '#rules';
import type { Modelled } from './modelled';
import type { Tables } from './tables';

/** `DriftStore` in memory. */
export class ModelDrift implements Modelled<DriftStore> {
  constructor(private readonly tables: Tables) {}

  /** A model call is a transaction: no lock is needed. */
  lockOwners(): void {
    // nothing runs concurrently
  }

  suspendHolders(ruleIds: readonly string[], message: string): string[] {
    const moved = new Set<string>();
    for (const id of ruleIds) {
      const rule = this.tables.rules.get(id)!;
      for (const { resourceIpId, releasedAt } of this.tables.holderRows(rule)) {
        const ip = this.tables.resourceIps.get(resourceIpId)!;
        if (releasedAt !== null || ip.status !== 'APPLIED') continue;
        this.tables.moveIp(ip, 'PENDING');
        Object.assign(ip, { pendingSince: rule.dueAt!, errorMessage: message });
        if (ip.sessionId !== null) moved.add(ip.sessionId);
      }
    }
    return [...moved];
  }

  takeOver(
    targetId: string,
    orphans: readonly Pick<ObservedRule, 'key' | 'providerRuleId'>[],
    access: Access,
    cause: 'ORPHAN' | 'MAKE_ROOM',
    endedAgoMs: number,
  ): { ruleId: string; key: string }[] {
    const now = this.tables.now();
    const { comparedAt, accountedTo } = this.tables.targets.get(targetId)!;
    const known = new Set(this.tables.rulesOf(targetId).map((rule) => rule.key));
    return orphans.flatMap(({ key, providerRuleId }) => {
      if (known.has(key)) return [];
      known.add(key);
      const rule = this.tables.addRule({
        targetId,
        key,
        spec: parseRuleKey(key),
        accountedTo,
        state: 'present',
        providerRuleId,
        credentialId: access.credentialId,
        region: access.region,
        dueAt: now,
        closing: true,
        cause,
        unwantedSince: now,
        // 0: the creation of the target
        possibleSince: comparedAt ?? 0,
        presentSince: cause === 'ORPHAN' ? now - endedAgoMs : null,
        observedAt: now,
      });
      return [{ ruleId: rule.id, key }];
    });
  }
}
