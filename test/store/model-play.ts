import { deepEqual } from 'node:assert/strict';
import {
  type Access,
  ConvergenceStore,
  type DueComparison,
  type DueRuleRow,
  type Lease,
  LeaseStore,
  type NamingResource,
  type NewHolder,
  ComparisonStore,
  DriftStore,
  MissingTargetStore,
  UnmanagedStore,
  LedgerStore,
  OverdueStore,
  type RuleSettlement,
  SettlementOwnersStore,
  SettlementStore,
  SweeperLeaseStore,
  SweepStore,
  WriteBudgetStore,
} from '#engine-store';
import { settle, type Remark } from '#engine';
import type { AuditEntry, Trail, Tx } from '#entities';
import { ResourceRulesStore, SessionStore, StaticIpRuleStore } from '#tenant-store';
import { ruleSpecs, type KnownRule, type OrganizationId, type RuleState, type SlotUse } from '#rules';
import type { Chance } from '../simulation/chance';
import { ModelConvergence } from '../simulation/model/convergence';
import { ModelBudgets, ModelLeases, ModelSweeperLease } from '../simulation/model/leases';
import { ModelLedger } from '../simulation/model/ledger';
import { connectModel, type ModelStores } from '../simulation/model/model-database';
import { ModelOverdue } from '../simulation/model/overdue';
import { ModelComparisons } from '../simulation/model/comparison';
import { ModelDrift } from '../simulation/model/drift';
import { ModelMissingTargets } from '../simulation/model/missing-target';
import { ModelUnmanaged } from '../simulation/model/unmanaged';
import { ModelSettlementOwners } from '../simulation/model/settlement-owners';
import { ModelRequests } from '../simulation/model/requests';
import { ModelSettlements } from '../simulation/model/settlement';
import { ModelSweep } from '../simulation/model/sweep';
import type { Both } from './model-both';
import type { Furnished } from './model-furniture';
import { modelRows, realRows } from './model-rows';

const ADDRESSES = ['203.0.113.1', '203.0.113.2'];
const STATES: readonly (RuleState | null)[] = ['absent', 'unknown', 'present', 'present', null];
const AUDIT: AuditEntry = {
  actorType: 'SYSTEM',
  actorId: null,
  actorEmail: null,
  ipAddress: null,
  eventType: 'SESSION_STARTED',
  resourceType: 'SESSION',
  resourceId: null,
  resourceName: null,
};

const leases = new LeaseStore();
const convergence = new ConvergenceStore();
const settlements = new SettlementStore();
const sweep = new SweepStore();
const sessions = new SessionStore();
const owners = new SettlementOwnersStore();
const comparisons = new ComparisonStore();
const drift = new DriftStore();
const unmanaged = new UnmanagedStore();
const missingTargets = new MissingTargetStore();
const statics = new StaticIpRuleStore();
const budgets = new WriteBudgetStore();
const ledger = new LedgerStore();
const sweeperLease = new SweeperLeaseStore();
const overdue = new OverdueStore();
const resourceRules = new ResourceRulesStore();
const SETTLE_STORES = { leases, settlements, owners, ledger };
/** How old what was read is; apart from every step of the clock. */
const READING = { startedAgoMs: 510, firstStartedAgoMs: 715, endedAgoMs: 305 };
const DRIFT_KINDS = [
  'lost',
  'changed',
  'unmarked',
  'taken',
  'renamed',
  'stale',
  'observed',
  'unseen',
  'as it was',
];
const UNMANAGED = [
  { key: '198.51.100.1/32 tcp 22', providerRuleId: 'sgr-x' },
  { key: '198.51.100.2/32 all *', providerRuleId: 'sgr-y' },
];
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';
/** What each history begins without. */
const EMPTIED = [
  'rule_holders',
  'sessions',
  'static_ip_rules',
  'rules',
  'write_budgets',
  'unmanaged_rules',
  'sweeper_lease',
  'resource_health_events',
  'unwritten_audit_records',
  'unwritten_rule_events',
];
const ORIGIN = { workerId: 'worker', passId: '00000000-0000-4000-8000-0000000000aa' };
/** One after the other at once: the play itself decides what comes when. */
const CONNECTION = {
  ask: <Answer>(_: string, work: () => Answer): Promise<Awaited<Answer>> => Promise.resolve(work()),
};

interface Furniture {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly targetId: string;
  readonly credentialId: string;
  readonly port: number;
  readonly name: string;
  readonly writeVerified: boolean;
}

