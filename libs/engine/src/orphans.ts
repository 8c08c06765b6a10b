import { randomUUID } from 'node:crypto';
import type { EngineStore, Loaded, TargetRule } from '#engine-store';
import type { Tx } from '#entities';
import { parseRuleKey, portsText, ruleLife, type Access, type Instant, type ObservedRule } from '#rules';

/**
 * Inserts rules for orphans, due for removal.
 * @param observedAt end of the read; null: they are removed at once, and their presence is not recorded
 * @returns the inserted rules
 */
export function takeOver(
  tx: Tx,
  stores: Pick<EngineStore, 'rules'>,
  targetId: string,
  orphans: readonly Pick<ObservedRule, 'key' | 'providerRuleId'>[],
  access: Access,
  cause: 'ORPHAN' | 'MAKE_ROOM',
  { now, knownSince }: Loaded,
  observedAt: Instant | null,
): Promise<Pick<TargetRule, 'id' | 'key'>[]> {
  const times = { possibleSince: knownSince, presentSince: observedAt };
  return stores.rules.insert(
    tx,
    targetId,
    orphans.map(({ key, providerRuleId }) => {
      const { address, protocol, ports } = parseRuleKey(key);
      const rule = ruleLife.orphaned(randomUUID(), { access, providerRuleId }, cause, times, now);
      return { ...rule, key, address, protocol, ports: portsText(ports) };
    }),
  );
}
