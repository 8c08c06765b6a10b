import { DriverError, type ProviderDriver } from '#drivers';
import type { KnownRules, LedgerRow, EngineStore, AccessPath } from '#engine-store';
import { type Transactions, type Tx } from '#entities';
import {
  claimsOf,
  findDrift,
  givenUpMessage,
  recordedId,
  recordedKeysOf,
  RETRYABLE_KINDS,
  type RuleEvent,
  ruleLife,
  TARGET_GONE_MS,
} from '#rules';
import type { CloudAccessPort } from './cloud-access';
import { DriftRecorder, type ObservedDrift } from './drift-recorder';
import { reportsOf, type PathRead } from './drift-report';
import { LeaseLost, type HeldLease } from './held-lease';
import { TargetRows } from './target-rows';
import { age } from './provider-calls';
import type { Timing } from './timing';
import { judgeOrphans, NO_UNISSUED } from './unissued-orphans';
import { digestOf } from './unmanaged-rules';

/** Retry of a comparison after a retryable failure. */
const RETRY_SECONDS = 30;

/** Compares a whole target with the database, and makes drift due for repair by passes. */
export class Reconciler {
  private readonly recorder = new DriftRecorder(this.stores, this.timing, this.workerId);

  constructor(
    private readonly database: Transactions,
    private readonly stores: EngineStore,
    private readonly clouds: CloudAccessPort,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /**
   * Performs the due comparison. Call it under the lease, when no rules are due. Without drift it only schedules the next
   * comparison.
   * @returns the recorded events @throws LeaseLost
   */
  async reconcile(held: HeldLease, driver: ProviderDriver): Promise<LedgerRow[]> {
    const { comparisons } = this.stores;
    const { autocommit } = this.database;
    // the database before the target: changes between the two reads are not drift
    const known = await comparisons.readKnown(autocommit, held.lease);
    const reads: PathRead[] = [];
    for (const path of await comparisons.accessPaths(autocommit, held.lease)) {
      await held.ensureHeld();
      reads.push({ path, ...(await this.read(held, driver, path, known)) });
    }
    const observed = observedDrift(known, reads);
    await held.ensureHeld();
    const proven = reads.find(({ accountKey }) => accountKey !== undefined);
    const news = observed && held.newsOf(observed.read, proven?.accountKey);
    const events = await this.database.revocation(async (tx) => {
      if (news) await this.stores.leases.note(tx, held.lease, news);
      return this.write(tx, held, known, reads, observed);
    });
    held.noted = news ?? held.noted;
    return events;
  }

  private async write(
    tx: Tx,
    held: HeldLease,
    known: KnownRules,
    reads: readonly PathRead[],
    found: ObservedDrift | null,
  ): Promise<LedgerRow[]> {
    const { leases, comparisons } = this.stores;
    const { targetId } = held.lease;
    const comparison = held.lease.comparison!;
    if (!(await leases.lock(tx, held.lease))) throw new LeaseLost(targetId);
    const observed = found && (await withJudgedOrphans(tx, this.stores, targetId, found));
    const givenUp = await this.handleMissingTarget(tx, held, known, reads);
    const { lost, events } = observed
      ? await this.recorder.makeDue(tx, held.lease, known, observed)
      : { lost: [], events: [] };
    const startedAgoMs = observed ? age(this.timing, observed.read).startedAgoMs : 0;
    await comparisons.finish(tx, targetId, comparison, observed?.unmanagedDigest ?? null, startedAgoMs);
    await this.scheduleNext(tx, held, reads, comparison.requested);
    const suspended = lost.filter(({ isSuspended }) => isSuspended).length;
    await comparisons.report(tx, reportsOf(reads, known, observed, suspended, comparison.requested));
    return [...givenUp, ...events];
  }

  /** Records missing targets. The desired rules of a target that is missing for `TARGET_GONE_MS` are given up. */
  private async handleMissingTarget(
    tx: Tx,
    held: HeldLease,
    known: KnownRules,
    reads: readonly PathRead[],
  ): Promise<LedgerRow[]> {
    const events: LedgerRow[] = [];
    // who finds it proves that it exists, whatever others read
    const isFound = reads.some(({ read }) => !(read instanceof DriverError));
    for (const { path, read } of reads) {
      const isMissing = !isFound && read instanceof DriverError && read.kind === 'target-missing';
      const missing = isMissing ? read.message : null;
      if (missing === null && !known.rules.some(({ targetMissing }) => targetMissing)) continue;
      events.push(...(await this.noteMissing(tx, held, path, missing)));
    }
    return events;
  }

  /** @param missing what the provider says; null: the target is there */
  private async noteMissing(
    tx: Tx,
    { lease: { targetId } }: HeldLease,
    { access, resources }: AccessPath,
    missing: string | null,
  ): Promise<LedgerRow[]> {
    const { rules: store, comparisons } = this.stores;
    const live = await store.live(tx, targetId);
    const rows = new TargetRows(await store.lock(tx, targetId, live, missing === null ? [] : ['APPLIED']));
    const { now } = rows.loaded;
    const written = rows.loaded.rules.filter(
      (rule) =>
        rule.targetId === targetId &&
        rule.credentialId === access.credentialId &&
        rule.region === access.region,
    );
    const ids = written.map(({ id }) => id);
    rows.make(ids, (rule) => ruleLife.targetMissing(rule, missing !== null, now));
    const isGone = ids.some((id) => (rows.rule(id)!.targetMissingSince ?? now) <= now - TARGET_GONE_MS);
    let events: LedgerRow[] = [];
    if (missing !== null && isGone) {
      // passes give up the others
      const given: RuleEvent[] = [];
      rows.make(ids, (rule) => {
        const moved = ruleLife.givenUp(rule, missing, now);
        if (moved.event) given.push(moved.event);
        return moved.rule;
      });
      events = await this.recorder.record(tx, rows, given, access);
      giveUpAddresses(rows, resources, givenUpMessage(missing));
      await comparisons.deactivate(tx, resources);
    }
    await store.save(tx, rows.changed);
    return events;
  }

  /** Retries soon after a retryable failure, and postpones the comparison of an unreadable target. */
  private async scheduleNext(
    tx: Tx,
    held: HeldLease,
    reads: readonly PathRead[],
    requested: boolean,
  ): Promise<void> {
    const { comparisons } = this.stores;
    const { targetId } = held.lease;
    const failures = reads.flatMap(({ read }) => (read instanceof DriverError ? [read] : []));
    if (failures.some(({ kind }) => RETRYABLE_KINDS.has(kind)))
      await comparisons.schedule(tx, targetId, RETRY_SECONDS, requested);
    else if (failures.length === reads.length) await comparisons.postpone(tx, targetId);
  }

  private async read(
    held: HeldLease,
    driver: ProviderDriver,
    { access, isProven }: AccessPath,
    { rules }: KnownRules,
  ): Promise<Omit<PathRead, 'path'>> {
    const startedAt = this.timing.now();
    const recorded = rules.map((rule) => ({ key: rule.key, recordedId: recordedId(rule) }));
    try {
      const name = { ...held.targetName, ...access, isProven };
      const target = await this.clouds.open(name, claimsOf(rules), recordedKeysOf(recorded));
      const read = { ...(await driver.inspect(target)), startedAt, endedAt: this.timing.now() };
      return { read, ...(isProven && { accountKey: driver.accountKey(target) }) };
    } catch (error) {
      if (error instanceof DriverError) return { read: error };
      throw error;
    }
  }
}

/** The drift observed through the first readable access path; null when none is readable. */
function observedDrift(known: KnownRules, reads: readonly PathRead[]): ObservedDrift | null {
  for (const { path, read } of reads) {
    if (read instanceof DriverError) continue;
    const drift = findDrift(known.rules, read.rules);
    const unmanagedDigest = digestOf(drift.unmanaged);
    return { access: path.access, read, drift, unmanagedDigest, unissued: NO_UNISSUED };
  }
  return null;
}

async function withJudgedOrphans(
  tx: Tx,
  { comparisons }: EngineStore,
  targetId: string,
  observed: ObservedDrift,
): Promise<ObservedDrift> {
  const { drift, unissued } = await judgeOrphans(tx, comparisons, targetId, observed.drift);
  return { ...observed, drift, unissued, unmanagedDigest: digestOf(drift.unmanaged) };
}

/** The addresses of these resources wait for their rules again, and fail when the target stays missing. */
function giveUpAddresses(rows: TargetRows, resources: AccessPath['resources'], givenUp: string): void {
  const ids = new Set(resources.map(({ id }) => id));
  for (const { id, resourceId, status } of rows.loaded.addresses)
    if (ids.has(resourceId) && status === 'APPLIED')
      rows.change(id, { status: 'PENDING', pendingSince: rows.loaded.now, givenUp });
}