/** Plays the same calls on both, and compares what they answer. */
export class Play {
  private targetId = '';
  private auditedFrom = '0';
  private readonly model: {
    leases: ModelLeases;
    convergence: ModelConvergence;
    settlements: ModelSettlements;
    sweep: ModelSweep;
    requests: ModelRequests;
    owners: ModelSettlementOwners;
    comparisons: ModelComparisons;
    drift: ModelDrift;
    unmanaged: ModelUnmanaged;
    missingTargets: ModelMissingTargets;
    budgets: ModelBudgets;
    ledger: ModelLedger;
    sweeperLease: ModelSweeperLease;
    overdue: ModelOverdue;
  };
  /** the model's stores as the engine is given them */
  private readonly stores: ModelStores;
  private lease: { model: Lease; real: Lease } | null = null;

  constructor(
    private readonly both: Both,
    private readonly chance: Chance,
    private readonly given: Furnished,
  ) {
    const { tables } = both;
    this.model = {
      leases: new ModelLeases(tables),
      convergence: new ModelConvergence(tables),
      settlements: new ModelSettlements(tables),
      sweep: new ModelSweep(tables),
      requests: new ModelRequests(tables),
      owners: new ModelSettlementOwners(tables),
      comparisons: new ModelComparisons(tables),
      drift: new ModelDrift(tables),
      unmanaged: new ModelUnmanaged(tables),
      missingTargets: new ModelMissingTargets(tables),
      budgets: new ModelBudgets(tables),
      ledger: new ModelLedger(tables),
      sweeperLease: new ModelSweeperLease(tables),
      overdue: new ModelOverdue(tables),
    };
    this.stores = connectModel(tables, CONNECTION, { took: () => undefined, due: () => undefined });
  }

  async begin(tx: Tx): Promise<void> {
    for (const table of EMPTIED) await tx.query(`DELETE FROM ${table}`);
    await tx.query('TRUNCATE rule_events');
    const [last] = await tx.query<{ sequence: string }[]>(
      'SELECT coalesce(max(sequence), 0) AS sequence FROM audit_records',
    );
    this.auditedFrom = last!.sequence;
    await tx.query('UPDATE credentials SET denied_until = NULL, denials = 0');
    for (const { id, targetId, credentialId } of this.given.places)
      await tx.query(
        `UPDATE resources SET is_active = true, write_verified = name <> 'c', target_id = $2, credential_id = $3 WHERE id = $1`,
        [id, targetId, credentialId],
      );
    const resources = await tx.query<Furniture[]>(
      `SELECT id, organization_id AS "organizationId", target_id AS "targetId", credential_id AS "credentialId",
         name, write_verified AS "writeVerified", (config->>'port')::int AS port FROM resources ORDER BY name`,
    );
    this.targetId = resources[0]!.targetId;
    for (const resource of resources) this.place(resource);
    await this.both.real((first) =>
      first.query(
        `UPDATE targets SET lease_until = NULL, lease_generation = 0, last_write_at = NULL, last_write_size = 0,
           in_flight_until = NULL, reconcile_due_at = now() + interval '10 minutes', reconcile_requested = false,
           compared_at = NULL, unmanaged_digest = NULL`,
      ),
    );
  }

  private place({ id, organizationId, targetId, credentialId, port, name, writeVerified }: Furniture): void {
    const { credentials, resources, targets } = this.both.tables;
    credentials.set(credentialId, { organizationId, deniedUntil: null, denials: 0 });
    resources.set(id, {
      id,
      organizationId,
      name,
      writeVerified,
      credentialId,
      targetId,
      config: { port },
      region: null,
      isActive: true,
      revision: 0,
      deletedAt: null,
    });
    targets.set(targetId, {
      id: targetId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      identifier: 'any',
      leaseUntil: null,
      leaseGeneration: 0,
      lastWriteAt: null,
      lastWriteSize: 0,
      inFlightUntil: null,
      reconcileDueAt: 600_000,
      reconcileRequested: false,
      comparedAt: null,
      unmanagedDigest: null,
      accountedTo: NO_ORGANIZATION,
    });
  }

  /** What the model holds now. */
  modelRows(): ReturnType<typeof modelRows> {
    return modelRows(this.both.tables, (id) => this.both.ids.get(id) ?? id);
  }

  realRows(): Promise<ReturnType<typeof modelRows>> {
    return this.both.real((tx) => realRows(tx, this.auditedFrom));
  }

