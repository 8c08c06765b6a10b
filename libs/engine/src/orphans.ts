import { randomUUID } from 'node:crypto';
import type { EngineStore } from '#engine-store';
import type { Tx } from '#entities';
import { parseRuleKey, portsText, ruleLife, type Access, type ObservedRule, type TargetRule } from '#rules';
import type { ComparedRead } from './unmanaged-rules';

/** Shown to operators. */
const RESTORED_ORPHAN =
  'Unknown to the database, which was restored from a backup: it is closed when an operator confirms';

/**
 * Inserts rules for orphans, due for removal; in a restored database not before an operator confirms.
 * @returns the inserted rules
 */
export function takeOver(
  tx: Tx,
  stores: Pick<EngineStore, 'rules'>,
  { lease: { targetId }, loaded: { now, knownSince, isRestored }, endedAt }: ComparedRead,
  orphans: readonly Pick<ObservedRule, 'key' | 'providerRuleId'>[],
  access: Access,
): Promise<Pick<TargetRule, 'id' | 'key'>[]> {
  const times = { possibleSince: knownSince, presentSince: endedAt };
  const heldBack = isRestored ? RESTORED_ORPHAN : null;
  return stores.rules.insert(
    tx,
    targetId,
    orphans.map(({ key, providerRuleId }) => {
      const { address, protocol, ports } = parseRuleKey(key);
      const rule = ruleLife.orphaned(randomUUID(), { access, providerRuleId }, times, heldBack, now);
      return { ...rule, key, address, protocol, ports: portsText(ports) };
    }),
  );
}
