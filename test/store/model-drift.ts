import { deepEqual } from 'node:assert/strict';
import {
  ComparisonStore,
  type Access,
  type DueComparison,
  DriftStore,
  type Lease,
  LedgerStore,
  MissingTargetStore,
  type NamingResource,
  SettlementStore,
  UnmanagedStore,
} from '#engine-store';
import type { KnownRule } from '#rules';
import { byJson, byKey, type HistoryState, ORIGIN, READING, withoutId } from './model-state';

const comparisons = new ComparisonStore();
const drift = new DriftStore();
const unmanaged = new UnmanagedStore();
const missingTargets = new MissingTargetStore();
const settlements = new SettlementStore();
const ledger = new LedgerStore();

const DRIFT_KINDS = [
  'lost',
  'changed',
  'unmarked',
  'taken',
  'renamed',
  'stale',
  'observed',
  'unseen',
  'without effect',
  'effective',
  'as it was',
];
const UNMANAGED = [
  { key: '198.51.100.1/32 tcp 22', providerRuleId: 'sgr-x' },
  { key: '198.51.100.2/32 all *', providerRuleId: 'sgr-y' },
];

/** Comparisons with the cloud, on the model and on the database. */
export class DriftSteps {
  constructor(private readonly state: HistoryState) {}

  async compare(): Promise<void> {
    if (!this.state.lease) return;
    const { model, real } = this.state.lease;
    if (this.state.chance.happens(0.5)) {
      this.state.model.comparisons.schedule(this.state.targetId, 0, true);
      await this.state.both.real((tx) => comparisons.schedule(tx, this.state.targetId, 0, true));
    }
    await this.repair(model, real);
    await this.unmanaged();
    await this.miss(model, real);
    if (model.comparison && this.state.chance.happens(0.7)) await this.finish(model.comparison);
    if (this.state.chance.happens(0.5)) return;
    this.state.model.comparisons.postpone(this.state.targetId);
    await this.state.both.real((tx) => comparisons.postpone(tx, this.state.targetId));
  }

  private async finish(comparison: DueComparison): Promise<void> {
    const digest = this.state.chance.pick([null, 'digest', 'other']);
    const { reconcileDueAt } = this.state.both.tables.targets.get(this.state.targetId)!;
    const isSame = `${reconcileDueAt}` === comparison.againAt;
    this.state.model.comparisons.finish(this.state.targetId, comparison, digest, READING.startedAgoMs);
    await this.state.both.real(async (tx) => {
      // as the database has it by now: its moments are shifted before each transaction
      const [now] = await tx.query<{ againAt: string }[]>(
        'SELECT reconcile_due_at::text AS "againAt" FROM targets WHERE id = $1',
        [this.state.targetId],
      );
      const againAt = isSame ? now!.againAt : '-infinity';
      await comparisons.finish(
        tx,
        this.state.targetId,
        { ...comparison, againAt },
        digest,
        READING.startedAgoMs,
      );
    });
  }

