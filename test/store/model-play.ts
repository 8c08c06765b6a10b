import { deepEqual } from 'node:assert/strict';
import {
  ConvergenceStore,
  LeaseStore,
  ReconcileStore,
  SessionStore,
  SettlementStore,
  StaticIpRuleStore,
  SweepStore,
  type Access,
  type AuditEntry,
  type DueRuleRow,
  type Lease,
  type NamingResource,
  type NewOpening,
  type RuleSettlement,
  type Settlement,
  type Trail,
  type Tx,
  WriteBudgetStore,
} from '#entities';
import {
  ruleSpecs,
  type Drift,
  type KnownRule,
  type OrganizationId,
  type RuleState,
  type SlotUse,
} from '#rules';
import type { Chance } from '../simulation/chance';
import { ModelConvergence } from '../simulation/model/convergence';
import { ModelBudgets, ModelLeases } from '../simulation/model/leases';
import { ModelReconcile } from '../simulation/model/reconcile';
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
const reconcile = new ReconcileStore();
const statics = new StaticIpRuleStore();
const budgets = new WriteBudgetStore();

interface Furniture {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly targetId: string;
  readonly credentialId: string;
  readonly port: number;
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
    reconcile: ModelReconcile;
    budgets: ModelBudgets;
  };
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
      reconcile: new ModelReconcile(tables),
      budgets: new ModelBudgets(tables),
    };
  }

  async begin(tx: Tx): Promise<void> {
    for (const table of ['sessions', 'static_ip_rules', 'rules', 'write_budgets', 'unwritten_audit_records'])
      await tx.query(`DELETE FROM ${table}`);
    const [last] = await tx.query<{ sequence: string }[]>(
      'SELECT coalesce(max(sequence), 0) AS sequence FROM audit_records',
    );
    this.auditedFrom = last!.sequence;
    await tx.query('UPDATE resources SET is_active = true');
    const resources = await tx.query<Furniture[]>(
      `SELECT id, organization_id AS "organizationId", target_id AS "targetId", credential_id AS "credentialId",
         (config->>'port')::int AS port FROM resources ORDER BY name`,
    );
    this.targetId = resources[0]!.targetId;
    for (const resource of resources) this.place(resource);
    await this.both.real((first) =>
      first.query(
        `UPDATE targets SET lease_until = NULL, lease_generation = 0, last_write_at = NULL, last_write_size = 0,
           in_flight_until = NULL, reconcile_due_at = now() + interval '10 minutes', reconcile_requested = false`,
      ),
    );
  }

  private place({ id, organizationId, targetId, credentialId, port }: Furniture): void {
    const { credentials, resources, targets } = this.both.tables;
    credentials.set(credentialId, organizationId);
    resources.set(id, {
      id,
      organizationId,
      name: id,
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
    else if (dice < 0.9) await this.look();
    else if (dice < 0.94) await this.drift();
    else if (dice < 0.96) await this.spend();
    else if (dice < 0.98) await this.sweepTargets();
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
    const openings = chosen.map((id): NewOpening => {
      const { targetId, config } = this.both.tables.resources.get(id)!;
      const specs = ruleSpecs(`${asked.ipv4Address}/32`, config, 'one');
      return { resourceId: id, revision: 0, targetId, ipVersion: 4, ipAddress: asked.ipv4Address, specs };
    });
    const id = `00000000-0000-4000-9000-${this.both.ids.size.toString(16).padStart(12, '0')}`;
    const session = { ...asked, id, ipv6Address: null, openings };
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
        resourceName: resourceId,
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
      await statics.release(tx, organizationId, this.real(id), some);
      if (whole) await statics.delete(tx, organizationId, this.real(id));
    });
  }

  private async purge(): Promise<void> {
    this.model.sweep.purge();
    await this.both.real((tx) => sweep.purge(tx));
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
    deepEqual(expired, modelled);
  }

  private async take(): Promise<void> {
    const model = this.model.leases.take(this.targetId, 10);
    const real = await this.both.real((tx) => leases.take(tx, this.targetId, 10));
    deepEqual(
      real && { ...real, sinceLastWriteMs: Math.round(real.sinceLastWriteMs ?? -1) },
      model && {
        ...model,
        resourceType: real?.resourceType,
        identifier: real?.identifier,
        sinceLastWriteMs: Math.round(model.sinceLastWriteMs ?? -1),
      },
    );
    if (model && real) this.lease = { model, real };
  }

  private async sweepTargets(): Promise<void> {
    const { sweep: model } = this.model;
    const all = await this.both.real((tx) => sweep.waitingTargets(tx, 9, 9));
    deepEqual(all.toSorted(byTarget), model.waitingTargets(9, 9).toSorted(byTarget));
    // which one of two that became due in one moment comes first is nobody's business
    const nameless = (uses: readonly SlotUse[]): object[] =>
      uses.map((use) => ({ ...use, targetId: null })).toSorted(byJson);
    const [perOrganization, limit] = [this.chance.whole(1, 2), this.chance.whole(2, 3)];
    const some = await this.both.real((tx) => sweep.waitingTargets(tx, perOrganization, limit));
    deepEqual(nameless(some), nameless(model.waitingTargets(perOrganization, limit)));
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
        additions: pairs.filter((pair) => pair.model.wanted).map((pair) => pair[side].ruleId),
        removals: pairs.filter((pair) => !pair.model.wanted).map((pair) => pair[side].ruleId),
      });
      const wholeList = this.chance.happens(0.3);
      const noted = this.model.convergence.recordIntent(model, { ...split('model'), access, wholeList }, 10);
      const reallyNoted = await this.both.real((tx) =>
        convergence.recordIntent(tx, real, { ...split('real'), access, wholeList }, 10),
      );
      deepEqual(reallyNoted && typeof reallyNoted.unheardUntil, noted && typeof noted.unheardUntil);
      if (noted?.unheardUntil === null && wholeList && this.chance.happens(0.5)) {
        this.model.convergence.heard(model, noted);
        await this.both.real((tx) => convergence.heard(tx, real, reallyNoted!));
      }
    }
    if (this.chance.happens(0.3)) await this.step();
    if (this.chance.happens(0.1)) {
      this.model.convergence.lookAgain(pairs.map((pair) => pair.model.ruleId));
      await this.both.real((tx) =>
        convergence.lookAgain(
          tx,
          pairs.map((pair) => pair.real.ruleId),
        ),
      );
    }
    const found = pairs.map((pair) => ({ pair, settled: this.madeUp(pair.model) }));
    const looked = this.chance.happens(0.8);
    const trail = this.trail();
    const whole = {
      access: this.chance.happens(0.9) ? access : null,
      looked,
      giveUpSeconds: 300,
      together: this.chance.happens(0.3),
    };
    const waitingModel = pairs.flatMap((pair) => waitingOf(pair.model));
    const waitingReal = pairs
      .flatMap((pair) => waitingOf(pair.real))
      .map(({ resourceIpId }) => ({ resourceIpId, since: since.get(resourceIpId)! }));
    const settledModel = this.model.settlements.settle(
      model,
      { ...whole, waiting: waitingModel, rules: found.map(({ settled }) => settled) },
      trail,
    );
    const settledReal = await this.both.real(async (tx) =>
      settlements.settle(
        tx,
        real,
        {
          ...whole,
          waiting: await this.stillWaiting(tx, waitingReal),
          rules: found.map(({ pair, settled }) => ({ ...settled, ruleId: pair.real.ruleId })),
        },
        trail,
      ),
    );
    deepEqual(settledReal?.latenessSeconds.length, settledModel?.latenessSeconds.length);
  }

  /** As the database has it by now: its moments are shifted before each transaction. */
  private async stillWaiting(tx: Tx, waiting: readonly Since[]): Promise<Settlement['waiting']> {
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
    return {
      ruleId: row.ruleId,
      revision: row.revision,
      state,
      providerRuleId: state === 'present' ? `sgr-${row.key}` : null,
      isForeign: state === null ? null : this.chance.happens(0.1),
      attempts: this.chance.whole(0, 3),
      dueInMs: this.chance.pick([null, 0, 700, 20_000]),
      inFlight: this.chance.happens(0.3),
      message: this.chance.pick([null, 'the cloud said no']),
      targetMissing: this.chance.pick([null, true, false]),
      failed: row.wanted && this.chance.happens(0.15),
    };
  }

  private async drift(): Promise<void> {
    if (!this.lease) return;
    const { model, real } = this.lease;
    const [asks, finishes] = [this.chance.happens(0.5), this.chance.happens(0.5)];
    if (asks) this.model.reconcile.ask(this.targetId, 0, true);
    const begun = this.model.reconcile.begin(model);
    if (begun && finishes) this.model.reconcile.finish(this.targetId, begun);
    const reallyBegun = await this.both.real(async (tx) => {
      if (asks) await reconcile.ask(tx, this.targetId, 0, true);
      const answer = await reconcile.begin(tx, real);
      if (answer && finishes) await reconcile.finish(tx, this.targetId, answer);
      return answer;
    });
    deepEqual(reallyBegun?.requested, begun?.requested);
    await this.mend(model, real);
    await this.miss(model, real);
    if (this.chance.happens(0.5)) return;
    this.model.reconcile.putOff(this.targetId);
    await this.both.real((tx) => reconcile.putOff(tx, this.targetId));
  }

  /** Drift that is made up. */
  private async mend(model: Lease, real: Lease): Promise<void> {
    const known = this.model.reconcile.known(model);
    const reallyKnown = await this.both.real((tx) => reconcile.known(tx, real));
    const bare = (rule: KnownRule): object => ({ ...rule, ruleId: null });
    deepEqual(reallyKnown.map(bare).toSorted(byKey), known.map(bare).toSorted(byKey));
    const kinds = ['lost', 'taken', 'renamed', 'as it was'];
    const kindOf = new Map(known.map(({ key }) => [key, this.chance.pick(kinds)]));
    const access = this.way();
    const driftOf = (rules: readonly KnownRule[]): Drift => {
      const of = (kind: string): KnownRule[] => rules.filter(({ key }) => kindOf.get(key) === kind);
      const idsOf = (chosen: readonly KnownRule[]): string[] => chosen.map(({ ruleId }) => ruleId);
      return {
        missing: idsOf(of('lost').filter(({ wanted }) => wanted)),
        lingering: idsOf(of('lost').filter(({ wanted }) => !wanted)),
        taken: idsOf(of('taken')),
        renamed: of('renamed').map(({ ruleId, key }) => ({ ruleId, providerRuleId: `new ${key}` })),
        orphans: [{ key: '198.51.100.9/32 tcp 22', providerRuleId: 'sgr-orphan', ownRuleId: 'dead' }],
        foreign: 0,
      };
    };
    const damped = this.model.reconcile.makeDue(model, driftOf(known), access);
    const reallyDamped = await this.both.real((tx) =>
      reconcile.makeDue(tx, real, driftOf(reallyKnown), access),
    );
    deepEqual(reallyDamped.length, damped.length);
    const trail = this.trail();
    const resources = this.naming(access);
    this.model.reconcile.auditOrphans(trail, driftOf(known), resources);
    await this.both.real((tx) => reconcile.auditOrphans(tx, trail, driftOf(reallyKnown), resources));
  }

  /** The way leads to no object, or to one again. */
  private async miss(model: Lease, real: Lease): Promise<void> {
    const access = this.way();
    const missing = this.chance.happens(0.7);
    const noted = this.model.reconcile.noteMissing(model, access, missing);
    deepEqual(await this.both.real((tx) => reconcile.noteMissing(tx, real, access, missing)), noted);
    if (noted !== 'gone') return;
    const way = { access, resources: this.naming(access) };
    this.model.reconcile.giveUpTarget(model, way);
    await this.both.real((tx) => reconcile.giveUpTarget(tx, real, way));
  }

  private way(): Access {
    return { credentialId: this.chance.pick([...this.both.tables.credentials.keys()]), region: null };
  }

  private naming({ credentialId }: Access): NamingResource[] {
    return [...this.both.tables.resources.values()]
      .filter((one) => one.targetId === this.targetId && one.credentialId === credentialId)
      .map(({ id, organizationId, name }) => ({ id, organizationId, name }));
  }

  private comparable(row: DueRuleRow): object {
    const { key, wanted, mayOpen, inFlight, unheard, seenAs } = row;
    const { state, revision, attempts, writtenWith, holders } = row;
    const held = holders.map(({ status, access, expired }) => `${status} ${access.credentialId} ${expired}`);
    return {
      key,
      wanted,
      mayOpen,
      inFlight,
      unheard,
      seenAs,
      state,
      revision,
      attempts,
      writtenWith,
      held: held.toSorted(),
    };
  }
}

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

const waitingOf = ({ holders }: DueRuleRow): Settlement['waiting'] =>
  holders.filter(({ status }) => status === 'PENDING');

const byJson = (one: object, other: object): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

const byTarget = (one: SlotUse, other: SlotUse): number => (one.targetId < other.targetId ? -1 : 1);