  async step(): Promise<void> {
    const dice = this.chance.next();
    if (dice < 0.18) await this.start();
    else if (dice < 0.22) await this.createStatic();
    else if (dice < 0.25) await this.deleteStatic();
    else if (dice < 0.35) await this.stop();
    else if (dice < 0.43) await this.extend();
    else if (dice < 0.5) await this.expire();
    else if (dice < 0.6) await this.take();
    else if (dice < 0.86) await this.look();
    else if (dice < 0.89) await this.move();
    else if (dice < 0.93) await this.drift();
    else if (dice < 0.95) await this.sweepRole();
    else if (dice < 0.97) await this.spend();
    else if (dice < 0.99) await this.sweepTargets();
    else await this.purge();
  }

  private real(id: string): string {
    return this.both.ids.get(id)!;
  }

  private async start(): Promise<void> {
    const { organizationId, userIds, resourceIds } = this.given;
    const asked = {
      organizationId,
      userId: this.chance.pick(userIds),
      holder: '',
      ipv4Address: this.chance.pick(ADDRESSES),
      hours: this.chance.whole(1, 2),
    };
    const some = resourceIds.filter(() => this.chance.happens(0.6));
    const chosen = some.length > 0 ? some : [resourceIds[0]!];
    const modelled = this.model.requests.start({ ...asked, resourceIds: chosen });
    const openings = chosen.map((id): NewHolder => {
      const { targetId, config } = this.both.tables.resources.get(id)!;
      const specs = ruleSpecs(`${asked.ipv4Address}/32`, config, 'one');
      return { resourceId: id, revision: 0, targetId, ipVersion: 4, ipAddress: asked.ipv4Address, specs };
    });
    const id = `00000000-0000-4000-9000-${this.both.ids.size.toString(16).padStart(12, '0')}`;
    const limits = { perUser: 0, perServiceUser: 0 };
    const session = { ...asked, id, ipv6Address: null, openings, limits };
    const started = await this.both.real(async (tx) => {
      await tx.query('SAVEPOINT before_start');
      const answer = await sessions.start(tx, organizationId, session, AUDIT);
      if (answer === 'taken') await tx.query('ROLLBACK TO SAVEPOINT before_start');
      return answer;
    });
    deepEqual(started === 'taken', modelled === 'taken');
    if (modelled !== 'taken') this.both.ids.set(modelled.id, id);
  }

  private async createStatic(): Promise<void> {
    const { organizationId, resourceIds } = this.given;
    const ipAddress = this.chance.pick(ADDRESSES);
    const modelled = this.model.requests.createStatic(organizationId, ipAddress, resourceIds);
    const entries = resourceIds.map((resourceId) => {
      const { targetId, config } = this.both.tables.resources.get(resourceId)!;
      return {
        resourceId,
        resourceName: this.both.tables.resources.get(resourceId)!.name,
        targetId,
        specs: ruleSpecs(`${ipAddress}/32`, config, 'one'),
      };
    });
    const id = await this.both.real(async (tx) => {
      const created = await statics.create(tx, organizationId, {
        label: 'fixed',
        ipAddress,
        createdByEmail: 'a@example.org',
      });
      await statics.open(tx, organizationId, { id: created, ipVersion: 4, ipAddress }, entries);
      return created;
    });
    this.both.ids.set(modelled.id, id);
  }

  private async deleteStatic(): Promise<void> {
    const living = [...this.both.tables.staticIpRules.values()].filter((rule) => rule.deletedAt === null);
    if (living.length === 0) return;
    const { organizationId, resourceIds } = this.given;
    const { id } = this.chance.pick(living);
    const some = resourceIds.filter(() => this.chance.happens(0.7));
    const whole = some.length === resourceIds.length;
    this.model.requests.releaseStatic(id, some);
    if (whole) this.model.requests.deleteStatic(id);
    await this.both.real(async (tx) => {
      await statics.release(tx, organizationId, this.real(id), some, 'STATIC_RULE_DELETED');
      if (whole) await statics.delete(tx, organizationId, this.real(id));
    });
  }

  private async purge(): Promise<void> {
    this.model.sweep.purge(1000);
    this.model.sweep.bringForward();
    await this.both.real(async (tx) => {
      await sweep.purge(tx, 1000);
      await sweep.bringForward(tx);
    });
  }

