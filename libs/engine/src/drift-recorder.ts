import { randomUUID } from 'node:crypto';
import type {
  Access,
  DriftStore,
  KnownRules,
  LedgerRow,
  LostRule,
  Origin,
  RuleEvent,
  SettlementOwnersStore,
  SettlementStore,
} from '#engine-store';
import type { Trail, Tx } from '#entities';
import { grouped, type Drift } from '#rules';
import { unobservedRules } from './drift-report';
import { changedMessage } from './rule-events';
import { writeSessions } from './settle-owners';
import { age, type TimedRead } from './timed-read';
import type { Timing } from './timing';
import { recordUnmanaged, type UnmanagedStores } from './unmanaged-rules';

export interface DriftStores extends UnmanagedStores {
  readonly drift: DriftStore;
  readonly settlements: SettlementStore;
  readonly owners: SettlementOwnersStore;
}

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
    private readonly stores: DriftStores,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /** Makes drifted rules due, so that passes repair them, and records all differences. */
  async makeDue(
    tx: Tx,
    targetId: string,
    known: KnownRules,
    { access, read, drift, unmanagedDigest }: ObservedDrift,
    trail: Trail,
  ): Promise<{ lost: LostRule[]; events: LedgerRow[] }> {
    const { drift: rules } = this.stores;
    const ago = (): number => age(this.timing, read).endedAgoMs;
    const events: LedgerRow[] = [];
    const record = async (some: readonly RuleEvent[]): Promise<void> => {
      events.push(...(await this.record(tx, some, access, ago(), trail)));
    };
    const touched = [
      ...drift.missing,
      ...drift.renamed.map(({ ruleId }) => ruleId),
      ...drift.withoutEffect.map(({ ruleId }) => ruleId),
    ];
    if (touched.length > 0) await rules.lockOwners(tx, touched);
    await record(eventsOf(drift));
    const lost = await this.writeMissing(tx, drift, trail);
    await this.writeWithoutEffect(tx, drift, trail);
    const unobserved = unobservedRules(known, read.rules);
    if (unobserved.length > 0) await rules.noteUnobserved(tx, unobserved);
    await this.writePresent(tx, drift, ago);
    if (drift.stale.length > 0) await rules.makeStaleDue(tx, drift.stale, access);
    const orphans =
      drift.orphans.length === 0
        ? []
        : await rules.takeOver(tx, targetId, drift.orphans, access, 'ORPHAN', ago());
    await record([
      ...drift.stale.map(found('STALE_RULE')),
      ...orphans.map(({ ruleId }) => found('ORPHAN')(ruleId)),
    ]);
    const fresh = known.rules.filter(({ state, wasObserved }) => state === 'present' && !wasObserved);
    if (fresh.length > 0)
      await rules.noteObserved(
        tx,
        fresh.map(({ ruleId }) => ruleId),
        ago(),
      );
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
          trail,
        )),
      );
    return { lost, events };
  }

  /** Records rules that are given up because their target is missing. @param message of the provider */
  recordGivenUp(
    tx: Tx,
    ruleIds: readonly string[],
    message: string,
    access: Access,
    trail: Trail,
  ): Promise<LedgerRow[]> {
    const events = ruleIds.map((ruleId): RuleEvent => ({
      ...missing(ruleId),
      kind: 'ABANDONED',
      cause: 'TARGET_GONE',
      message,
    }));
    return this.record(tx, events, access, 0, trail);
  }

  /** Makes missing rules due, and suspends those that keep disappearing. */
  private async writeMissing(tx: Tx, drift: Drift, trail: Trail): Promise<LostRule[]> {
    const { drift: rules, settlements, owners } = this.stores;
    if (drift.changed.length > 0)
      await settlements.noteOnIps(
        tx,
        drift.changed.map(({ ruleId, changedTo }) => ({ ruleId, message: changedMessage(changedTo) })),
      );
    const lost = drift.missing.length === 0 ? [] : await rules.markMissing(tx, drift.missing);
    const suspended = lost.filter(({ isSuspended }) => isSuspended).map(({ id }) => id);
    if (suspended.length > 0) {
      const sessions = await rules.suspendHolders(tx, suspended, SUSPENDED);
      await writeSessions(tx, owners, trail, sessions);
    }
    return lost;
  }

  /** Suspends present rules that let nobody in, until a comparison shows that they do again. */
  private async writeWithoutEffect(tx: Tx, drift: Drift, trail: Trail): Promise<void> {
    const { drift: rules, owners } = this.stores;
    for (const [message, some] of grouped(drift.withoutEffect, (rule) => rule.message)) {
      const suspended = await rules.suspendPresent(
        tx,
        some.map(({ ruleId }) => ruleId),
      );
      await writeSessions(tx, owners, trail, await rules.suspendHolders(tx, suspended, message));
    }
    if (drift.effective.length > 0) await rules.resume(tx, drift.effective);
  }

  /** Updates rules that are present without our mark, replaced by an unmanaged rule, or under a new id. */
  private async writePresent(tx: Tx, drift: Drift, ago: () => number): Promise<void> {
    const { drift: rules, settlements } = this.stores;
    if (drift.unmarked.length > 0) await rules.noteUnmarked(tx, drift.unmarked);
    if (drift.taken.length > 0) await rules.noteTaken(tx, drift.taken);
    if (drift.renamed.length === 0) return;
    await rules.rename(tx, drift.renamed, ago());
    await settlements.renameIps(
      tx,
      drift.renamed.map(({ ruleId }) => ruleId),
    );
  }

  private record(
    tx: Tx,
    events: readonly RuleEvent[],
    access: Access,
    endedAgoMs: number,
    trail: Trail,
  ): Promise<LedgerRow[]> {
    if (events.length === 0) return Promise.resolve([]);
    return this.stores.ledger.record(tx, events, endedAgoMs, this.origin(access), trail);
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
