import { randomUUID } from 'node:crypto';
import type { KnownRules, LedgerRow, Origin, RuleEvent, EngineStore } from '#engine-store';
import type { Tx } from '#entities';
import { grouped, ruleLife, type Access, type Drift, type Rule } from '#rules';
import { unobservedRules } from './drift-report';
import { changedMessage } from './rule-events';
import { RuleMoves } from './rule-moves';
import { writeSessions } from './settle-owners';
import { age, type TimedRead } from './timed-read';
import type { Timing } from './timing';
import { recordUnmanaged } from './unmanaged-rules';

/** The drift of a target, and the read that showed it. */
export interface ObservedDrift {
  readonly access: Access;
  readonly read: TimedRead;
  readonly drift: Drift;
  readonly unmanagedDigest: string;
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

  /** Makes drifted rules due, so that passes repair them, and records all differences. */
  async makeDue(
    tx: Tx,
    targetId: string,
    known: KnownRules,
    { access, read, drift, unmanagedDigest }: ObservedDrift,
  ): Promise<{ lost: Rule[]; events: LedgerRow[] }> {
    const { drift: store } = this.stores;
    const ago = (): number => age(this.timing, read).endedAgoMs;
    const events: LedgerRow[] = [];
    const record = async (some: readonly RuleEvent[]): Promise<void> => {
      events.push(...(await this.record(tx, some, access, ago())));
    };
    const touched = [
      ...drift.missing,
      ...drift.renamed.map(({ ruleId }) => ruleId),
      ...drift.withoutEffect.map(({ ruleId }) => ruleId),
    ];
    if (touched.length > 0) await store.lockOwners(tx, touched);
    await record(eventsOf(drift));
    const lost = await this.writeRules(tx, targetId, known, { access, read, drift });
    const orphans =
      drift.orphans.length === 0
        ? []
        : await store.takeOver(tx, targetId, drift.orphans, access, 'ORPHAN', ago());
    await record([
      ...drift.stale.map(found('STALE_RULE')),
      ...orphans.map(({ ruleId }) => found('ORPHAN')(ruleId)),
    ]);
    if (unmanagedDigest !== known.unmanagedDigest)
      events.push(
        ...(await recordUnmanaged(
          tx,
          this.stores,
          targetId,
          drift.unmanaged,
          read.rules,
          ago,
          this.origin(access),
        )),
      );
    return { lost, events };
  }

  /** Records rules that are given up because their target is missing. @param message of the provider */
  recordGivenUp(tx: Tx, ruleIds: readonly string[], message: string, access: Access): Promise<LedgerRow[]> {
    const events = ruleIds.map((ruleId): RuleEvent => ({
      ...missing(ruleId),
      kind: 'ABANDONED',
      cause: 'TARGET_GONE',
      message,
    }));
    return this.record(tx, events, access, 0);
  }

  /** Writes what the read says about known rules, and what follows for their holders. @returns the rules that are lost */
  private async writeRules(
    tx: Tx,
    targetId: string,
    known: KnownRules,
    { access, read, drift }: Omit<ObservedDrift, 'unmanagedDigest'>,
  ): Promise<Rule[]> {
    const { rules: store, settlements } = this.stores;
    const unobserved = unobservedRules(known, read.rules);
    const fresh = known.rules
      .filter(({ state, wasObserved }) => state === 'present' && !wasObserved)
      .map(({ ruleId }) => ruleId);
    const renamed = new Map(drift.renamed.map(({ ruleId, providerRuleId }) => [ruleId, providerRuleId]));
    const ineffective = new Map(drift.withoutEffect.map(({ ruleId, message }) => [ruleId, message]));
    const concerned = [
      ...[drift.missing, drift.effective, drift.unmarked, drift.taken, drift.stale, unobserved, fresh].flat(),
      ...renamed.keys(),
      ...ineffective.keys(),
    ];
    if (concerned.length === 0) return [];
    const { endedAgoMs } = age(this.timing, read);
    const moves = new RuleMoves(await store.lock(tx, targetId, concerned));
    const { now, readAt } = moves.locked;
    const endedAt = readAt - endedAgoMs;
    const lost = moves.make(drift.missing, (rule) => ruleLife.lost(rule, now));
    const suspended = moves.make([...ineffective.keys()], (rule) => ruleLife.withoutEffect(rule, now));
    moves.make(drift.effective, (rule) => ruleLife.effective(rule, now));
    moves.make(unobserved, (rule) => ruleLife.unobserved(rule, moves.locked));
    moves.make(drift.unmarked, ruleLife.unmarked);
    moves.make(drift.taken, (rule) => ruleLife.taken(rule, now));
    moves.make([...renamed.keys()], (rule) => ruleLife.renamed(rule, renamed.get(rule.id)!, endedAt));
    moves.make(drift.stale, (rule) => ruleLife.stale(rule, access, now));
    moves.make(fresh, (rule) => ruleLife.firstObserved(rule, endedAt));
    await store.save(tx, moves.changed);
    if (drift.changed.length > 0)
      await settlements.noteOnIps(
        tx,
        drift.changed.map(({ ruleId, changedTo }) => ({ ruleId, message: changedMessage(changedTo) })),
      );
    await this.suspendHolders(tx, [
      ...lost.filter(({ isSuspended }) => isSuspended).map(({ id }) => ({ id, message: SUSPENDED })),
      ...suspended.map(({ id }) => ({ id, message: ineffective.get(id)! })),
    ]);
    if (renamed.size > 0) await settlements.renameIps(tx, [...renamed.keys()]);
    return lost;
  }

  private async suspendHolders(
    tx: Tx,
    suspended: readonly { readonly id: string; readonly message: string }[],
  ): Promise<void> {
    const { drift, owners } = this.stores;
    for (const [message, some] of grouped(suspended, (rule) => rule.message)) {
      const ids = some.map(({ id }) => id);
      await writeSessions(tx, owners, await drift.suspendHolders(tx, ids, message));
    }
  }

  private record(
    tx: Tx,
    events: readonly RuleEvent[],
    access: Access,
    endedAgoMs: number,
  ): Promise<LedgerRow[]> {
    if (events.length === 0) return Promise.resolve([]);
    return this.stores.ledger.record(tx, events, endedAgoMs, this.origin(access));
  }

  private origin({ credentialId }: Access): Origin {
    return { workerId: this.workerId, passId: randomUUID(), credentialId };
  }
}

/** Ledger events of rules that differ from their record, except stale rules and orphans. */
function eventsOf(drift: Drift): RuleEvent[] {
  const changedTo = new Map(drift.changed.map((rule) => [rule.ruleId, rule.changedTo]));
  return [
    ...drift.missing.map((ruleId): RuleEvent => {
      const to = changedTo.get(ruleId);
      if (to === undefined) return missing(ruleId);
      return { ...missing(ruleId), kind: 'CHANGED', message: changedMessage(to) };
    }),
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