  /** A resource names another target, or takes another way to it. */
  private async move(): Promise<void> {
    const { organizationId, resourceIds } = this.given;
    const { resources, credentials, targets } = this.both.tables;
    const own = [...credentials].filter(([, credential]) => credential.organizationId === organizationId);
    const id = this.chance.pick(resourceIds);
    const { targetId: from, credentialId: way, config } = resources.get(id)!;
    const [credentialId, targetId] = [this.chance.pick(own)[0], this.chance.pick([...targets.keys()])];
    this.model.requests.move(id, { targetId, credentialId, region: null });
    await this.both.real(async (tx) => {
      await tx.query('UPDATE resources SET target_id = $2, credential_id = $3 WHERE id = $1', [
        id,
        targetId,
        credentialId,
      ]);
      const holding = await resourceRules.holding(tx, organizationId, id);
      const wants = holding.map((ip) => ({
        resourceIpId: ip.id,
        targetId,
        specs: ruleSpecs(`${ip.ipAddress}/32`, config, 'one'),
      }));
      const cause = targetId === from ? 'CONFIG_CHANGED' : 'RESOURCE_MOVED';
      await resourceRules.rehold(tx, organizationId, id, wants, way !== credentialId, cause);
    });
  }

  private async sweepRole(): Promise<void> {
    const workerId = this.chance.pick(['one', 'two']);
    if (this.chance.happens(0.1)) {
      this.model.sweeperLease.release(workerId);
      await this.both.real((tx) => sweeperLease.release(tx, workerId));
    }
    const role = this.model.sweeperLease.take(workerId, 3);
    deepEqual(await this.both.real((tx) => sweeperLease.take(tx, workerId, 3)), role);
    const count = this.model.overdue.recordOverdue(45, 100);
    deepEqual(await this.both.real((tx) => overdue.recordOverdue(tx, 45, 100)), count);
  }

  private someSession(): string | null {
    const ids = [...this.both.tables.sessions.keys()];
    return ids.length === 0 ? null : this.chance.pick(ids);
  }

  private async stop(): Promise<void> {
    const id = this.someSession();
    if (id === null) return;
    const modelled = this.model.requests.stop(id, 'MANUAL');
    const stopped = await this.both.real((tx) =>
      sessions.stop(tx, this.given.organizationId, this.real(id), 'MANUAL', AUDIT, 'audit_records'),
    );
    deepEqual(stopped === null, modelled === null);
  }

  private async extend(): Promise<void> {
    const id = this.someSession();
    if (id === null) return;
    const modelled = this.model.requests.extend(id, 1, 3);
    const extended = await this.both.real((tx) =>
      sessions.extend(tx, this.given.organizationId, this.real(id), 1, 3, AUDIT),
    );
    deepEqual(extended, modelled);
  }

  private async expire(): Promise<void> {
    if (this.chance.happens(0.5)) this.both.now += 3_700_000;
    const next = await this.both.real((tx) => sweep.untilNextEnd(tx));
    deepEqual(next && Math.round(next), this.model.sweep.untilNextEnd());
    const modelled = this.model.sweep.expireSessions(1000);
    const expired = await this.both.real((tx) => sweep.expireSessions(tx, 1000));
    const comparable = ({ count, targets }: typeof modelled): object => ({
      count,
      targets: targets.flatMap(({ targetIds }) => targetIds).toSorted(),
    });
    deepEqual(comparable(expired), comparable(modelled));
  }

  private async take(): Promise<void> {
    const compares = this.chance.happens(0.5);
    const model = this.model.leases.take(this.targetId, 10, compares);
    const real = await this.both.real((tx) => leases.take(tx, this.targetId, 10, compares));
    const comparable = (lease: Lease | null): object | null =>
      lease && {
        ...lease,
        resourceType: null,
        identifier: null,
        sinceLastWriteMs: Math.round(lease.sinceLastWriteMs ?? -1),
        comparison: lease.comparison && { requested: lease.comparison.requested },
      };
    deepEqual(comparable(real), comparable(model));
    if (model && real) this.lease = { model, real };
  }

  private async sweepTargets(): Promise<void> {
    const { sweep: model } = this.model;
    const all = await this.both.real((tx) => sweep.waitingTargets(tx, 9, 9));
    deepEqual(all.map(plain).toSorted(byJson), model.waitingTargets(9, 9).map(plain).toSorted(byJson));
    // which one of two that became due in one moment comes first is arbitrary
    const [perOrganization, limit] = [this.chance.whole(1, 2), this.chance.whole(2, 3)];
    const some = await this.both.real((tx) => sweep.waitingTargets(tx, perOrganization, limit));
    const known = new Set(all.map(({ targetId }) => targetId));
    deepEqual(some.length > 0, all.length > 0);
    deepEqual(some.length <= limit && some.every(({ targetId }) => known.has(targetId)), true);
    for (const id of this.both.tables.targets.keys())
      deepEqual(await this.both.real((tx) => sweep.waitingTarget(tx, id)), model.waitingTarget(id));
  }

