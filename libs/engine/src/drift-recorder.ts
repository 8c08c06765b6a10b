import type { EngineStore, KnownRules, Lease, LedgerRow } from '#engine-store';
import type { Tx } from '#entities';
import {
  changedMessage,
  RESTORED,
  ruleEvent,
  ruleLife,
  type Drift,
  type Instant,
  type OwnedAccess,
  type Rule,
  type RuleEvent,
  type TimedRead,
} from '#rules';
import { unobservedRules } from './drift-report';
import { ledgerRows, originOf } from './ledger-rows';
import { takeOver } from './orphans';
import { writeSessions } from './settle-owners';
import { TargetRows } from './target-rows';
import { age } from './provider-calls';
import type { Timing } from './timing';
import type { UnissuedOrphans } from './unissued-orphans';
import { type ComparedRead, recordUnmanaged } from './unmanaged-rules';

/** The drift of a target, and the read that showed it. */
export interface ObservedDrift {
  readonly access: OwnedAccess;
  readonly read: TimedRead;
  readonly drift: Drift;
  readonly unmanagedDigest: string;
  readonly unissued: UnissuedOrphans;
}

/** Shown to users, on a ResourceIp whose rule is suspended. */
const SUSPENDED = 'Another program keeps removing its rule: it is left alone for an hour, then added again';

