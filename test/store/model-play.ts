import { deepEqual } from 'node:assert/strict';
import {
  ConvergenceStore,
  type Database,
  LeaseStore,
  ReconcileStore,
  SessionStore,
  SettlementStore,
  StaticIpRuleStore,
  SweepStore,
  type AuditEntry,
  type DueRuleRow,
  type Lease,
  type NewOpening,
  type RuleSettlement,
  type Tx,
} from '#entities';
import { ruleSpecs, type OrganizationId, type RuleState } from '#rules';
import { Chance } from '../simulation/chance';
import { ModelConvergence } from '../simulation/model/convergence';
import { ModelLeases } from '../simulation/model/leases';
import { ModelReconcile } from '../simulation/model/reconcile';
import { ModelRequests } from '../simulation/model/requests';
import { ModelSettlements } from '../simulation/model/settlement';
import { ModelSweep } from '../simulation/model/sweep';
import { Tables } from '../simulation/model/tables';

const ADDRESSES = ['203.0.113.1', '203.0.113.2'];
const STATES: readonly (RuleState | null)[] = ['absent', 'unknown', 'present', 'present', null];
const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  targets: ['lease_until', 'last_write_at', 'reconcile_due_at'],
  rules: ['due_at', 'in_flight_until', 'lost_at', 'target_missing_since'],
  sessions: ['started_at', 'expires_at', 'ended_at'],
  resource_ips: ['pending_since', 'applied_at', 'released_at', 'removed_at'],
};
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

export interface Furnished {
  readonly organizationId: OrganizationId;
  readonly userIds: readonly string[];
  readonly resourceIds: readonly string[];
}

/** One history on both: the model's clock is the database's, shifted in every transaction. */
export class Both {
  now = 0;
  private shiftedTo: { now: number; database: number } | null = null;
  readonly tables = new Tables(() => this.now);
  /** the database's ids of the model's */
  readonly ids = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /** Runs it at this history's moment. */
  async real<Answer>(work: (tx: Tx) => Promise<Answer>): Promise<Answer> {
    let reached = this.shiftedTo;
    const answer = await this.database.transaction(async (tx) => {
      const [clock] = await tx.query<{ ms: number }[]>(
        'SELECT extract(epoch FROM now())::float8 * 1000 AS ms',
      );
      const passed = reached ? clock!.ms - reached.database : 0;
      const asked = reached ? this.now - reached.now : 0;
      for (const [table, columns] of Object.entries(MOMENTS)) {
        const moved = columns.map((column) => `${column} = ${column} + make_interval(secs => $1)`).join(', ');
        await tx.query(`UPDATE ${table} SET ${moved}`, [(passed - asked) / 1000]);
      }
      reached = { now: this.now, database: clock!.ms };
      return work(tx);
    });
    this.shiftedTo = reached;
    return answer;
  }
}

const leases = new LeaseStore();
const convergence = new ConvergenceStore();
const settlements = new SettlementStore();
const sweep = new SweepStore();
const sessions = new SessionStore();
const reconcile = new ReconcileStore();
const statics = new StaticIpRuleStore();

