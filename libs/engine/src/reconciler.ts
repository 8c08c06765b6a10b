import { randomUUID } from 'node:crypto';
import { DriverError, type CloudTarget, type ProviderDriver } from '#drivers';
import type {
  Access,
  ComparisonStore,
  DriftStore,
  KnownRules,
  LedgerRow,
  LeaseStore,
  LostRule,
  MissingTargetStore,
  Origin,
  RuleEvent,
  SettlementOwnersStore,
  SettlementStore,
} from '#engine-store';
import { type Transactions, type Trail, type Tx, closing } from '#entities';
import { claimsOf, findDrift, RETRYABLE_KINDS, unwantedRules, type Drift } from '#rules';
import type { DueChange } from './changes';
import type { CloudWays } from './cloud-access';
import { LeaseLost, type HeldLease } from './held-lease';
import { changedMessage } from './rule-events';
import { writeSessions } from './settle-owners';
import { reportsOf, unseenRules, type Look } from './drift-report';
import { age, type TimedRead } from './timed-read';
import type { Timing } from './timing';
import { digestOf, noteUnmanaged, type UnmanagedStores } from './unmanaged-rules';

export interface ReconcilerStores extends UnmanagedStores {
  readonly leases: Pick<LeaseStore, 'lock'>;
  readonly comparisons: ComparisonStore;
  readonly drift: DriftStore;
  readonly missingTargets: MissingTargetStore;
  readonly settlements: SettlementStore;
  readonly owners: SettlementOwnersStore;
}

/** After a failure that may pass, however long a round is. */
const RETRY_SECONDS = 30;
/** Shown to people, on a ResourceIp whose rule is suspended. */
const SUSPENDED = 'Another program keeps removing its rule: it is left alone for an hour, then added again';

/** What a comparison found. */
interface Found {
  readonly access: Access;
  readonly read: TimedRead;
  readonly drift: Drift;
  readonly unmanagedDigest: string;
}