  private async spend(): Promise<void> {
    const { budgets: model } = this.model;
    const budget = { burst: 8, refillPerSecond: 2 };
    const [calls, reserve] = [this.chance.whole(1, 4), this.chance.whole(0, 1)];
    if (this.chance.happens(0.3)) {
      model.give('account', budget, calls);
      await this.both.real((tx) => budgets.give(tx, 'account', budget, calls));
    }
    const taken = model.take('account', budget, calls, reserve);
    deepEqual(await this.both.real((tx) => budgets.take(tx, 'account', budget, calls, reserve)), taken);
  }

  /** What a convergence does, with the cloud's answers made up. */
  private async look(): Promise<void> {
    if (!this.lease || this.chance.happens(0.3)) await this.take();
    if (!this.lease) return;
    const { model, real } = this.lease;
    const modelDue = this.model.convergence.due(model, 500);
    const realDue = await this.both.real((tx) => convergence.due(tx, real, 500));
    deepEqual(
      realDue.map((row) => this.comparable(row)).toSorted(byKey),
      modelDue.map((row) => this.comparable(row)).toSorted(byKey),
    );
    const since = new Map(
      realDue.flatMap(waitingOf).map((ip) => [ip.resourceIpId, this.both.moment(ip.pendingSince)]),
    );
    const pairs = modelDue
      .filter(() => this.chance.happens(0.8))
      .map((row) => ({ model: row, real: realDue.find(({ key }) => key === row.key)! }));
    if (pairs.length === 0) return;
    const standing = this.model.convergence.standing(model);
    const reallyStanding = await this.both.real((tx) => convergence.standing(tx, real));
    deepEqual(reallyStanding.map(withoutId).toSorted(byKey), standing.map(withoutId).toSorted(byKey));
    const access = this.way();
    if (this.chance.happens(0.1)) {
      const [pair] = pairs;
      this.model.convergence.putOff(pair!.model, 'later', 3.3);
      await this.both.real((tx) => convergence.putOff(tx, pair!.real, 'later', 3.3));
    }
    if (this.chance.happens(0.7)) {
      const split = (side: 'model' | 'real'): { additions: string[]; removals: string[] } => ({
        additions: pairs.filter((pair) => pair.model.desired).map((pair) => pair[side].ruleId),
        removals: pairs.filter((pair) => !pair.model.desired).map((pair) => pair[side].ruleId),
      });
      const wholeList = this.chance.happens(0.3);
      const noted = this.model.convergence.recordIntent(model, { ...split('model'), access, wholeList }, 10);
      const reallyNoted = await this.both.real((tx) =>
        convergence.recordIntent(tx, real, { ...split('real'), access, wholeList }, 10),
      );
      deepEqual(reallyNoted && typeof reallyNoted.inDoubtUntil, noted && typeof noted.inDoubtUntil);
      deepEqual(reallyNoted?.ruleIds.length, noted?.ruleIds.length);
      if (noted?.inDoubtUntil === null && wholeList && this.chance.happens(0.5)) {
        this.model.convergence.heard(model, noted);
        await this.both.real((tx) => convergence.heard(tx, real, reallyNoted!));
      }
    }
    if (this.chance.happens(0.3)) await this.step();
    if (this.chance.happens(0.1)) {
      this.model.convergence.lookAgain(
        model,
        pairs.map((pair) => pair.model.ruleId),
      );
      await this.both.real((tx) =>
        convergence.lookAgain(
          tx,
          real,
          pairs.map((pair) => pair.real.ruleId),
        ),
      );
    }
    if (this.chance.happens(0.2)) {
      const isDenied = this.chance.happens(0.6);
      this.model.convergence.noteDenial(access, isDenied);
      await this.both.real((tx) => convergence.noteDenial(tx, access, isDenied));
    }
    const found = pairs.map((pair) => ({ pair, settled: this.madeUp(pair.model) }));
    const isRead = this.chance.happens(0.8);
    const trail = this.trail();
    const way = this.chance.happens(0.9) ? access : null;
    const whole = {
      access: way,
      reading: isRead ? () => READING : null,
      giveUpSeconds: 300,
      together: this.chance.happens(0.3),
    };
    const remarks = new Map(found.map(({ pair }) => [pair.model.key, this.remark()]));
    const remarksOf = (side: 'model' | 'real'): Map<string, Remark> =>
      new Map(found.map(({ pair }) => [pair[side].ruleId, remarks.get(pair.model.key)!]));
    const origin = { ...ORIGIN, credentialId: way?.credentialId ?? null };
    const waitingModel = pairs.flatMap((pair) => waitingOf(pair.model));
    const waitingReal = pairs
      .flatMap((pair) => waitingOf(pair.real))
      .map(({ resourceIpId }) => ({ resourceIpId, since: since.get(resourceIpId)! }));
    const settledModel = await this.stores.database.transaction((tx) =>
      settle(
        tx,
        this.stores,
        model,
        {
          ...whole,
          waiting: waitingModel,
          rules: found.map(({ settled }) => settled),
          remarks: remarksOf('model'),
        },
        origin,
        trail,
      ),
    );
    const settledReal = await this.both.real(async (tx) =>
      settle(
        tx,
        SETTLE_STORES,
        real,
        {
          ...whole,
          waiting: await this.stillWaiting(tx, waitingReal),
          rules: found.map(({ pair, settled }) => ({ ...settled, ruleId: pair.real.ruleId })),
          remarks: remarksOf('real'),
        },
        origin,
        trail,
      ),
    );
    deepEqual(settledReal?.latenessSeconds.length, settledModel?.latenessSeconds.length);
    deepEqual(settledReal?.events.length, settledModel?.events.length);
  }

