import type { EngineStore, Holder, Lease, LedgerRow, Origin, Reading, UnmanagedRule } from '#engine-store';
import { dueRules } from '#engine-store';
import { type Tx } from '#entities';
import {
  changedMessage,
  earliest,
  ruleLife,
  UNMANAGED_STAYS,
  type DueRule,
  type ReadTimes,
  type TargetRule,
} from '#rules';
import { isFinal, isRefusal, moveAddress, movesOf, noteEnds, reasonsOf, type IpMove } from './ip-moves';
import { eventsOf, ledgerRows } from './ledger-rows';
import type { Decisions, Settlement } from './settlement';
import { auditStaticRules, auditUnheld, writeSessions } from './settle-owners';
import { affectedBy, supersededHolders, TargetRows, type Affected } from './target-rows';

/** The result of a written settlement. */
export interface Settled {
  /** for each removed ResourceIp: seconds since it was released */
  readonly latenessSeconds: readonly number[];
  /** the recorded events */
  readonly events: readonly LedgerRow[];
}

/**
 * Writes what was found and its consequences in one transaction: loads the rules with their holders and addresses, decides in
 * memory what each becomes, and saves them. The only place that records what passes and agents' reports found.
 * @returns null when the lease was lost: nothing is written
 */
export async function settle(
  tx: Tx,
  stores: EngineStore,
  lease: Lease,
  settlement: Settlement,
  origin: Origin,
): Promise<Settled | null> {
  if (!(await stores.leases.lock(tx, lease))) return null;
  // its age before the rules: a delayed statement never makes an observation look newer than it is
  const reading = settlement.reading?.() ?? null;
  const loaded = await stores.rules.lock(tx, lease.targetId, settlement.ruleIds, ['PENDING', 'REMOVING']);
  const rows = new TargetRows(loaded);
  const read = reading && timesOf(reading, rows);
  const decisions = decideUnderLock(rows, settlement, read);
  const affected = affectedBy(rows, settlement);
  const moves = movesOf(affected, decisions, settlement, loaded);
  const { events, possiblyPresent } = eventsOf(rows, affected, moves, decisions);
  for (const move of [...moves, ...reasonsOf(affected, moves, decisions, settlement)])
    moveAddress(rows, move);
  const from = { ...origin, organizationId: settlement.access?.organizationId ?? null };
  const recorded = ledgerRows(events, rows, read?.endedAt ?? loaded.readAt, from);
  const refused = followUp(rows, affected, moves, decisions, read !== null);
  keepDue(rows, settlement);
  const staying = events.filter(({ message }) => message === UNMANAGED_STAYS);
  const listed = staying.flatMap(({ ruleId }) => unmanagedOf(rows.rule(ruleId)!));
  const absent = [...decisions].flatMap(([id, { isAbsent }]) => (isAbsent ? [id] : []));
  const known = absent.filter((id) => !possiblyPresent.has(id));
  rows.make(known, ruleLife.forgotten);

  await save(tx, stores, rows, refused, absent);
  if (settlement.news) await stores.leases.note(tx, lease, settlement.news);
  if (settlement.alignRetries) await alignRetries(tx, stores, lease, decisions);
  await lookAgain(tx, stores, lease, rows, decisions);
  await stores.ledger.record(tx, recorded);
  if (listed.length > 0) await stores.unmanaged.list(tx, lease.targetId, listed);
  await auditUnheld(tx, stores.owners, lease, recorded);
  return { latenessSeconds: await settleOwners(tx, stores, rows, moves), events: recorded };
}

const timesOf = (
  { startedAgoMs, firstStartedAgoMs, endedAgoMs }: Reading,
  { loaded: { now, readAt } }: TargetRows,
): ReadTimes => ({
  startedAt: now - startedAgoMs,
  firstStartedAt: now - firstStartedAgoMs,
  endedAt: readAt - endedAgoMs,
});

