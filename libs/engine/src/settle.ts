import type {
  IpMove,
  Affected,
  AffectedHolder,
  HolderRow,
  LedgerRow,
  Origin,
  Reading,
  RuleEnd,
  RuleStore,
  WrittenRule,
  EngineStore,
} from '#engine-store';
import { type Tx } from '#entities';
import type { Lease } from '#engine-store';
import {
  grouped,
  canHoldRule,
  resourceIpMoves,
  type SettledIp,
  type SettledRule,
  type Access,
  type RuleSettlement,
  ruleLife,
} from '#rules';
import {
  changedMessage,
  eventsOf,
  givenUpMessage,
  isRefusal,
  supersededHolders,
  UNMANAGED_STAYS,
  type Remark,
} from './rule-events';
import { auditStaticRules, auditUnheld, ownersOf, writeSessions } from './settle-owners';

/** The result of a pass or of an agent's report, to be written. */
export interface Settlement {
  readonly rules: readonly RuleSettlement[];
  /** the access path of the pass, with the owner of its credential; null when the target was not read */
  readonly access: (Access & { readonly organizationId?: string | null }) | null;
  /** current age of the reads it is based on; null: the target was not read */
  readonly reading: (() => Reading) | null;
  /** ResourceIps that wait for this pass; those moved meanwhile keep waiting */
  readonly waiting: readonly Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];
  /** ResourceIps PENDING for longer than this fail if a rule of theirs is missing, seconds */
  readonly giveUpSeconds: number;
  /** the target could not be read: align the retries of its other rules with these */
  readonly alignRetries?: boolean;
  /** an answer is still expected: ResourceIps that wait do not show the messages of the rules */
  readonly isAwaited?: boolean;
  /** additional facts to record, by rule id */
  readonly remarks: ReadonlyMap<string, Remark>;
}

/** The result of a written settlement. */
export interface Settled {
  /** for each removed ResourceIp: seconds since it was released */
  readonly latenessSeconds: readonly number[];
  /** the recorded events */
  readonly events: readonly LedgerRow[];
}

/**
 * Writes an observation and its consequences in one transaction: rules, then ResourceIps, then sessions. The only place
 * that records what passes and agents' reports observed.
 * @returns null when the lease was lost: nothing is written
 */
export async function settle(
  tx: Tx,
  stores: EngineStore,
  lease: Lease,
  settlement: Settlement,
  origin: Origin,
): Promise<Settled | null> {
  const { settlements, owners, ledger } = stores;
  const ruleIds = settlement.rules.map((rule) => rule.ruleId);
  if (!(await stores.leases.lock(tx, lease))) return null;
  await settlements.lockOwners(tx, ruleIds);
  const written = await writeRules(tx, stores.rules, lease, settlement);
  if (settlement.alignRetries) await settlements.alignRetries(tx, lease, settlement.rules);
  const ends = endsOf(written, settlement);
  if (ends.length > 0) await settlements.noteEnds(tx, ends);
  const { waiting, access, giveUpSeconds } = settlement;
  const affected = await settlements.affected(tx, ruleIds, waiting, access, giveUpSeconds);
  const moves = movesOf(affected, settlement);
  const changed = [...moves, ...reasonsOf(affected, moves, settlement)];
  const latenessSeconds = changed.length === 0 ? [] : await settlements.moveIps(tx, changed);
  const { events, possiblyPresent } = eventsOf(
    written,
    affected,
    moves,
    settlement.rules,
    settlement.remarks,
  );
  const recorded =
    events.length === 0
      ? []
      : await ledger.record(tx, events, settlement.reading?.().endedAgoMs ?? 0, origin);
  const unmanaged = events.filter(({ message }) => message === UNMANAGED_STAYS);
  if (unmanaged.length > 0)
    await settlements.listUnmanaged(
      tx,
      unmanaged.map(({ ruleId }) => ruleId),
    );
  await followUp(tx, stores, lease, written, affected, moves, settlement, possiblyPresent);
  await writeSessions(tx, owners, ownersOf(affected, moves, 'sessionId'));
  await auditStaticRules(tx, owners, ownersOf(affected, moves, 'staticIpRuleId'));
  await auditUnheld(tx, owners, lease, recorded);
  return { latenessSeconds, events: recorded };
}

const idsOf = (holders: readonly AffectedHolder[]): Set<string> =>
  new Set(holders.map(({ resourceIpId }) => resourceIpId));