  private remark(): Remark {
    return this.chance.pick<Remark>([
      {},
      {},
      { refusal: 'the cloud said never' },
      { changedTo: '198.51.100.1/32 tcp 1' },
      { note: 'by the clock' },
    ]);
  }

  /** As the database has it by now: its moments are shifted before each transaction. */
  private async stillWaiting(tx: Tx, waiting: readonly Since[]): Promise<Waiting> {
    const rows = await tx.query<{ id: string; text: string; fromNow: number }[]>(
      `SELECT id, pending_since::text AS text,
         extract(epoch FROM pending_since - now())::float8 * 1000 AS "fromNow" FROM resource_ips`,
    );
    return waiting.map(({ resourceIpId, since }) => {
      const { text, fromNow } = rows.find(({ id }) => id === resourceIpId)!;
      const isSame = Math.abs(fromNow + this.both.now - since) < 50;
      return { resourceIpId, pendingSince: isSame ? text : '-infinity' };
    });
  }

  private trail(): Trail {
    return this.chance.pick(['audit_records', 'unwritten_audit_records']);
  }

  private madeUp(row: DueRuleRow): RuleSettlement {
    const state = this.chance.pick(STATES);
    const isUnmanaged = state === null ? null : this.chance.happens(0.1);
    return {
      ruleId: row.ruleId,
      revision: row.revision,
      state,
      stands: state === 'present' || (state === null && this.chance.happens(0.3)),
      stoodBefore: this.chance.happens(0.3),
      providerRuleId: state === 'present' ? `sgr-${row.key}` : null,
      isUnmanaged,
      isUnmarked: this.chance.pick([null, true, false]),
      attempts: this.chance.whole(0, 3),
      dueInMs: this.chance.pick([null, 0, 700, 20_000]),
      inFlight: this.chance.happens(0.3),
      message: this.chance.pick([null, 'the cloud said no']),
      targetMissing: this.chance.pick([null, true, false]),
      failed: row.desired && this.chance.happens(0.15),
      unwanted: row.desired ? null : row.removeCause,
      addCause: row.addCause,
      adopt: this.chance.happens(0.2) ? this.way() : null,
    };
  }

  private async drift(): Promise<void> {
    if (!this.lease) return;
    const { model, real } = this.lease;
    if (this.chance.happens(0.5)) {
      this.model.comparisons.ask(this.targetId, 0, true);
      await this.both.real((tx) => comparisons.ask(tx, this.targetId, 0, true));
    }
    await this.mend(model, real);
    await this.unmanaged();
    await this.miss(model, real);
    if (model.comparison && this.chance.happens(0.7)) await this.finish(model.comparison);
    if (this.chance.happens(0.5)) return;
    this.model.comparisons.putOff(this.targetId);
    await this.both.real((tx) => comparisons.putOff(tx, this.targetId));
  }

  private async finish(comparison: DueComparison): Promise<void> {
    const digest = this.chance.pick([null, 'digest', 'other']);
    const { reconcileDueAt } = this.both.tables.targets.get(this.targetId)!;
    const isSame = `${reconcileDueAt}` === comparison.againAt;
    this.model.comparisons.finish(this.targetId, comparison, digest, READING.startedAgoMs);
    await this.both.real(async (tx) => {
      // as the database has it by now: its moments are shifted before each transaction
      const [now] = await tx.query<{ againAt: string }[]>(
        'SELECT reconcile_due_at::text AS "againAt" FROM targets WHERE id = $1',
        [this.targetId],
      );
      const againAt = isSame ? now!.againAt : '-infinity';
      await comparisons.finish(tx, this.targetId, { ...comparison, againAt }, digest, READING.startedAgoMs);
    });
  }