  /** Random drift. */
  private async repair(model: Lease, real: Lease): Promise<void> {
    const known = this.state.model.comparisons.known(model);
    const reallyKnown = await this.state.both.real((tx) => comparisons.known(tx, real));
    const bare = (rule: KnownRule): object => ({ ...rule, ruleId: null });
    deepEqual(reallyKnown.rules.map(bare).toSorted(byKey), known.rules.map(bare).toSorted(byKey));
    deepEqual(reallyKnown.unmanagedDigest, known.unmanagedDigest);
    const kindOf = new Map(known.rules.map(({ key }) => [key, this.state.chance.pick(DRIFT_KINDS)]));
    const idsOf = (rules: readonly KnownRule[], kind: string): string[] =>
      rules.filter(({ key }) => kindOf.get(key) === kind).map(({ ruleId }) => ruleId);
    const access = this.state.anyAccess();
    const trail = this.state.anyTrail();
    const message = 'left alone';
    const { drift: store, settlements: notes, ledger: events } = this.state.model;
    const origin = { ...ORIGIN, credentialId: access.credentialId };
    const eventsOf = (rules: readonly KnownRule[]): Parameters<LedgerStore['record']>[1] =>
      rules.map(({ ruleId, key }) => ({
        kind: kindOf.get(key) === 'lost' ? 'MISSING' : 'UNMARKED',
        ruleId,
        cause: 'CHANGED_OUTSIDE',
        message: null,
        resourceIpIds: null,
      }));
    const repeated = this.state.chance.happens(0.3) ? 4 : 1;
    events.record(eventsOf(known.rules), READING.endedAgoMs, origin, trail);
    notes.noteOnIps(idsOf(known.rules, 'changed').map((ruleId) => ({ ruleId, message })));
    for (let time = 0; time < repeated; time += 1) {
      const lost = store.markMissing(idsOf(known.rules, 'lost'));
      store.suspendHolders(suspendedOf(lost), message);
      if (time + 1 < repeated)
        for (const { id } of lost) Object.assign(this.state.both.tables.rules.get(id)!, { state: 'present' });
    }
    store.suspendHolders(store.suspendPresent(idsOf(known.rules, 'without effect')), message);
    store.resume(idsOf(known.rules, 'effective'));
    store.noteUnobserved(idsOf(known.rules, 'unseen'));
    store.noteUnmarked(idsOf(known.rules, 'unmarked'));
    store.noteTaken(idsOf(known.rules, 'taken'));
    const renamed = (ruleId: string): { ruleId: string; providerRuleId: string } => ({
      ruleId,
      providerRuleId: 'sgr-new',
    });
    store.rename(idsOf(known.rules, 'renamed').map(renamed), READING.endedAgoMs);
    notes.renameIps(idsOf(known.rules, 'renamed'));
    store.makeStaleDue(idsOf(known.rules, 'stale'), access);
    const orphans = [{ key: '198.51.100.9/32 tcp 22', providerRuleId: 'sgr-orphan' }];
    const cause = this.state.chance.pick(['ORPHAN', 'MAKE_ROOM'] as const);
    const taken = store.takeOver(this.state.targetId, orphans, access, cause, READING.endedAgoMs);
    store.noteObserved(idsOf(known.rules, 'observed'), READING.endedAgoMs);
    await this.state.both.real(async (tx) => {
      const { rules } = reallyKnown;
      await ledger.record(tx, eventsOf(rules), READING.endedAgoMs, origin, trail);
      await drift.lockOwners(tx, idsOf(rules, 'lost'));
      await settlements.noteOnIps(
        tx,
        idsOf(rules, 'changed').map((ruleId) => ({ ruleId, message })),
      );
      for (let time = 0; time < repeated; time += 1) {
        const lost = await drift.markMissing(tx, idsOf(rules, 'lost'));
        await drift.suspendHolders(tx, suspendedOf(lost), message);
        if (time + 1 < repeated)
          await tx.query(`UPDATE rules SET state = 'present' WHERE id = ANY ($1::uuid[])`, [
            lost.map(({ id }) => id),
          ]);
      }
      const suspended = await drift.suspendPresent(tx, idsOf(rules, 'without effect'));
      await drift.suspendHolders(tx, suspended, message);
      await drift.resume(tx, idsOf(rules, 'effective'));
      await drift.noteUnobserved(tx, idsOf(rules, 'unseen'));
      await drift.noteUnmarked(tx, idsOf(rules, 'unmarked'));
      await drift.noteTaken(tx, idsOf(rules, 'taken'));
      await drift.rename(tx, idsOf(rules, 'renamed').map(renamed), READING.endedAgoMs);
      await settlements.renameIps(tx, idsOf(rules, 'renamed'));
      await drift.makeStaleDue(tx, idsOf(rules, 'stale'), access);
      const over = await drift.takeOver(tx, this.state.targetId, orphans, access, cause, READING.endedAgoMs);
      deepEqual(over.map(withoutId), taken.map(withoutId));
      await drift.noteObserved(tx, idsOf(rules, 'observed'), READING.endedAgoMs);
    });
  }

  /** Unmanaged rules appear and disappear. */
  private async unmanaged(): Promise<void> {
    const { unmanaged: store, ledger: events } = this.state.model;
    const rules = UNMANAGED.filter(() => this.state.chance.happens(0.5));
    const origin = { ...ORIGIN, credentialId: this.state.anyAccess().credentialId };
    const appears = this.state.chance.happens(0.6);
    const kind = appears ? ('FOUND' as const) : ('CLOSED' as const);
    const told = rules.map((rule) => ({ ...rule, kind }));
    const trail = this.state.anyTrail();
    const { endedAgoMs } = READING;
    if (appears) store.add(this.state.targetId, rules, endedAgoMs);
    events.recordUnmanaged(this.state.targetId, told, endedAgoMs, origin, trail);
    if (!appears) store.remove(this.state.targetId, rules);
    const left = store.seen(this.state.targetId);
    const really = await this.state.both.real(async (tx) => {
      if (appears) await unmanaged.add(tx, this.state.targetId, rules, endedAgoMs);
      await ledger.recordUnmanaged(tx, this.state.targetId, told, endedAgoMs, origin, trail);
      if (!appears) await unmanaged.remove(tx, this.state.targetId, rules);
      return unmanaged.seen(tx, this.state.targetId);
    });
    deepEqual(really.toSorted(byJson), left.toSorted(byJson));
  }

  /** The way leads to no object, or to one again. */
  private async miss(model: Lease, real: Lease): Promise<void> {
    const access = this.state.anyAccess();
    const missing = this.state.chance.happens(0.7);
    const noted = this.state.model.missingTargets.noteMissing(model, access, missing);
    deepEqual(
      await this.state.both.real((tx) => missingTargets.noteMissing(tx, real, access, missing)),
      noted,
    );
    if (!noted) return;
    const way = { access, resources: this.naming(access) };
    const present = this.state.model.missingTargets.presentRules(model, access);
    this.state.model.missingTargets.giveUpTarget(model, way, 'Given up');
    const report = [{ resources: way.resources, eventType: 'RECONCILE_FAILED' as const, message: 'gone' }];
    this.state.model.comparisons.report(report);
    await this.state.both.real(async (tx) => {
      deepEqual((await missingTargets.presentRules(tx, real, access)).length, present.length);
      await missingTargets.giveUpTarget(tx, real, way, 'Given up');
      await comparisons.report(tx, report);
    });
  }

  private naming({ credentialId }: Access): NamingResource[] {
    return [...this.state.both.tables.resources.values()]
      .filter((one) => one.targetId === this.state.targetId && one.credentialId === credentialId)
      .map(({ id, organizationId, name }) => ({ id, organizationId, name, lastOutcome: null }));
  }
}

const suspendedOf = (lost: readonly { readonly id: string; readonly isSuspended: boolean }[]): string[] =>
  lost.filter(({ isSuspended }) => isSuspended).map(({ id }) => id);