/** What the ResourceIps of ended rules show of their end. */
function endsOf(written: readonly WrittenRule[], { rules, remarks }: Settlement): RuleEnd[] {
  const absent = new Set(rules.filter(({ state }) => state === 'absent').map(({ ruleId }) => ruleId));
  return written.flatMap(({ ruleId, wasPresent, mayHaveBeenPresent }): RuleEnd[] => {
    const { givenUp, stillAllowedBy = null } = remarks.get(ruleId) ?? {};
    if (!absent.has(ruleId) || !(wasPresent || mayHaveBeenPresent)) return [];
    if (givenUp) return [{ ruleId, givenUp: givenUpMessage(givenUp.reason), stillAllowedBy: null }];
    return stillAllowedBy === null ? [] : [{ ruleId, givenUp: null, stillAllowedBy }];
  });
}

/** Status changes of ResourceIps, derived from their rules. */
function movesOf({ ips, holders, rules }: Affected, settlement: Settlement): IpMove[] {
  const known = new Map(rules.map((rule) => [rule.ruleId, rule]));
  const byRule = grouped(holders, ({ ruleId }) => ruleId);
  const settled = new Map<string, SettledRule>(
    rules.map((rule) => {
      const live = (byRule.get(rule.ruleId) ?? []).filter(
        (holder) => holder.isLive && canHoldRule(holder, known.get(rule.ruleId)!),
      );
      const unaffectedHolders = idsOf(live.filter(({ waits }) => !waits));
      return [rule.ruleId, { ...rule, unaffectedHolders, waiting: idsOf(live.filter(({ waits }) => waits)) }];
    }),
  );
  // an address that moved is removed when it is gone from where it was, too
  const byIp = grouped(
    holders.filter(({ isDetached, status }) => !isDetached || status === 'REMOVING'),
    ({ resourceIpId }) => resourceIpId,
  );
  const order = new Map(rules.map(({ ruleId }, index) => [ruleId, index]));
  const candidates = ips.map((ip): SettledIp => {
    const held = (byIp.get(ip.id) ?? []).map(({ ruleId }) => ruleId);
    const inOrder = held.toSorted((one, other) => order.get(one)! - order.get(other)!);
    return { ...ip, rules: inOrder.map((ruleId) => settled.get(ruleId)!) };
  });
  const failed = new Set(settlement.rules.filter((rule) => rule.failed).map(({ ruleId }) => ruleId));
  const wrongFamily = new Set(
    settlement.rules.filter((rule) => rule.wrongFamily).map(({ ruleId }) => ruleId),
  );
  return resourceIpMoves(candidates, failed, settlement.reading !== null).map(({ ip, move }) => ({
    id: ip.id,
    from: ip.status,
    ...move,
    // how a removal is known, or what it left behind
    errorMessage: move.errorMessage ?? noteOn(ip, move.to, settlement),
    isWrongFamily: move.to === 'FAILED' && ip.rules.some(({ ruleId }) => wrongFamily.has(ruleId)),
  }));
}

const noteOn = (ip: SettledIp, to: IpMove['to'], { remarks }: Settlement): string | null =>
  to === 'REMOVED' ? (ip.rules.map(({ ruleId }) => remarks.get(ruleId)?.note).find(Boolean) ?? null) : null;

/** Shown instead of what another organization's provider says. */
const REMOVED_BY_OTHERS =
  'Its rule is removed with the credential of another organization, and that has failed so far';

/** The new messages of ResourceIps that go on waiting for a rule of this settlement: why it was not changed. */
function reasonsOf(
  { ips, holders, rules }: Affected,
  moves: readonly IpMove[],
  settlement: Settlement,
): IpMove[] {
  if (settlement.isAwaited) return [];
  const owner = settlement.access?.organizationId ?? null;
  const moved = new Set(moves.map(({ id }) => id));
  const found = new Map(settlement.rules.map((rule) => [rule.ruleId, rule]));
  return ips.flatMap((ip): IpMove[] => {
    if (moved.has(ip.id)) return [];
    const isRemoving = ip.status === 'REMOVING';
    const held = new Set(holders.flatMap((one) => (one.resourceIpId === ip.id ? [one.ruleId] : [])));
    const reason = rules
      .filter(({ ruleId }) => held.has(ruleId))
      .map(({ ruleId }) => found.get(ruleId))
      .find((rule) => rule !== undefined && rule.message !== null && isRemoving === (rule.unwanted !== null));
    if (!reason) return [];
    const isOwn = owner === null || owner === ip.organizationId;
    const errorMessage = isOwn ? reason.message : REMOVED_BY_OTHERS;
    if (errorMessage === ip.errorMessage) return [];
    const { id, status } = ip;
    return [{ id, from: status, to: status, errorMessage, providerRuleId: null, isWrongFamily: false }];
  });
}

