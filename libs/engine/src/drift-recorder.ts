import { randomUUID } from 'node:crypto';
import type { KnownRules, Lease, LedgerRow, EngineStore, OwnedAccess } from '#engine-store';
import type { Tx } from '#entities';
import { ruleLife, type Drift, type Instant, type Rule } from '#rules';
import { unobservedRules } from './drift-report';
import { ledgerRows, type OwnedOrigin, type RuleEvent, changedMessage } from './rule-events';
import { takeOver } from './orphans';
import { writeSessions } from './settle-owners';
import { TargetRows } from './target-rows';
import { age, RESTORED, type TimedRead } from './provider-calls';
import type { Timing } from './timing';
import type { UnissuedOrphans } from './unissued-orphans';
import { recordUnmanaged } from './unmanaged-rules';

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
    const moves = movesOf(known, observed);
    const isListed = unmanagedDigest !== known.unmanagedDigest;
    if (moves.length + drift.orphans.length === 0 && !isListed) return { lost: [], events: [] };
    const { endedAgoMs } = age(this.timing, read);
    const concerned = moves.flatMap(({ ruleIds }) => ruleIds);
    const rows = new TargetRows(await store.lock(tx, lease.targetId, concerned, ['APPLIED']));
    const { now, readAt, comparedAt } = rows.loaded;
    const endedAt = readAt - endedAgoMs;
    const origin = this.origin(access);
    const events = ledgerRows(eventsOf(drift), rows, endedAt, origin);
    for (const { ruleIds, move } of moves)
      rows.make(ruleIds, (rule) => move(rule, { now, comparedAt, endedAt }));
    const left = [...suspend(rows, drift), ...withdraw(rows, drift)];
    for (const { ruleId } of drift.renamed) rows.rename(ruleId);
    events.push(...ledgerRows(drift.stale.map(found('STALE_RULE')), rows, endedAt, origin));
    await store.save(tx, rows.changed);
    events.push(...(await this.takeOver(tx, lease, observed, rows, endedAt, origin)));
    await ledger.record(tx, events);
    await writeSessions(tx, owners, left);
    if (isListed)
      events.push(
        ...(await recordUnmanaged(
          tx,
          this.stores,
          lease,
          drift.unmanaged,
          read.rules,
          rows.loaded,
          endedAt,
          origin,
          observed.unissued,
        )),
      );
    const lost = drift.missing.flatMap((id) => rows.rule(id) ?? []);
    return { lost: lost.filter((rule) => rule.isMissing), events };
  }

  /** Gives up rules because their target is missing. @param message of the provider */
  async recordGivenUp(
    tx: Tx,
    rows: TargetRows,
    ruleIds: readonly string[],
    message: string,
    access: OwnedAccess,
  ): Promise<LedgerRow[]> {
    const events = ruleIds.map((ruleId): RuleEvent => ({
      ...missing(ruleId),
      kind: 'ABANDONED',
      cause: 'TARGET_GONE',
      message,
    }));
    const recorded = ledgerRows(events, rows, rows.loaded.readAt, this.origin(access));
    await this.stores.ledger.record(tx, recorded);
    return recorded;
  }

  private async takeOver(
    tx: Tx,
    { targetId }: Lease,
    { access, drift: { orphans }, unissued: { question, keys } }: ObservedDrift,
    { loaded }: TargetRows,
    endedAt: Instant,
    origin: OwnedOrigin,
  ): Promise<LedgerRow[]> {
    if (orphans.length === 0) return [];
    const { credentialId, region } = access;
    const taken = await takeOver(
      tx,
      this.stores,
      targetId,
      orphans,
      { credentialId, region },
      'ORPHAN',
      loaded,
      endedAt,
    );
    const ids = taken.map(({ id }) => id);
    const rows = new TargetRows(await this.stores.rules.lock(tx, targetId, ids, []));
    const events = taken.map(({ id, key }) => ({
      ...found('ORPHAN')(id),
      message: keys.has(key) ? question : null,
    }));
    return ledgerRows(events, rows, endedAt, origin);
  }

  private origin({ credentialId, organizationId }: OwnedAccess): OwnedOrigin {
    return { workerId: this.workerId, passId: randomUUID(), credentialId, organizationId };
  }
}

interface DriftTimes {
  readonly now: Instant;
  readonly comparedAt: Instant | null;
  readonly endedAt: Instant;
}

interface DriftMove {
  readonly ruleIds: readonly string[];
  readonly move: (rule: Rule, times: DriftTimes) => Rule;
}

/** What a read says about known rules, as their moves. */
function movesOf(known: KnownRules, { access, read, drift }: ObservedDrift): DriftMove[] {
  const { credentialId, region } = access;
  const renamed = new Map(drift.renamed.map(({ ruleId, providerRuleId }) => [ruleId, providerRuleId]));
  const fresh = known.rules.filter(({ state, wasObserved }) => state === 'present' && !wasObserved);
  const moves: DriftMove[] = [
    {
      ruleIds: drift.changed.map(({ ruleId }) => ruleId),
      move: (rule, { now, endedAt }) => ruleLife.changed(rule, endedAt, now),
    },
    { ruleIds: drift.missing, move: (rule, { now }) => ruleLife.lost(rule, now) },
    {
      ruleIds: drift.withoutEffect.map(({ ruleId }) => ruleId),
      move: (rule, { now }) => ruleLife.withoutEffect(rule, now),
    },
    { ruleIds: drift.effective, move: (rule, { now }) => ruleLife.effective(rule, now) },
    { ruleIds: unobservedRules(known, read.rules), move: ruleLife.unobserved },
    { ruleIds: drift.unmarked, move: ruleLife.unmarked },
    { ruleIds: drift.taken, move: (rule, { now }) => ruleLife.taken(rule, now) },
    {
      ruleIds: [...renamed.keys()],
      move: (rule, { endedAt }) => ruleLife.renamed(rule, renamed.get(rule.id)!, endedAt),
    },
    { ruleIds: drift.stale, move: (rule, { now }) => ruleLife.stale(rule, { credentialId, region }, now) },
    {
      ruleIds: fresh.map(({ ruleId }) => ruleId),
      move: (rule, { endedAt }) => ruleLife.firstObserved(rule, endedAt),
    },
  ];
  return moves.filter(({ ruleIds }) => ruleIds.length > 0);
}

/**
 * Suspended rules let nobody in: their addresses wait until they are due again. So do those of missing rules in a restored
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

/** Ledger events of rules that differ from their record, except stale rules and orphans. */
function eventsOf(drift: Drift): RuleEvent[] {
  return [
    ...drift.changed
      .filter(({ isNew }) => isNew)
      .map(({ ruleId, changedTo }): RuleEvent => ({
        ...missing(ruleId),
        kind: 'CHANGED',
        message: changedMessage(changedTo),
      })),
    ...drift.missing.map(missing),
    ...drift.taken.map(missing),
    ...drift.unmarked.map(unmarked),
  ];
}

type EventOf = (ruleId: string) => RuleEvent;

const missing: EventOf = (ruleId) => ({
  kind: 'MISSING',
  ruleId,
  cause: 'CHANGED_OUTSIDE',
  message: null,
  resourceIpIds: null,
});

const found =
  (cause: 'STALE_RULE' | 'ORPHAN'): EventOf =>
  (ruleId) => ({ kind: 'FOUND', ruleId, cause, message: null, resourceIpIds: null });

const unmarked: EventOf = (ruleId) => ({
  kind: 'UNMARKED',
  ruleId,
  cause: null,
  message: 'Our mark was removed from it; its recorded id says that it is ours',
  resourceIpIds: null,
});
