import { deepEqual } from 'node:assert/strict';
import {
  ComparisonStore,
  type DueComparison,
  DriftStore,
  type Lease,
  LedgerStore,
  type LockedRules,
  MissingTargetStore,
  type NamingResource,
  RuleStore,
  SettlementStore,
  UnmanagedStore,
} from '#engine-store';
import { ruleLife, type Access, type KnownRule, type Rule } from '#rules';
import { byJson, byKey, type HistoryState, ORIGIN, READING, withoutId } from './model-state';

const comparisons = new ComparisonStore();
const drift = new DriftStore();
const unmanaged = new UnmanagedStore();
const missingTargets = new MissingTargetStore();
const settlements = new SettlementStore();
const ledger = new LedgerStore();
const ruleStore = new RuleStore();

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
    await this.miss();
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
    events.record(eventsOf(known.rules), READING.endedAgoMs, origin);
    notes.noteOnIps(idsOf(known.rules, 'changed').map((ruleId) => ({ ruleId, message })));
    const moves = (
      locked: LockedRules,
      all: readonly KnownRule[],
    ): { saved: Rule[]; suspended: string[] } => {
      const kinds = new Map(all.map(({ ruleId, key }) => [ruleId, kindOf.get(key)!]));
      const saved = locked.rules.map((rule) => drifted(rule, kinds.get(rule.id)!, access, locked, repeated));
      const suspended = saved.filter(({ isSuspended }, at) => isSuspended && !locked.rules[at]!.isSuspended);
      return { saved, suspended: suspended.map(({ id }) => id) };
    };
    const idsAll = (all: readonly KnownRule[]): string[] => all.map(({ ruleId }) => ruleId);
    const modelMoves = moves(
      this.state.model.rules.lock(this.state.targetId, idsAll(known.rules)),
      known.rules,
    );
    this.state.model.rules.save(modelMoves.saved);
    store.suspendHolders(modelMoves.suspended, message);
    notes.renameIps(idsOf(known.rules, 'renamed'));
    const orphans = [{ key: '198.51.100.9/32 tcp 22', providerRuleId: 'sgr-orphan' }];
    const cause = this.state.chance.pick(['ORPHAN', 'MAKE_ROOM'] as const);
    const taken = store.takeOver(this.state.targetId, orphans, access, cause, READING.endedAgoMs);
    await this.state.both.real(async (tx) => {
      const { rules } = reallyKnown;
      await ledger.record(tx, eventsOf(rules), READING.endedAgoMs, origin);
      await drift.lockOwners(tx, idsOf(rules, 'lost'));
      await settlements.noteOnIps(
        tx,
        idsOf(rules, 'changed').map((ruleId) => ({ ruleId, message })),
      );
      const { saved, suspended } = moves(await ruleStore.lock(tx, this.state.targetId, idsAll(rules)), rules);
      await ruleStore.save(tx, saved);
      await drift.suspendHolders(tx, suspended, message);
      await settlements.renameIps(tx, idsOf(rules, 'renamed'));
      const over = await drift.takeOver(tx, this.state.targetId, orphans, access, cause, READING.endedAgoMs);
      deepEqual(over.map(withoutId), taken.map(withoutId));
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
    const { endedAgoMs } = READING;
    if (appears) store.add(this.state.targetId, rules, endedAgoMs);
    events.recordUnmanaged(this.state.targetId, told, endedAgoMs, origin);
    if (!appears) store.remove(this.state.targetId, rules);
    const left = store.seen(this.state.targetId);
    const really = await this.state.both.real(async (tx) => {
      if (appears) await unmanaged.add(tx, this.state.targetId, rules, endedAgoMs);
      await ledger.recordUnmanaged(tx, this.state.targetId, told, endedAgoMs, origin);
      if (!appears) await unmanaged.remove(tx, this.state.targetId, rules);
      return unmanaged.seen(tx, this.state.targetId);
    });
    deepEqual(really.toSorted(byJson), left.toSorted(byJson));
  }

  /** The way leads to no object, or to one again. */
  private async miss(): Promise<void> {
    const access = this.state.anyAccess();
    const missing = this.state.chance.happens(0.7);
    const isGivenUp = missing && this.state.chance.happens(0.3);
    const moves = ({ rules, now }: LockedRules): Rule[] =>
      rules.map((rule) => {
        const noted = ruleLife.targetMissing(rule, missing, now);
        return isGivenUp ? ruleLife.givenUp(noted, now) : noted;
      });
    const { rules, missingTargets: targets } = this.state.model;
    rules.save(moves(rules.lockAll(this.state.targetId)));
    await this.state.both.real(async (tx) =>
      ruleStore.save(tx, moves(await ruleStore.lockAll(tx, this.state.targetId))),
    );
    if (!isGivenUp) return;
    const resources = this.naming(access);
    const report = [{ resources, eventType: 'RECONCILE_FAILED' as const, message: 'gone' }];
    targets.giveUp(resources, 'Given up');
    this.state.model.comparisons.report(report);
    await this.state.both.real(async (tx) => {
      await missingTargets.lockOwners(tx, resources);
      await missingTargets.giveUp(tx, resources, 'Given up');
      await comparisons.report(tx, report);
    });
  }

  private naming({ credentialId }: Access): NamingResource[] {
    return [...this.state.both.tables.resources.values()]
      .filter((one) => one.targetId === this.state.targetId && one.credentialId === credentialId)
      .map(({ id, organizationId, name }) => ({ id, organizationId, name, lastOutcome: null }));
  }
}

/** The move of a rule that drifted in this way. */
function drifted(rule: Rule, kind: string, access: Access, times: LockedRules, repeated: number): Rule {
  const { now, readAt } = times;
  switch (kind) {
    case 'lost':
      return Array.from({ length: repeated }).reduce<Rule>(
        (last) => ruleLife.lost({ ...last, state: rule.state }, now),
        rule,
      );
    case 'without effect':
      return ruleLife.withoutEffect(rule, now);
    case 'effective':
      return ruleLife.effective(rule, now);
    case 'unseen':
      return ruleLife.unobserved(rule, times);
    case 'unmarked':
      return ruleLife.unmarked(rule);
    case 'taken':
      return ruleLife.taken(rule, now);
    case 'renamed':
      return ruleLife.renamed(rule, 'sgr-new', readAt - READING.endedAgoMs);
    case 'stale':
      return ruleLife.stale(rule, access, now);
    case 'observed':
      return ruleLife.firstObserved(rule, readAt - READING.endedAgoMs);
    default:
      return rule;
  }
}