  /** Drift that is made up. */
  private async mend(model: Lease, real: Lease): Promise<void> {
    const known = this.model.comparisons.known(model);
    const reallyKnown = await this.both.real((tx) => comparisons.known(tx, real));
    const bare = (rule: KnownRule): object => ({ ...rule, ruleId: null });
    deepEqual(reallyKnown.rules.map(bare).toSorted(byKey), known.rules.map(bare).toSorted(byKey));
    deepEqual(reallyKnown.unmanagedDigest, known.unmanagedDigest);
    const kindOf = new Map(known.rules.map(({ key }) => [key, this.chance.pick(DRIFT_KINDS)]));
    const idsOf = (rules: readonly KnownRule[], kind: string): string[] =>
      rules.filter(({ key }) => kindOf.get(key) === kind).map(({ ruleId }) => ruleId);
    const access = this.way();
    const trail = this.trail();
    const message = 'left alone';
    const { drift: store, settlements: notes, ledger: events } = this.model;
    const origin = { ...ORIGIN, credentialId: access.credentialId };
    const eventsOf = (rules: readonly KnownRule[]): Parameters<LedgerStore['record']>[1] =>
      rules.map(({ ruleId, key }) => ({
        kind: kindOf.get(key) === 'lost' ? 'MISSING' : 'UNMARKED',
        ruleId,
        cause: 'CHANGED_OUTSIDE',
        message: null,
        resourceIpIds: null,
      }));
    const repeated = this.chance.happens(0.3) ? 4 : 1;
    events.record(eventsOf(known.rules), READING.endedAgoMs, origin, trail);
    notes.noteOnIps(idsOf(known.rules, 'changed').map((ruleId) => ({ ruleId, message })));
    for (let time = 0; time < repeated; time += 1) {
      const lost = store.lose(idsOf(known.rules, 'lost'));
      store.suspendHolders(suspendedOf(lost), message);
      if (time + 1 < repeated)
        for (const { id } of lost) Object.assign(this.both.tables.rules.get(id)!, { state: 'present' });
    }
    store.noteUnseen(idsOf(known.rules, 'unseen'));
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
    const cause = this.chance.pick(['ORPHAN', 'MAKE_ROOM'] as const);
    const taken = store.takeOver(this.targetId, orphans, access, cause, READING.endedAgoMs);
    store.noteObserved(idsOf(known.rules, 'observed'), READING.endedAgoMs);
    await this.both.real(async (tx) => {
      const { rules } = reallyKnown;
      await ledger.record(tx, eventsOf(rules), READING.endedAgoMs, origin, trail);
      await drift.lockOwners(tx, idsOf(rules, 'lost'));
      await settlements.noteOnIps(
        tx,
        idsOf(rules, 'changed').map((ruleId) => ({ ruleId, message })),
      );
      for (let time = 0; time < repeated; time += 1) {
        const lost = await drift.lose(tx, idsOf(rules, 'lost'));
        await drift.suspendHolders(tx, suspendedOf(lost), message);
        if (time + 1 < repeated)
          await tx.query(`UPDATE rules SET state = 'present' WHERE id = ANY ($1::uuid[])`, [
            lost.map(({ id }) => id),
          ]);
      }
      await drift.noteUnseen(tx, idsOf(rules, 'unseen'));
      await drift.noteUnmarked(tx, idsOf(rules, 'unmarked'));
      await drift.noteTaken(tx, idsOf(rules, 'taken'));
      await drift.rename(tx, idsOf(rules, 'renamed').map(renamed), READING.endedAgoMs);
      await settlements.renameIps(tx, idsOf(rules, 'renamed'));
      await drift.makeStaleDue(tx, idsOf(rules, 'stale'), access);
      const over = await drift.takeOver(tx, this.targetId, orphans, access, cause, READING.endedAgoMs);
      deepEqual(over.map(withoutId), taken.map(withoutId));
      await drift.noteObserved(tx, idsOf(rules, 'observed'), READING.endedAgoMs);
    });
  }