/** Writes the consequences of a settlement: releases, notes, renames and deletions. */
async function followUp(
  tx: Tx,
  { rules: store, settlements }: EngineStore,
  lease: Lease,
  written: readonly WrittenRule[],
  affected: Affected,
  moves: readonly IpMove[],
  { rules, reading, remarks }: Settlement,
  possiblyPresent: ReadonlySet<string>,
): Promise<void> {
  const refused = moves.filter(isRefusal).map(({ id }) => id);
  if (refused.length > 0) await settlements.releaseRefused(tx, refused);
  // only those settled now: rules that were absent before may have been added since
  const absent = rules.filter(({ state }) => state === 'absent').map(({ ruleId }) => ruleId);
  const writerReleased = rules.filter(
    ({ state, unwanted }) => state === 'absent' && unwanted === 'WRITER_RELEASED',
  );
  if (writerReleased.length > 0)
    await settlements.returnToPending(
      tx,
      lease,
      writerReleased.map(({ ruleId }) => ruleId),
    );
  const notes = [...remarks].flatMap(([ruleId, { changedTo }]) =>
    changedTo === undefined ? [] : [{ ruleId, message: changedMessage(changedTo) }],
  );
  if (notes.length > 0) await settlements.noteOnIps(tx, notes);
  const repaired = written.filter(({ wasMissing }) => wasMissing && reading !== null);
  if (repaired.length > 0)
    await settlements.renameIps(
      tx,
      repaired.map(({ ruleId }) => ruleId),
    );
  const ended = moves.filter(({ to }) => to === 'REMOVED' || to === 'FAILED').map(({ id }) => id);
  const superseded = supersededHolders(affected, new Set(refused));
  if (ended.length + superseded.length + absent.length > 0)
    await settlements.deleteHolders(tx, ended, superseded, absent);
  await forget(tx, store, lease, absent, possiblyPresent);
}

/**
 * Deletes the absent rules that are over; the others go on without a past.
 * @param possiblyPresent of these, the ones that may have been present before without an event recording it
 */
async function forget(
  tx: Tx,
  store: RuleStore,
  { targetId }: Lease,
  absent: readonly string[],
  possiblyPresent: ReadonlySet<string>,
): Promise<void> {
  if (absent.length === 0) return;
  const { rules, now } = await store.lock(tx, targetId, absent);
  const over = rules.filter((rule) => ruleLife.isOver(rule, now)).map(({ id }) => id);
  const deleted = new Set(await store.deleteUnheld(tx, over));
  await store.save(
    tx,
    rules.filter(({ id }) => !deleted.has(id) && !possiblyPresent.has(id)).map(ruleLife.forgotten),
  );
}

/** Writes what was found about the rules. @returns each before and after */
async function writeRules(
  tx: Tx,
  store: RuleStore,
  { targetId }: Lease,
  settlement: Settlement,
): Promise<WrittenRule[]> {
  if (settlement.rules.length === 0) return [];
  const found = new Map(settlement.rules.map((rule) => [rule.ruleId, rule]));
  // its age before the rules: a delayed statement never makes an observation look newer than it is
  const reading = settlement.reading?.() ?? null;
  const { rules, readAt, ...times } = await store.lock(tx, targetId, [...found.keys()]);
  const read = reading && {
    startedAt: times.now - reading.startedAgoMs,
    firstStartedAt: times.now - reading.firstStartedAgoMs,
    endedAt: readAt - reading.endedAgoMs,
  };
  const moved = rules.map((before) => ({
    before,
    after: ruleLife.settled(before, found.get(before.id)!, times, read),
  }));
  await store.save(
    tx,
    moved.map(({ after }) => after),
  );
  return moved.map(({ before, after }) => ({
    ruleId: before.id,
    wasPresent: before.presentSince !== null,
    mayHaveBeenPresent: before.possibleSince !== null,
    wasMissing: before.isMissing,
    wasUnmarked: before.isUnmarked,
    wasUnmanaged: before.isUnmanaged,
    lastError: before.lastError,
    state: after.state,
    isUnmanaged: after.isUnmanaged,
    cause: after.cause ?? found.get(before.id)!.unwanted,
  }));
}