/** Decides by the rows under the lock what the rules become, and moves them. @returns those that are still there */
function decideUnderLock(
  rows: TargetRows,
  { ruleIds, taken, decide, access = null, chance, expiry = null }: Settlement,
  read: ReadTimes | null,
): Decisions {
  const ids = new Set(ruleIds);
  const rules = dueRules(rows.loaded)
    .filter(({ ruleId }) => ids.has(ruleId))
    .map((rule) => withoutIntent(rule, taken?.get(rule.ruleId)));
  const decided = decide(rules, { now: rows.loaded.now, read, access, chance, expiry });
  for (const { rule } of decided) rows.make([rule.id], () => rule);
  const decisions = new Map(decided.map((one) => [one.rule.id, one]));
  noteEnds(rows, decisions);
  return decisions;
}

/** The rule before the calls of the pass: what came of them is known now. Its holders are those under the lock. */
function withoutIntent(rule: DueRule, taken: DueRule | undefined): DueRule {
  if (!taken) return rule;
  const { state, inFlight, inFlightMs, inDoubt, removingMs, desired } = taken;
  const isTurned = desired !== rule.desired;
  return { ...rule, state, inFlight, inFlightMs, inDoubt, removingMs, isTurned };
}

/** What follows for the addresses and holders of the rules besides. @returns refused holders, to be released */
function followUp(
  rows: TargetRows,
  affected: Affected,
  moves: readonly IpMove[],
  decisions: Decisions,
  wasRead: boolean,
): Holder[] {
  for (const [ruleId, { isAbsent, rule, changedTo = null }] of decisions) {
    if (isAbsent && rule.cause === 'WRITER_RELEASED')
      rows.returnToPending(ruleId, { appliedAt: null, providerRuleId: null });
    if (changedTo !== null) rows.returnToPending(ruleId, { errorMessage: changedMessage(changedTo) });
    if (rows.ruleBefore(ruleId).isMissing && wasRead) rows.rename(ruleId);
  }
  const failed = new Set(moves.filter(isRefusal).map(({ id }) => id));
  const ended = new Set(moves.filter(({ to }) => isFinal(to)).map(({ id }) => id));
  const superseded = new Set(supersededHolders(affected, failed).map(nameOf));
  const refused: Holder[] = [];
  const detached = new Set(affected.holders.filter(({ isDetached }) => isDetached).map(nameOf));
  for (const holder of rows.loaded.holders) {
    const { ruleId, resourceIpId, releasedAt, releaseCause } = holder;
    const isRefused = failed.has(resourceIpId) && releasedAt === null;
    if (isRefused) refused.push(holder);
    const isAbsent = decisions.get(ruleId)?.isAbsent ?? false;
    // a refused holder stays until its rule is absent, should that exist nevertheless
    const staysRefused =
      (isRefused || releaseCause === 'ADD_REFUSED') && rows.rule(ruleId)!.state !== 'absent';
    if (
      (ended.has(resourceIpId) && !staysRefused && !detached.has(nameOf(holder))) ||
      (isAbsent && (releasedAt !== null || isRefused)) ||
      superseded.has(nameOf(holder))
    )
      rows.end(holder);
  }
  return refused;
}

const nameOf = ({ ruleId, resourceIpId }: Pick<Holder, 'ruleId' | 'resourceIpId'>): string =>
  `${ruleId} ${resourceIpId}`;

/**
 * An address that goes on waiting has a rule that is due: its own access path may not have shown them yet. One that has come
 * since the pass began does not wait for what that failed at. The failures so far count on, so that two paths of which one
 * fails do not keep each other busy.
 */
function keepDue(rows: TargetRows, { ruleIds, since = null }: Settlement): void {
  const { now } = rows.loaded;
  const settled = new Set(ruleIds);
  const waiting = ruleIds.flatMap((id) =>
    rows.addressesOf(id, ({ status }, { releasedAt }) => status === 'PENDING' && releasedAt === null),
  );
  for (const { id, pendingSince } of waiting) {
    const held = rows.heldBy(id).filter(({ releasedAt }) => releasedAt === null);
    const hasCome = since !== null && pendingSince > since && pendingSince <= now;
    if (!hasCome && held.some(({ ruleId }) => (rows.rule(ruleId)?.dueAt ?? null) !== null)) continue;
    const own = held.filter(({ ruleId }) => settled.has(ruleId)).map(({ ruleId }) => ruleId);
    rows.make(own, (rule) => ({ ...rule, dueAt: now, attempts: rows.ruleBefore(rule.id).attempts }));
  }
}