/** Records drift in the rules, their holders and the ledger. */
export class DriftRecorder {
  constructor(
    private readonly stores: EngineStore,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /** Makes drifted rules due, so that passes repair them, and records all differences. @returns the lost rules */
  async makeDue(
    tx: Tx,
    lease: Lease,
    known: KnownRules,
    observed: ObservedDrift,
  ): Promise<{ lost: readonly Rule[]; events: LedgerRow[] }> {
    const { access, read, drift, unmanagedDigest } = observed;
    const { rules: store, ledger, owners } = this.stores;
    const moves = driftMoves(known, observed);
    const isListed = unmanagedDigest !== known.unmanagedDigest;
    if (moves.length + drift.orphans.length === 0 && !isListed) return { lost: [], events: [] };
    const { endedAgoMs } = age(this.timing, read);
    const concerned = moves.flatMap(({ ruleIds }) => ruleIds);
    const rows = new TargetRows(await store.lock(tx, lease.targetId, concerned, ['APPLIED']));
    const { now, readAt, comparedAt } = rows.loaded;
    const endedAt = readAt - endedAgoMs;
    const origin = originOf(this.workerId, access);
    const made: RuleEvent[] = [];
    for (const { ruleIds, move } of moves)
      rows.make(ruleIds, (rule) => {
        const moved = move(rule, { now, comparedAt, endedAt });
        if (moved.event) made.push(moved.event);
        return moved.rule;
      });
    const left = [...suspend(rows, drift), ...withdraw(rows, drift)];
    for (const { ruleId } of drift.renamed) rows.rename(ruleId);
    const compared = { lease, loaded: rows.loaded, endedAt, origin };
    const events = ledgerRows(made, rows, endedAt, origin);
    await store.save(tx, rows.changed);
    events.push(...(await this.takeOver(tx, observed, compared)));
    await ledger.record(tx, events);
    await writeSessions(tx, owners, left);
    if (isListed)
      events.push(
        ...(await recordUnmanaged(
          tx,
          this.stores,
          compared,
          { observed: drift.unmanaged, all: read.rules },
          observed.unissued,
        )),
      );
    const lost = drift.missing.flatMap((id) => rows.rule(id) ?? []);
    return { lost: lost.filter((rule) => rule.isMissing), events };
  }

  /** Records events of a target that is missing. */
  async record(
    tx: Tx,
    rows: TargetRows,
    events: readonly RuleEvent[],
    access: OwnedAccess,
  ): Promise<LedgerRow[]> {
    const recorded = ledgerRows(events, rows, rows.loaded.readAt, originOf(this.workerId, access));
    await this.stores.ledger.record(tx, recorded);
    return recorded;
  }

  private async takeOver(
    tx: Tx,
    { access, drift: { orphans }, unissued: { question, keys } }: ObservedDrift,
    compared: ComparedRead,
  ): Promise<LedgerRow[]> {
    if (orphans.length === 0) return [];
    const { credentialId, region } = access;
    const taken = await takeOver(tx, this.stores, compared, orphans, { credentialId, region });
    const ids = taken.map(({ id }) => id);
    const rows = new TargetRows(await this.stores.rules.lock(tx, compared.lease.targetId, ids, []));
    const events = taken.map(({ id, key }) =>
      ruleEvent('FOUND', id, { cause: 'ORPHAN', message: keys.has(key) ? question : null }),
    );
    return ledgerRows(events, rows, compared.endedAt, compared.origin);
  }
}

interface DriftTimes {
  readonly now: Instant;
  readonly comparedAt: Instant | null;
  readonly endedAt: Instant;
}

const unrecorded = (rule: Rule): ruleLife.Moved => ({ rule, event: null });

interface DriftMove {
  readonly ruleIds: readonly string[];
  readonly move: (rule: Rule, times: DriftTimes) => ruleLife.Moved;
}

/** What a read says about known rules, as their moves. */
function driftMoves(known: KnownRules, { access, read, drift }: ObservedDrift): DriftMove[] {
  const { credentialId, region } = access;
  const renamed = new Map(drift.renamed.map(({ ruleId, providerRuleId }) => [ruleId, providerRuleId]));
  const fresh = known.rules.filter(({ state, wasObserved }) => state === 'present' && !wasObserved);
  const changedTo = new Map(drift.changed.map((one) => [one.ruleId, one.changedTo]));
  const moves: DriftMove[] = [
    {
      ruleIds: [...changedTo.keys()],
      move: (rule, { now, endedAt }) => ruleLife.changed(rule, changedTo.get(rule.id)!, endedAt, now),
    },
    { ruleIds: drift.missing, move: (rule, { now }) => ruleLife.lost(rule, now) },
    {
      ruleIds: drift.withoutEffect.map(({ ruleId }) => ruleId),
      move: (rule, { now }) => unrecorded(ruleLife.withoutEffect(rule, now)),
    },
    { ruleIds: drift.effective, move: (rule, { now }) => unrecorded(ruleLife.effective(rule, now)) },
    {
      ruleIds: unobservedRules(known, read.rules),
      move: (rule, times) => unrecorded(ruleLife.unobserved(rule, times)),
    },
    { ruleIds: drift.taken, move: (rule, { endedAt }) => ruleLife.taken(rule, endedAt) },
    {
      ruleIds: [...renamed.keys()],
      move: (rule, { endedAt }) => unrecorded(ruleLife.renamed(rule, renamed.get(rule.id)!, endedAt)),
    },
    {
      ruleIds: drift.stale,
      move: (rule, { now, endedAt }) => ruleLife.stale(rule, { credentialId, region }, now, endedAt),
    },
    {
      ruleIds: fresh.map(({ ruleId }) => ruleId),
      move: (rule, { endedAt }) => unrecorded(ruleLife.firstObserved(rule, endedAt)),
    },
  ];
  return moves.filter(({ ruleIds }) => ruleIds.length > 0);
}

/**
 * Suspended rules admit no traffic: their addresses wait until they are due again. So do those of missing rules in a restored
 * database. @returns the sessions of these
 */
function suspend(rows: TargetRows, { missing: gone, withoutEffect }: Drift): string[] {
  const messages = new Map([
    ...gone.map((id) => [id, rows.rule(id)?.isSuspended ? SUSPENDED : RESTORED] as const),
    ...withoutEffect.map(({ ruleId, message }) => [ruleId, message] as const),
  ]);
  const left = [...messages].flatMap(([id, errorMessage]) => {
    const rule = rows.rule(id);
    const isLeft =
      rule !== undefined &&
      rule !== rows.ruleBefore(id) &&
      (rule.isSuspended || (rows.loaded.isRestored && rule.isMissing));
    return isLeft ? rows.returnToPending(id, { pendingSince: rule.dueAt!, errorMessage }) : [];
  });
  return [...new Set(left.flatMap(({ sessionId }) => sessionId ?? []))];
}

/** Addresses of changed rules wait until these are as they were written. @returns their sessions */
const withdraw = (rows: TargetRows, { changed }: Drift): string[] =>
  changed.flatMap(({ ruleId, changedTo }) =>
    rows
      .returnToPending(ruleId, { errorMessage: changedMessage(changedTo) })
      .flatMap(({ sessionId }) => sessionId ?? []),
  );
