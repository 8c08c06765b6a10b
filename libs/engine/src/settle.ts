import type {
  Address,
  EngineStore,
  Holder,
  Lease,
  LedgerRow,
  Loaded,
  Origin,
  Reading,
  TargetRule,
  UnmanagedRule,
} from '#engine-store';
import { type Tx } from '#entities';
import {
  grouped,
  canHoldRule,
  earliest,
  resourceIpMoves,
  type ReadTimes,
  type SettledIp,
  type SettledRule,
  type Access,
  type RuleSettlement,
  ruleLife,
} from '#rules';
import { affectedBy, type Affected, type AffectedHolder, type Waiting, TargetRows } from './target-rows';
import {
  ledgerRows,
  eventsOf,
  givenUpMessage,
  isRefusal,
  supersededHolders,
  UNMANAGED_STAYS,
  type IpMove,
  type Remark,
} from './rule-events';
import { auditStaticRules, auditUnheld, writeSessions } from './settle-owners';

/** The result of a pass or of an agent's report, to be written. */
export interface Settlement {
  readonly rules: readonly RuleSettlement[];
  /** the access path of the pass, with the owner of its credential; null when the target was not read */
  readonly access: (Access & { readonly organizationId?: string | null }) | null;
  /** current age of the reads it is based on; null: the target was not read */
  readonly reading: (() => Reading) | null;
  /** ResourceIps that wait for this pass; those moved meanwhile keep waiting */
  readonly waiting: readonly Waiting[];
  /** ResourceIps PENDING for longer than this fail if a rule of theirs is missing, seconds */
  readonly giveUpSeconds: number;
  /** the provider does not find the target: what was never let in there is given up sooner, after this long, seconds */
  readonly notFoundSeconds?: number;
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
 * Writes an observation and its consequences in one transaction: loads the rules with their holders and addresses, decides in
 * memory what each becomes, and saves them. The only place that records what passes and agents' reports observed.
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
  const ids = settlement.rules.map(({ ruleId }) => ruleId);
  // its age before the rules: a delayed statement never makes an observation look newer than it is
  const reading = settlement.reading?.() ?? null;
  const rows = new TargetRows(await stores.rules.lock(tx, lease.targetId, ids, ['PENDING', 'REMOVING']));
  const { now, readAt } = rows.loaded;
  const read = reading && {
    startedAt: now - reading.startedAgoMs,
    firstStartedAt: now - reading.firstStartedAgoMs,
    endedAt: readAt - reading.endedAgoMs,
  };

  const settled = settleRules(rows, settlement, read);
  noteEnds(rows, settled, settlement);
  const affected = affectedBy(rows, new Set(ids), settlement.waiting, settlement.access);
  const moves = movesOf(affected, settlement, rows.loaded);
  const { events, possiblyPresent } = eventsOf(rows, affected, moves, settled, settlement.remarks);
  for (const move of [...moves, ...reasonsOf(affected, moves, settlement)]) moveAddress(rows, move);
  const from = { ...origin, organizationId: settlement.access?.organizationId ?? null };
  const recorded = ledgerRows(events, rows, read?.endedAt ?? readAt, from);
  const absent = settled.filter(({ state }) => state === 'absent').map(({ ruleId }) => ruleId);
  const refused = followUp(rows, affected, moves, settled, new Set(absent), settlement);
  const listed = events
    .filter(({ message }) => message === UNMANAGED_STAYS)
    .flatMap(({ ruleId }) => unmanagedOf(rows.rule(ruleId)!));
  rows.make(
    absent.filter((id) => !possiblyPresent.has(id)),
    ruleLife.forgotten,
  );

  const { rules, addresses, ended } = rows.changed;
  await stores.rules.save(tx, { rules, addresses, ended: refused.length === 0 ? ended : [] });
  if (refused.length > 0) {
    await stores.rules.releaseRefused(tx, refused);
    await stores.rules.save(tx, { ended });
  }
  const released = new Set(refused.map(({ ruleId }) => ruleId));
  const over = absent.filter(
    (id) => ruleLife.isOver(rows.rule(id)!, now) && !rows.isHeld(id) && !released.has(id),
  );
  await stores.rules.deleteUnheld(tx, over);
  if (settlement.alignRetries) await alignRetries(tx, stores, lease, settlement.rules);
  await stores.ledger.record(tx, recorded);
  if (listed.length > 0) await stores.unmanaged.list(tx, lease.targetId, listed);

  const moved = moves.map(({ id }) => rows.address(id));
  const ownersOf = (owner: 'sessionId' | 'staticIpRuleId'): string[] => [
    ...new Set(moved.flatMap((address) => address[owner] ?? [])),
  ];
  await writeSessions(tx, stores.owners, ownersOf('sessionId'));
  await auditStaticRules(tx, stores.owners, ownersOf('staticIpRuleId'));
  await auditUnheld(tx, stores.owners, lease, recorded);
  const gone = moved.filter(({ status, releasedAt }) => status === 'REMOVED' && releasedAt !== null);
  return { latenessSeconds: gone.map(({ releasedAt }) => (readAt - releasedAt!) / 1000), events: recorded };
}

/** Moves the rules as they were found. @returns what was found of those that are still there */
function settleRules(rows: TargetRows, { rules }: Settlement, read: ReadTimes | null): RuleSettlement[] {
  const known = rules.filter(({ ruleId }) => rows.rule(ruleId) !== undefined);
  const { now } = rows.loaded;
  for (const found of known)
    rows.make([found.ruleId], (rule) =>
      ruleLife.settled(rule, found, { now, comparedAt: rule.comparedAt }, read),
    );
  return known;
}