/** Plays the same calls on both, and compares what they answer. */
export class Play {
  private targetId = '';
  private readonly model: {
    leases: ModelLeases;
    convergence: ModelConvergence;
    settlements: ModelSettlements;
    sweep: ModelSweep;
    requests: ModelRequests;
    reconcile: ModelReconcile;
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
    };
  }

  async begin(tx: Tx): Promise<void> {
    await tx.query('DELETE FROM sessions');
    await tx.query('DELETE FROM static_ip_rules');
    await tx.query('DELETE FROM rules');
    const resources = await tx.query<
      { id: string; targetId: string; credentialId: string; port: number; revision: number }[]
    >(`SELECT id, target_id AS "targetId", credential_id AS "credentialId", (config->>'port')::int AS port, revision
       FROM resources ORDER BY name`);
    this.targetId = resources[0]!.targetId;
    await tx.query(
      `UPDATE targets SET lease_until = NULL, lease_generation = 0, last_write_at = NULL, last_write_size = 0,
         reconcile_due_at = now() + interval '10 minutes', reconcile_requested = false`,
    );
    const { organizationId } = this.given;
    this.both.tables.targets.set(this.targetId, {
      id: this.targetId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      identifier: 'sg-1',
      leaseUntil: null,
      leaseGeneration: 0,
      lastWriteAt: null,
      lastWriteSize: 0,
      reconcileDueAt: 600_000,
      reconcileRequested: false,
    });
    for (const { id, targetId, credentialId, port } of resources) {
      this.both.tables.credentials.set(credentialId, organizationId);
      const row = { id, organizationId, name: id, credentialId, targetId, config: { port } };
      this.both.tables.resources.set(id, {
        ...row,
        region: null,
        isActive: true,
        revision: 0,
        deletedAt: null,
      });
    }
    await this.both.real(() => Promise.resolve());
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
    else if (dice < 0.97) await this.sweepTargets();
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
      sessions.stop(tx, this.given.organizationId, this.real(id), 'MANUAL', AUDIT),
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
    const modelled = this.model.sweep.expireSessions(1000);
    const expired = await this.both.real((tx) => sweep.expireSessions(tx, 1000));
    deepEqual(expired.count, modelled.count);
    deepEqual(expired.targetIds.toSorted(), modelled.targetIds.toSorted());
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
    const modelled = [...this.model.sweep.dueTargets(9), ...this.model.sweep.reconcileTargets(9)];
    const found = await this.both.real(async (tx) => [
      ...(await sweep.dueTargets(tx, 9)),
      ...(await sweep.reconcileTargets(tx, 9)),
    ]);
    deepEqual(found, modelled);
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
    const pairs = modelDue
      .filter(() => this.chance.happens(0.8))
      .map((row) => ({ model: row, real: realDue.find(({ key }) => key === row.key)! }));
    if (pairs.length === 0) return;
    const access = {
      credentialId: this.chance.pick([...this.both.tables.credentials.keys()]),
      region: null,
    };
    if (this.chance.happens(0.7)) {
      const split = (side: 'model' | 'real'): { additions: string[]; removals: string[] } => ({
        additions: pairs.filter((pair) => pair.model.wanted).map((pair) => pair[side].ruleId),
        removals: pairs.filter((pair) => !pair.model.wanted).map((pair) => pair[side].ruleId),
      });
      const noted = this.model.convergence.recordIntent(model, { ...split('model'), access }, 10);
      const reallyNoted = await this.both.real((tx) =>
        convergence.recordIntent(tx, real, { ...split('real'), access }, 10),
      );
      deepEqual(reallyNoted, noted);
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
    const whole = { access: this.chance.happens(0.9) ? access : null, looked, giveUpSeconds: 300 };
    const waitingModel = pairs.flatMap((pair) => waitingOf(pair.model));
    const waitingReal = pairs.flatMap((pair) => waitingOf(pair.real));
    const settledModel = this.model.settlements.settle(model, {
      ...whole,
      waiting: waitingModel,
      rules: found.map(({ settled }) => settled),
    });
    const settledReal = await this.both.real((tx) =>
      settlements.settle(tx, real, {
        ...whole,
        waiting: waitingReal,
        rules: found.map(({ pair, settled }) => ({ ...settled, ruleId: pair.real.ruleId })),
      }),
    );
    deepEqual(settledReal?.latenessSeconds.length, settledModel?.latenessSeconds.length);
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
    const known = this.model.reconcile.known(model);
    const reallyKnown = await this.both.real((tx) => reconcile.known(tx, real));
    const bare = ({ key, state, wanted }: { key: string; state: string; wanted: boolean }): object => ({
      key,
      state,
      wanted,
    });
    deepEqual(reallyKnown.toSorted(byKey).map(bare), known.toSorted(byKey).map(bare));
    const lost = known.filter(() => this.chance.happens(0.4)).map(({ key }) => key);
    const idsOf = (
      rules: readonly { key: string; ruleId: string; wanted: boolean }[],
      wanted: boolean,
    ): string[] =>
      rules.filter((rule) => rule.wanted === wanted && lost.includes(rule.key)).map(({ ruleId }) => ruleId);
    const [access] = [...this.both.tables.credentials.keys()].map((credentialId) => ({
      credentialId,
      region: null,
    }));
    const orphans = [{ key: '198.51.100.9/32 tcp 22', providerRuleId: 'sgr-orphan', ownRuleId: 'dead' }];
    const driftOf = (rules: typeof known): Parameters<ReconcileStore['makeDue']>[2] => ({
      missing: idsOf(rules, true),
      lingering: idsOf(rules, false),
      orphans,
      foreign: 0,
    });
    const damped = this.model.reconcile.makeDue(model, driftOf(known), access!);
    const reallyDamped = await this.both.real((tx) =>
      reconcile.makeDue(tx, real, driftOf(reallyKnown), access!),
    );
    deepEqual(reallyDamped.length, damped.length);
    const missing = this.chance.happens(0.5);
    const gone = this.model.reconcile.noteMissing(model, access!, missing);
    deepEqual(await this.both.real((tx) => reconcile.noteMissing(tx, real, access!, missing)), gone);
  }

  private comparable(row: DueRuleRow): object {
    const { key, wanted, mayOpen, inFlight, unheard, state, revision, attempts, writtenWith, holders } = row;
    const held = holders.map(({ status, access, expired }) => `${status} ${access.credentialId} ${expired}`);
    return {
      key,
      wanted,
      mayOpen,
      inFlight,
      unheard,
      state,
      revision,
      attempts,
      writtenWith,
      held: held.toSorted(),
    };
  }

  /** Every column that decides something, with moments as ms from now. */
  modelRows(): object {
    const { tables } = this.both;
    const fromNow = (moment: number | null): number | null =>
      moment === null ? null : Math.round(moment - tables.now());
    return {
      rules: [...tables.rules.values()]
        .map((rule) => [
          rule.key,
          rule.state,
          rule.isForeign,
          rule.providerRuleId,
          rule.credentialId,
          rule.revision,
          rule.attempts,
          rule.lastError,
          rule.lostCount,
          fromNow(rule.dueAt),
          fromNow(rule.inFlightUntil),
          fromNow(rule.lostAt),
          fromNow(rule.targetMissingSince),
        ])
        .toSorted(byText),
      sessions: [...tables.sessions.values()]
        .map((one) => [this.real(one.id), one.status, one.endedReason, fromNow(one.expiresAt)])
        .toSorted(byText),
      staticIpRules: [...tables.staticIpRules.values()]
        .map((rule) => [this.real(rule.id), rule.deletedAt !== null])
        .toSorted(byText),
      ips: [...tables.resourceIps.values()]
        .map((ip) => [
          this.real(ip.sessionId ?? ip.staticIpRuleId!),
          ip.resourceId,
          ip.status,
          ip.errorMessage,
          ip.providerRuleId,
        ])
        .toSorted(byText),
    };
  }

  async realRows(): Promise<object> {
    const ms = (column: string): string => `round(extract(epoch FROM ${column} - now()) * 1000)::float8`;
    return this.both.real(async (inside) => {
      const rules = await inside.query<unknown[]>(
        `SELECT key, state, is_foreign, provider_rule_id, credential_id, revision, attempts, last_error, lost_count,
           ${ms('due_at')} AS a, ${ms('in_flight_until')} AS b, ${ms('lost_at')} AS c,
           ${ms('target_missing_since')} AS d FROM rules`,
      );
      const found = await inside.query<unknown[]>(
        `SELECT id, status, ended_reason, ${ms('expires_at')} AS a FROM sessions`,
      );
      const fixed = await inside.query<unknown[]>(
        'SELECT id, deleted_at IS NOT NULL AS deleted FROM static_ip_rules',
      );
      const ips = await inside.query<unknown[]>(
        'SELECT coalesce(session_id, static_ip_rule_id) AS owner, resource_id, status, error_message, provider_rule_id FROM resource_ips',
      );
      const plain = (rows: unknown[]): unknown[][] =>
        rows.map((row) => Object.values(row as Record<string, unknown>)).toSorted(byText);
      return {
        rules: plain(rules),
        sessions: plain(found),
        staticIpRules: plain(fixed),
        ips: plain(ips),
      };
    });
  }
}