/** An unmanaged rule through which access goes on that has ended here. */
function unmanagedOf(rule: TargetRule): UnmanagedRule[] {
  const { key, providerRuleId, comparedAt, possibleSince, presentSince } = rule;
  if (providerRuleId === null || presentSince === null) return [];
  return [{ key, providerRuleId, possibleSince: earliest(comparedAt, possibleSince), presentSince }];
}

/** Saves the rows, releases refused holders and deletes rules that are over. */
async function save(
  tx: Tx,
  { rules: store }: EngineStore,
  rows: TargetRows,
  refused: readonly Holder[],
  absent: readonly string[],
): Promise<void> {
  const { rules, addresses, ended } = rows.changed;
  await store.save(tx, { rules, addresses, ended: refused.length === 0 ? ended : [] });
  if (refused.length > 0) {
    await store.releaseRefused(tx, refused);
    await store.save(tx, { ended });
  }
  const released = new Set(refused.map(({ ruleId }) => ruleId));
  const { now } = rows.loaded;
  const isOver = (id: string): boolean =>
    ruleLife.isOver(rows.rule(id)!, now) && !rows.isHeld(id) && !released.has(id);
  await store.deleteUnheld(tx, absent.filter(isOver));
}

/** Writes what follows for sessions and static IP rules. @returns seconds from each release to its end */
async function settleOwners(
  tx: Tx,
  { owners }: EngineStore,
  rows: TargetRows,
  moves: readonly IpMove[],
): Promise<number[]> {
  const moved = moves.map(({ id }) => rows.address(id));
  const ownersOf = (owner: 'sessionId' | 'staticIpRuleId'): string[] => [
    ...new Set(moved.flatMap((address) => address[owner] ?? [])),
  ];
  await writeSessions(tx, owners, ownersOf('sessionId'));
  await auditStaticRules(tx, owners, ownersOf('staticIpRuleId'));
  const gone = moved.filter(({ status, releasedAt }) => status === 'REMOVED' && releasedAt !== null);
  return gone.map(({ releasedAt }) => (rows.loaded.readAt - releasedAt!) / 1000);
}

/** The retries of the target's other rules come due with these, so that one read serves all of them. */
async function alignRetries(
  tx: Tx,
  { rules: store }: EngineStore,
  lease: Lease,
  decisions: Decisions,
): Promise<void> {
  const { rules } = await store.lockRetries(tx, lease, [...decisions.keys()]);
  const dueAt = Math.max(...[...decisions.values()].map(({ rule }) => rule.dueAt ?? 0));
  if (dueAt > 0) await store.save(tx, { rules: rules.map((rule) => ({ ...rule, dueAt })) });
}

/**
 * Has the target compared at once: where it is full, for what is not recorded, and where a rule that counts as applied was
 * written again without effect, to say why on its addresses.
 */
async function lookAgain(
  tx: Tx,
  { rules, comparisons }: EngineStore,
  lease: Lease,
  rows: TargetRows,
  decisions: Decisions,
): Promise<void> {
  const isFull = [...decisions.values()].some((one) => one.isFull);
  const isFutile = [...decisions].some(
    ([id, { failed }]) =>
      failed === 'no effect' && rows.addressesOf(id, ({ status }) => status === 'APPLIED').length > 0,
  );
  if (isFull) await retryRemovals(tx, rules, lease, decisions);
  if (isFull || isFutile) await comparisons.schedule(tx, lease.targetId, 0, false);
}

/** Its removals that wait are tried again at once. */
async function retryRemovals(
  tx: Tx,
  store: EngineStore['rules'],
  lease: Lease,
  decisions: Decisions,
): Promise<void> {
  const { rules, now } = await store.lockRetries(tx, lease, [...decisions.keys()]);
  const unwanted = rules.filter(({ unwantedSince }) => unwantedSince !== null);
  await store.save(tx, { rules: unwanted.map((rule) => ({ ...rule, dueAt: now })) });
}