/** Compares a whole target with the database: what another program changed becomes due. */
export class Reconciler {
  constructor(
    private readonly database: Transactions,
    private readonly stores: ReconcilerStores,
    private readonly clouds: CloudWays,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /**
   * Call it under the lease, when nothing is due. Without drift it writes once: when the next comparison is.
   * @returns what was recorded @throws LeaseLost
   */
  async reconcile(held: HeldLease, driver: ProviderDriver): Promise<LedgerRow[]> {
    const { comparisons } = this.stores;
    const { autocommit } = this.database;
    // the database first: what starts between the two reads is then no drift
    const known = await comparisons.known(autocommit, held.lease);
    const claims = claimsOf(known.rules);
    const looks: Look[] = [];
    for (const way of await comparisons.ways(autocommit, held.lease)) {
      await held.keep();
      looks.push({ way, read: await this.read(held, driver, way.access, claims) });
    }
    const found = foundBy(known, looks);
    await held.keep();
    return closing((trail) =>
      this.database.transaction((tx) => this.write(tx, held, known, looks, found, trail)),
    );
  }

  private async write(
    tx: Tx,
    held: HeldLease,
    known: KnownRules,
    looks: readonly Look[],
    found: Found | null,
    trail: Trail,
  ): Promise<LedgerRow[]> {
    const { leases, comparisons } = this.stores;
    const comparison = held.lease.comparison!;
    if (!(await leases.lock(tx, held.lease))) throw new LeaseLost(held.lease.targetId);
    const given = await this.giveUp(tx, held, known, looks, trail);
    const { lost, events } = found
      ? await this.makeDue(tx, held, known, found, trail)
      : { lost: [], events: [] };
    const startedAgoMs = found ? age(this.timing, found.read).startedAgoMs : 0;
    await comparisons.finish(
      tx,
      held.lease.targetId,
      comparison,
      found?.unmanagedDigest ?? null,
      startedAgoMs,
    );
    await this.planNext(tx, held, looks, given.isDoubted, comparison.requested);
    const suspended = lost.filter(({ isSuspended }) => isSuspended).length;
    await comparisons.report(
      tx,
      reportsOf(looks, known, found?.drift ?? null, suspended, comparison.requested),
    );
    return [...given.events, ...events];
  }

  /**
   * Rules of ours that are present and that no holder wants, to make room in a full target: what the database did not know
   * of them it knows from now on.
   */
  async makeRoom(held: HeldLease, read: TimedRead, access: Access, limit: number): Promise<DueChange[]> {
    const { comparisons, drift } = this.stores;
    const { autocommit } = this.database;
    const unwanted = unwantedRules((await comparisons.known(autocommit, held.lease)).rules, read.rules).slice(
      0,
      limit,
    );
    const orphans = unwanted.filter(({ ruleId }) => ruleId === null);
    const taken =
      orphans.length === 0
        ? []
        : await drift.takeOver(
            autocommit,
            held.lease.targetId,
            orphans,
            access,
            'MAKE_ROOM',
            age(this.timing, read).endedAgoMs,
          );
    const idOf = new Map(taken.map(({ key, ruleId }) => [key, ruleId]));
    return unwanted.flatMap(({ ruleId, key, providerRuleId }): DueChange[] => {
      const id = ruleId ?? idOf.get(key);
      if (id === undefined) return [];
      return [{ action: 'remove', rule: { ruleId: id }, providerRuleId, cause: 'MAKE_ROOM' }];
    });
  }

  /** Asks for a comparison a while after a write without an answer: landing late, it may undo what came after it. */
  askIn(held: HeldLease, seconds: number): Promise<void> {
    return this.stores.comparisons.ask(this.database.autocommit, held.lease.targetId, seconds, false);
  }

  /** Rules of a target that was gone twice are gone with it. */
  private async giveUp(
    tx: Tx,
    held: HeldLease,
    known: KnownRules,
    looks: readonly Look[],
    trail: Trail,
  ): Promise<{ isDoubted: boolean; events: LedgerRow[] }> {
    const { missingTargets } = this.stores;
    let isDoubted = false;
    const events: LedgerRow[] = [];
    for (const { way, read } of looks) {
      const isMissing = read instanceof DriverError && read.kind === 'target-missing';
      if (!isMissing && !known.rules.some(({ targetMissing }) => targetMissing)) continue;
      const noted = await missingTargets.noteMissing(tx, held.lease, way.access, isMissing);
      isDoubted ||= noted === 'doubted';
      if (noted !== 'gone') continue;
      const gone = await missingTargets.presentRules(tx, held.lease, way.access);
      events.push(...(await this.record(tx, gone.map(missing('TARGET_GONE')), way.access, 0, trail)));
      await missingTargets.giveUpTarget(tx, held.lease, way);
    }
    return { isDoubted, events };
  }

  /** Tries again soon what may pass, and seldom what cannot be seen. */
  private async planNext(
    tx: Tx,
    held: HeldLease,
    looks: readonly Look[],
    isDoubted: boolean,
    requested: boolean,
  ): Promise<void> {
    const { comparisons } = this.stores;
    const { targetId } = held.lease;
    const failures = looks.flatMap(({ read }) => (read instanceof DriverError ? [read] : []));
    if (isDoubted || failures.some(({ kind }) => RETRYABLE_KINDS.has(kind)))
      await comparisons.ask(tx, targetId, RETRY_SECONDS, requested);
    else if (failures.length === looks.length) await comparisons.putOff(tx, targetId);
  }

  /** What differs becomes due: passes repair it. */
  private async makeDue(
    tx: Tx,
    held: HeldLease,
    known: KnownRules,
    { access, read, drift, unmanagedDigest }: Found,
    trail: Trail,
  ): Promise<{ lost: LostRule[]; events: LedgerRow[] }> {
    const { drift: rules, settlements, owners } = this.stores;
    const { targetId } = held.lease;
    const ago = (): number => age(this.timing, read).endedAgoMs;
    const events: LedgerRow[] = [];
    const note = async (some: readonly RuleEvent[]): Promise<void> => {
      events.push(...(await this.record(tx, some, access, ago(), trail)));
    };
    const touched = [...drift.missing, ...drift.renamed.map(({ ruleId }) => ruleId)];
    if (touched.length > 0) await rules.lockOwners(tx, touched);
    const changedTo = new Map(drift.changed.map(({ ruleId, changedTo: to }) => [ruleId, to]));
    await note([
      ...drift.missing.map((ruleId): RuleEvent => {
        const to = changedTo.get(ruleId);
        if (to === undefined) return missing('CHANGED_OUTSIDE')(ruleId);
        return { ...missing('CHANGED_OUTSIDE')(ruleId), kind: 'CHANGED', message: changedMessage(to) };
      }),
      ...drift.taken.map(missing('CHANGED_OUTSIDE')),
      ...drift.unmarked.map(unmarked),
    ]);
    if (drift.changed.length > 0)
      await settlements.noteOnIps(
        tx,
        drift.changed.map(({ ruleId, changedTo: to }) => ({ ruleId, message: changedMessage(to) })),
      );
    const lost = drift.missing.length === 0 ? [] : await rules.lose(tx, drift.missing);
    const suspended = lost.filter(({ isSuspended }) => isSuspended).map(({ id }) => id);
    if (suspended.length > 0) {
      const sessions = await rules.suspendHolders(tx, suspended, SUSPENDED);
      await writeSessions(tx, owners, trail, sessions);
    }
    const unseen = unseenRules(known, read.rules);
    if (unseen.length > 0) await rules.noteUnseen(tx, unseen);
    if (drift.unmarked.length > 0) await rules.noteUnmarked(tx, drift.unmarked);
    if (drift.taken.length > 0) await rules.noteTaken(tx, drift.taken);
    if (drift.renamed.length > 0) {
      await rules.rename(tx, drift.renamed, ago());
      await settlements.renameIps(
        tx,
        drift.renamed.map(({ ruleId }) => ruleId),
      );
    }
    if (drift.stale.length > 0) await rules.makeStaleDue(tx, drift.stale, access);
    const orphans =
      drift.orphans.length === 0
        ? []
        : await rules.takeOver(tx, targetId, drift.orphans, access, 'ORPHAN', ago());
    await note([
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
        ...(await noteUnmanaged(
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

  private async read(
    held: HeldLease,
    driver: ProviderDriver,
    access: Access,
    claims: CloudTarget['claims'],
  ): Promise<TimedRead | DriverError> {
    const startedAt = this.timing.now();
    try {
      const target = await this.clouds.open({ ...held.place, ...access }, claims);
      const rules = await driver.readRules(target);
      return { rules, startedAt, endedAt: this.timing.now() };
    } catch (error) {
      if (error instanceof DriverError) return error;
      throw error;
    }
  }
}

type EventOf = (ruleId: string) => RuleEvent;

const missing =
  (cause: 'CHANGED_OUTSIDE' | 'TARGET_GONE'): EventOf =>
  (ruleId) => ({ kind: 'MISSING', ruleId, cause, message: null, resourceIpIds: null });

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

/** What the first way that could be read shows. */
function foundBy(known: KnownRules, looks: readonly Look[]): Found | null {
  for (const { way, read } of looks) {
    if (read instanceof DriverError) continue;
    const drift = findDrift(known.rules, read.rules);
    return { access: way.access, read, drift, unmanagedDigest: digestOf(drift.unmanaged) };
  }
  return null;
}