const byKey = (one: object, other: object): number =>
  JSON.stringify(Object.entries(one).find(([name]) => name === 'key')) <
  JSON.stringify(Object.entries(other).find(([name]) => name === 'key'))
    ? -1
    : 1;

const waitingOf = ({ holders }: DueRuleRow): string[] =>
  holders.filter(({ status }) => status === 'PENDING').map(({ resourceIpId }) => resourceIpId);

const byText = (one: unknown[], other: unknown[]): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;

/** Two users, two credentials, three resources on one cloud object. */
export async function furnish(tx: Tx): Promise<Furnished> {
  const one = async (text: string, given: unknown[]): Promise<string> =>
    (await tx.query<{ id: string }[]>(`${text} RETURNING id`, given))[0]!.id;
  const organizationId = await one(`INSERT INTO organizations (name, slug) VALUES ($1, $1)`, ['model']);
  const user = (email: string): Promise<string> =>
    one(`INSERT INTO users (organization_id, email, name) VALUES ($1, $2, $2)`, [organizationId, email]);
  const userIds = [await user('a@example.org'), await user('b@example.org')];
  const credential = (name: string): Promise<string> =>
    one(
      `INSERT INTO credentials (organization_id, name, provider, credential_type, sealed_data) VALUES ($1, $2, 'AWS', 'ACCESS_KEY', '{}')`,
      [organizationId, name],
    );
  const credentials = [await credential('one'), await credential('two')];
  const targetId = await one(
    `INSERT INTO targets (provider, key, resource_type, identifier) VALUES ('AWS', 'model', 'SECURITY_GROUP', $1)`,
    ['sg-1'],
  );
  const resource = (name: string, credentialId: string, port: number): Promise<string> =>
    one(
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, config,
         is_active, target_id) VALUES ($1, $2, $3, 'AWS', 'SECURITY_GROUP', 'sg-1', $4, true, $5)`,
      [organizationId, name, credentialId, JSON.stringify({ port }), targetId],
    );
  return {
    organizationId: organizationId as OrganizationId,
    userIds,
    resourceIds: [
      await resource('a', credentials[0]!, 22),
      await resource('b', credentials[1]!, 22),
      await resource('c', credentials[0]!, 443),
    ],
  };
}
