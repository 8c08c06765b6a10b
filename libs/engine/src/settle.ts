import type {
  IpMove,
  Access,
  Affected,
  AffectedHolder,
  HolderRow,
  LeaseStore,
  LedgerRow,
  LedgerStore,
  Origin,
  Reading,
  RuleSettlement,
  SettlementOwnersStore,
  SettlementStore,
  WrittenRule,
} from '#engine-store';
import { type Trail, type Tx } from '#entities';
import type { Lease } from '#engine-store';
import { grouped, keepsRule, resourceIpMoves, type SettledIp, type SettledRule } from '#rules';
import { changedMessage, eventsOf, leftToOthers, type Remark } from './rule-events';
import { auditStaticRules, auditUnheld, ownersOf, writeSessions } from './settle-owners';

/** What one pass, or one agent's report, settled. */
export interface Settlement {
  readonly rules: readonly RuleSettlement[];
  /** the way the pass took; null when the target was not asked */
  readonly access: Access | null;
  /** how old the readings are by now that it rests on; null: the target did not answer, or was not asked */
  readonly reading: (() => Reading) | null;
  /** the waiting ResourceIps whose own way into the target this pass took: those that were moved meanwhile wait on */
  readonly waiting: readonly Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];
  /** ResourceIps that have waited longer than this are failed when their rule is not there yet, seconds */
  readonly giveUpSeconds: number;
  /** the whole target could not be read: its other rules that wait for another try wait for the same one */
  readonly together?: boolean;
  /** what to record besides, of rules that were refused or changed under their id */
  readonly remarks: ReadonlyMap<string, Remark>;
}

/** What a settlement came to. */
export interface Settled {
  /** of each ResourceIp that was seen to be out: seconds since it was released */
  readonly latenessSeconds: readonly number[];
  /** what was recorded */
  readonly events: readonly LedgerRow[];
}

export interface SettleStores {
  readonly leases: LeaseStore;
  readonly settlements: SettlementStore;
  readonly owners: SettlementOwnersStore;
  readonly ledger: LedgerStore;
}

/**
 * Writes what was observed, and what follows from it: rules, then ResourceIps, then sessions, in one transaction. Passes
 * over targets and agents' reports end here, and nowhere else.
 * @returns null when the lease was lost meanwhile: nothing is written
 */
export async function settle(
  tx: Tx,
  stores: SettleStores,
  lease: Lease,
  settlement: Settlement,
  origin: Origin,
  trail: Trail,
): Promise<Settled | null> {
  const { settlements, owners, ledger } = stores;
  const ruleIds = settlement.rules.map((rule) => rule.ruleId);
  if (!(await stores.leases.lock(tx, lease))) return null;
  await settlements.lockOwners(tx, ruleIds);
  const written = await settlements.writeRules(tx, settlement.rules, settlement.reading?.() ?? null);
  if (settlement.together) await settlements.bringTogether(tx, lease, settlement.rules);
  const { waiting, access, giveUpSeconds } = settlement;
  const affected = await settlements.affected(tx, ruleIds, waiting, access, giveUpSeconds);
  const moves = movesOf(affected, settlement);
  const latenessSeconds = moves.length === 0 ? [] : await settlements.moveIps(tx, moves);
  const { events, possible } = eventsOf(written, affected, moves, settlement.rules, settlement.remarks);
  const recorded =
    events.length === 0
      ? []
      : await ledger.record(tx, events, settlement.reading?.().endedAgoMs ?? 0, origin, trail);
  await followUp(tx, settlements, lease, written, affected, moves, settlement, possible);
  await writeSessions(tx, owners, trail, ownersOf(affected, moves, 'sessionId'));
  await auditStaticRules(tx, owners, trail, ownersOf(affected, moves, 'staticIpRuleId'));
  await auditUnheld(tx, owners, lease, recorded, trail);
  return { latenessSeconds, events: recorded };
}

const idsOf = (holders: readonly AffectedHolder[]): Set<string> =>
  new Set(holders.map(({ resourceIpId }) => resourceIpId));

/** Where ResourceIps move by the state of their rules. */
function movesOf({ ips, holders, rules }: Affected, settlement: Settlement): IpMove[] {
  const known = new Map(rules.map((rule) => [rule.ruleId, rule]));
  const byRule = grouped(holders, ({ ruleId }) => ruleId);
  const settled = new Map<string, SettledRule>(
    rules.map((rule) => {
      const live = (byRule.get(rule.ruleId) ?? []).filter(
        (holder) => holder.isLive && keepsRule(holder, known.get(rule.ruleId)!),
      );
      const keepers = idsOf(live.filter(({ waits }) => !waits));
      return [rule.ruleId, { ...rule, keepers, waiting: idsOf(live.filter(({ waits }) => waits)) }];
    }),
  );
  const byIp = grouped(
    holders.filter(({ isDetached }) => !isDetached),
    ({ resourceIpId }) => resourceIpId,
  );
  const order = new Map(rules.map(({ ruleId }, index) => [ruleId, index]));
  const candidates = ips.map((ip): SettledIp => {
    const held = (byIp.get(ip.id) ?? []).map(({ ruleId }) => ruleId);
    const inOrder = held.toSorted((one, other) => order.get(one)! - order.get(other)!);
    return { ...ip, rules: inOrder.map((ruleId) => settled.get(ruleId)!) };
  });
  const failed = new Set(settlement.rules.filter((rule) => rule.failed).map(({ ruleId }) => ruleId));
  return resourceIpMoves(candidates, failed, settlement.reading !== null).map(({ ip, move }) => ({
    id: ip.id,
    from: ip.status,
    ...move,
  }));
}

/** Deletes what is over, and has others wait for what they lost. */
async function followUp(
  tx: Tx,
  settlements: SettlementStore,
  lease: Lease,
  written: readonly WrittenRule[],
  { holders }: Affected,
  moves: readonly IpMove[],
  { rules, reading, remarks }: Settlement,
  possible: ReadonlySet<string>,
): Promise<void> {
  const refused = moves.filter(({ to }) => to === 'FAILED').map(({ id }) => id);
  if (refused.length > 0) await settlements.releaseRefused(tx, refused);
  // by this settlement: what was absent before may have been possible since
  const absent = rules.filter(({ state }) => state === 'absent').map(({ ruleId }) => ruleId);
  const lost = rules.filter(({ state, unwanted }) => state === 'absent' && unwanted === 'WRITER_RELEASED');
  if (lost.length > 0)
    await settlements.waitAgain(
      tx,
      lease,
      lost.map(({ ruleId }) => ruleId),
    );
  const notes = [...remarks].flatMap(([ruleId, { changedTo, abandoned }]) => {
    if (changedTo !== undefined) return [{ ruleId, message: changedMessage(changedTo) }];
    return abandoned === undefined
      ? []
      : [{ ruleId, message: `Given up, not observed closed: ${abandoned}` }];
  });
  if (notes.length > 0) await settlements.noteOnIps(tx, notes);
  const repaired = written.filter(({ wasMissing }) => wasMissing && reading !== null);
  if (repaired.length > 0)
    await settlements.renameIps(
      tx,
      repaired.map(({ ruleId }) => ruleId),
    );
  const ended = moves.filter(({ to }) => to === 'REMOVED' || to === 'FAILED').map(({ id }) => id);
  const kept = leftToOthers(holders, new Set(refused));
  if (ended.length + kept.length + absent.length > 0)
    await settlements.forget(tx, ended, kept, absent, [...possible]);
}
