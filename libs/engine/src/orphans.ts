import { randomUUID } from 'node:crypto';
import type { EngineStore, Lease, Loaded, TargetRule } from '#engine-store';
import type { Transactions, Tx } from '#entities';
import {
  parseRuleKey,
  portsText,
  ruleLife,
  unwantedRules,
  type Access,
  type Instant,
  type ObservedRule,
} from '#rules';
import type { DueChange, TimedRead } from './provider-calls';
import { issuedOnly } from './unissued-orphans';

/** Shown to operators. */
const RESTORED_ORPHAN =
  'Unknown to the database, which was restored from a backup: it is closed when an operator confirms';

/**
 * Inserts rules for orphans, due for removal; in a restored database not before an operator confirms.
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
  { now, knownSince, isRestored }: Loaded,
  observedAt: Instant | null,
): Promise<Pick<TargetRule, 'id' | 'key'>[]> {
  const times = { possibleSince: knownSince, presentSince: observedAt };
  const heldBack = isRestored ? RESTORED_ORPHAN : null;
  return stores.rules.insert(
    tx,
    targetId,
    orphans.map(({ key, providerRuleId }) => {
      const { address, protocol, ports } = parseRuleKey(key);
      const rule = ruleLife.orphaned(randomUUID(), { access, providerRuleId }, cause, times, heldBack, now);
      return { ...rule, key, address, protocol, ports: portsText(ports) };
    }),
  );
}

/** Removals that make room on a full target: present rules of ours that nobody holds. Orphans among them get a rule first. */
export async function roomRemovals(
  database: Transactions,
  stores: EngineStore,
  lease: Lease,
  read: TimedRead,
  access: Access,
  limit: number,
): Promise<DueChange[]> {
  const { rules } = await stores.comparisons.known(database.autocommit, lease);
  const all = unwantedRules(rules, read.rules);
  const { autocommit } = database;
  const issued = await issuedOnly(autocommit, stores.comparisons, lease.targetId, all, read.rules);
  const unwanted = issued.slice(0, limit);
  const orphans = unwanted.filter(({ ruleId }) => ruleId === null);
  const taken =
    orphans.length === 0
      ? []
      : await database.transaction(async (tx) => {
          const loaded = await stores.rules.lock(tx, lease.targetId, [], []);
          return takeOver(tx, stores, lease.targetId, orphans, access, 'MAKE_ROOM', loaded, null);
        });
  const idOf = new Map(taken.map(({ key, id }) => [key, id]));
  return unwanted.flatMap(({ ruleId, key, providerRuleId }): DueChange[] => {
    const id = ruleId ?? idOf.get(key);
    return id === undefined
      ? []
      : [{ action: 'remove', rule: { ruleId: id }, providerRuleId, cause: 'MAKE_ROOM' }];
  });
}
