import type { ProviderDriver } from '#drivers';
import type { EngineStore, NotedWrite } from '#engine-store';
import type { Transactions, Tx } from '#entities';
import { ruleLife, type Access } from '#rules';
import { LeaseLost, type HeldLease } from './held-lease';
import { horizonMs, type DueChange } from './provider-calls';
import { TargetRows } from './target-rows';

/** What is recorded before the provider is called. */
export interface Intent {
  readonly noted: NotedWrite;
  /** the changes that may be sent: not an addition whose last holder has ended since it was planned */
  readonly sent: readonly DueChange[];
}

/**
 * Records changes before the provider is called, in one transaction under the lease: should this worker die now, the
 * next one knows that they may have been sent, and reads the target.
 * @throws LeaseLost
 */
export function recordIntent(
  { database, stores }: { readonly database: Transactions; readonly stores: EngineStore },
  held: HeldLease,
  driver: ProviderDriver,
  { credentialId, region }: Access,
  planned: readonly DueChange[],
): Promise<Intent> {
  const { wholeList } = driver.traits;
  const write = held.recordWrite(planned.length);
  const listInDoubtSeconds = wholeList ? horizonMs(driver) / 1000 : null;
  const { lease } = held;
  return database.transaction(async (tx) => {
    const noted = await stores.leases.noteWrite(tx, lease, write, listInDoubtSeconds);
    if (!noted) throw new LeaseLost(lease.targetId);
    await returnHoldersToPending(tx, stores, held, planned);
    const { rules, now } = await stores.rules.lockAlone(
      tx,
      planned.map(({ rule }) => rule.ruleId),
    );
    const known = new Map(rules.map((rule) => [rule.id, rule]));
    const call = { access: { credentialId, region }, until: now + horizonMs(driver) };
    const intents = planned.flatMap((change) => {
      const rule = known.get(change.rule.ruleId);
      const revision = change.action === 'remove' ? undefined : change.rule.row.revision;
      const intent = rule && ruleLife.intended(rule, change.action, { ...call, revision }, now);
      return intent ? [{ change, intent }] : [];
    });
    await stores.rules.save(tx, { rules: intents.map(({ intent }) => intent) });
    return { noted, sent: intents.map(({ change }) => change) };
  });
}

/** Returns the holders of `WRITER_RELEASED` removals to PENDING: they will write the rule through their own access path. */
async function returnHoldersToPending(
  tx: Tx,
  { rules }: EngineStore,
  { lease: { targetId } }: HeldLease,
  planned: readonly DueChange[],
): Promise<void> {
  const ids = planned.filter(({ cause }) => cause === 'WRITER_RELEASED').map(({ rule }) => rule.ruleId);
  if (ids.length === 0) return;
  const rows = new TargetRows(await rules.lock(tx, targetId, ids, []));
  for (const id of ids) rows.returnToPending(id, { appliedAt: null, providerRuleId: null });
  await rules.save(tx, rows.changed);
}