  /** Unmanaged rules appear and disappear. */
  private async unmanaged(): Promise<void> {
    const { unmanaged: store, ledger: events } = this.model;
    const rules = UNMANAGED.filter(() => this.chance.happens(0.5));
    const origin = { ...ORIGIN, credentialId: this.way().credentialId };
    const appears = this.chance.happens(0.6);
    const kind = appears ? ('FOUND' as const) : ('CLOSED' as const);
    const told = rules.map((rule) => ({ ...rule, kind }));
    const trail = this.trail();
    const { endedAgoMs } = READING;
    if (appears) store.add(this.targetId, rules, endedAgoMs);
    events.recordUnmanaged(this.targetId, told, endedAgoMs, origin, trail);
    if (!appears) store.remove(this.targetId, rules);
    const left = store.seen(this.targetId);
    const really = await this.both.real(async (tx) => {
      if (appears) await unmanaged.add(tx, this.targetId, rules, endedAgoMs);
      await ledger.recordUnmanaged(tx, this.targetId, told, endedAgoMs, origin, trail);
      if (!appears) await unmanaged.remove(tx, this.targetId, rules);
      return unmanaged.seen(tx, this.targetId);
    });
    deepEqual(really.toSorted(byJson), left.toSorted(byJson));
  }

  /** The way leads to no object, or to one again. */
  private async miss(model: Lease, real: Lease): Promise<void> {
    const access = this.way();
    const missing = this.chance.happens(0.7);
    const noted = this.model.missingTargets.noteMissing(model, access, missing);
    deepEqual(await this.both.real((tx) => missingTargets.noteMissing(tx, real, access, missing)), noted);
    if (noted !== 'gone') return;
    const way = { access, resources: this.naming(access) };
    const present = this.model.missingTargets.presentRules(model, access);
    this.model.missingTargets.giveUpTarget(model, way);
    const report = [{ resources: way.resources, eventType: 'RECONCILE_FAILED' as const, message: 'gone' }];
    this.model.comparisons.report(report);
    await this.both.real(async (tx) => {
      deepEqual((await missingTargets.presentRules(tx, real, access)).length, present.length);
      await missingTargets.giveUpTarget(tx, real, way);
      await comparisons.report(tx, report);
    });
  }

  private way(): Access {
    return { credentialId: this.chance.pick([...this.both.tables.credentials.keys()]), region: null };
  }

  private naming({ credentialId }: Access): NamingResource[] {
    return [...this.both.tables.resources.values()]
      .filter((one) => one.targetId === this.targetId && one.credentialId === credentialId)
      .map(({ id, organizationId, name }) => ({ id, organizationId, name, lastOutcome: null }));
  }

  private comparable(row: DueRuleRow): object {
    const { key, desired, mayOpen, inFlight, inDoubt, seenAs } = row;
    const { state, revision, attempts, writtenWith, holders } = row;
    const held = holders.map(
      ({ status, access, expired, cause, writeVerified }) =>
        `${status} ${access.credentialId} ${access.organizationId} ${access.deniedMs !== null} ${expired} ${cause} ${writeVerified}`,
    );
    const { addCause, removeCause, isUnwanted, isMissing, isUnmarked, writerOrganizationId, lastError } = row;
    return {
      // of several holders any one's
      addCause: holders.length === 1 ? addCause : null,
      removeCause,
      isUnwanted,
      isMissing,
      isUnmarked,
      writerOrganizationId,
      lastError,
      key,
      desired,
      mayOpen,
      inFlight,
      inDoubt,
      seenAs,
      state,
      revision,
      attempts,
      writtenWith,
      held: held.toSorted(),
    };
  }
}

const suspendedOf = (lost: readonly { readonly id: string; readonly isSuspended: boolean }[]): string[] =>
  lost.filter(({ isSuspended }) => isSuspended).map(({ id }) => id);

/** The model and the database give rules ids of their own. */
function withoutId<T extends { readonly ruleId: string }>(rule: T): Omit<T, 'ruleId'> {
  const { ruleId: _, ...rest } = rule;
  return rest;
}

const byKey = (one: object, other: object): number =>
  JSON.stringify(Object.entries(one).find(([name]) => name === 'key')) <
  JSON.stringify(Object.entries(other).find(([name]) => name === 'key'))
    ? -1
    : 1;

/** On the history's clock, ms. */
interface Since {
  readonly resourceIpId: string;
  readonly since: number;
}

type Waiting = Pick<DueRuleRow['holders'][number], 'resourceIpId' | 'pendingSince'>[];

const waitingOf = ({ holders }: DueRuleRow): Waiting => holders.filter(({ status }) => status === 'PENDING');

const byJson = (one: object, other: object): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

/** With its columns in one order. */
const plain = ({ targetId, provider, organizations, closing, patient }: SlotUse): SlotUse => ({
  targetId,
  provider,
  organizations,
  closing,
  patient,
});