const idsOf = (holders: readonly AffectedHolder[]): Set<string> =>
  new Set(holders.map(({ resourceIpId }) => resourceIpId));

/**
 * Notes on the released addresses of ended rules how they ended; the first of an address's rules counts. What still allows an
 * address is shown to those only whose own credential has read the target.
 */
function noteEnds(rows: TargetRows, settled: readonly RuleSettlement[], { remarks }: Settlement): void {
  const names = new Map<string, Set<string>>();
  for (const { ruleId, state } of settled) {
    const { presentSince, possibleSince } = rows.ruleBefore(ruleId);
    if (state !== 'absent' || (presentSince === null && possibleSince === null)) continue;
    const { givenUp, stillAllowedBy = null } = remarks.get(ruleId) ?? {};
    const released = rows.addressesOf(
      ruleId,
      ({ status }, { releasedAt }) => releasedAt !== null && !isFinal(status),
    );
    for (const { id, givenUp: before } of released) {
      if (givenUp) rows.change(id, { givenUp: before ?? givenUpMessage(givenUp.reason) });
      else if (stillAllowedBy !== null) names.set(id, (names.get(id) ?? new Set()).add(stillAllowedBy));
    }
  }
  for (const [id, allowing] of names) {
    const { status, appliedAt, stillAllowedBy } = rows.address(id);
    if (status === 'REMOVING' && appliedAt !== null)
      rows.change(id, { stillAllowedBy: stillAllowedBy ?? [...allowing].toSorted().join(', ') });
  }
}

/** An unmanaged rule through which access goes on that has ended here. */
function unmanagedOf({
  key,
  providerRuleId,
  comparedAt,
  possibleSince,
  presentSince,
}: TargetRule): UnmanagedRule[] {
  if (providerRuleId === null || presentSince === null) return [];
  return [{ key, providerRuleId, possibleSince: earliest(comparedAt, possibleSince), presentSince }];
}

const isFinal = (status: AffectedHolder['status']): boolean => status === 'REMOVED' || status === 'FAILED';

/** Status changes of ResourceIps, derived from their rules. */
function movesOf(
  { ips, holders, rules }: Affected,
  settlement: Settlement,
  { now, isRestored }: Loaded,
): IpMove[] {
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
    return {
      ...ip,
      // an operator decides when they are opened: that may take longer
      timedOut: !isRestored && ip.pendingSince < now - giveUpSecondsOf(ip, settlement) * 1000,
      rules: inOrder.map((ruleId) => settled.get(ruleId)!),
    };
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

/** What was let in once is waited for as long as ever: "not found" is also the answer of a replica that lags behind. */
const giveUpSecondsOf = (
  { appliedAt, status }: Address,
  { giveUpSeconds, notFoundSeconds = giveUpSeconds }: Settlement,
): number => (status === 'PENDING' && appliedAt === null ? notFoundSeconds : giveUpSeconds);

const noteOn = (ip: SettledIp, to: IpMove['to'], { remarks }: Settlement): string | null =>
  to === 'REMOVED' ? (ip.rules.map(({ ruleId }) => remarks.get(ruleId)?.note).find(Boolean) ?? null) : null;

function moveAddress(
  rows: TargetRows,
  { id, to, errorMessage, providerRuleId, isWrongFamily }: IpMove,
): void {
  const { now } = rows.loaded;
  rows.change(id, {
    status: to,
    errorMessage,
    wrongFamily: rows.address(id).wrongFamily || isWrongFamily,
    ...(to === 'APPLIED' && { givenUp: null, providerRuleId, appliedAt: now }),
    ...(to === 'REMOVED' && { removedAt: now }),
  });
}

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

/** What follows for the addresses and holders of the rules besides. @returns refused holders, to be released */
function followUp(
  rows: TargetRows,
  affected: Affected,
  moves: readonly IpMove[],
  settled: readonly RuleSettlement[],
  absent: ReadonlySet<string>,
  { reading, remarks }: Settlement,
): Holder[] {
  for (const { ruleId, state, unwanted } of settled) {
    const { withdrawn } = remarks.get(ruleId) ?? {};
    if (state === 'absent' && unwanted === 'WRITER_RELEASED')
      rows.returnToPending(ruleId, { appliedAt: null, providerRuleId: null });
    if (withdrawn !== undefined) rows.returnToPending(ruleId, { errorMessage: withdrawn });
    if (rows.ruleBefore(ruleId).isMissing && reading !== null) rows.rename(ruleId);
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
    // a refused holder stays until its rule is absent, should that exist nevertheless
    const staysRefused =
      (isRefused || releaseCause === 'ADD_REFUSED') && rows.rule(ruleId)!.state !== 'absent';
    if (
      (ended.has(resourceIpId) && !staysRefused && !detached.has(nameOf(holder))) ||
      (absent.has(ruleId) && (releasedAt !== null || isRefused)) ||
      superseded.has(nameOf(holder))
    )
      rows.end(holder);
  }
  return refused;
}

const nameOf = ({ ruleId, resourceIpId }: Pick<Holder, 'ruleId' | 'resourceIpId'>): string =>
  `${ruleId} ${resourceIpId}`;

/** The retries of the target's other rules come due with these, so that one read serves all of them. */
async function alignRetries(
  tx: Tx,
  { rules: store }: EngineStore,
  lease: Lease,
  failed: readonly RuleSettlement[],
): Promise<void> {
  const ids = failed.map(({ ruleId }) => ruleId);
  const { rules, now } = await store.lockRetries(tx, lease, ids);
  const dueAt = now + Math.max(...failed.map(({ dueInMs }) => dueInMs ?? 0));
  await store.save(tx, { rules: rules.map((rule) => ({ ...rule, dueAt })) });
}
