import { deepEqual } from 'node:assert/strict';
import type { NewHolder } from '#engine-store';
import type { AuditEntry } from '#entities';
import { ruleSpecs } from '#rules';
import { AddressTaken, ResourceRulesStore, SessionStore, StaticIpRuleStore } from '#tenant-store';
import type { HistoryState } from './model-state';

const ADDRESSES = ['203.0.113.1', '203.0.113.2'];
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

const sessions = new SessionStore();
const statics = new StaticIpRuleStore();
const resourceRules = new ResourceRulesStore();

/** Requests of tenants, on the model and on the database. */
export class RequestSteps {
  constructor(private readonly state: HistoryState) {}

  async start(): Promise<void> {
    const { organizationId, userIds, resourceIds } = this.state.given;
    const leaseSeconds = this.state.chance.happens(0.5) ? this.state.chance.whole(60, 3600) : null;
    const asked = {
      organizationId,
      leaseSeconds,
      leaseMs: leaseSeconds === null ? null : 1000 * leaseSeconds,
      userId: this.state.chance.pick(userIds),
      holder: '',
      ipv4Address: this.state.chance.pick(ADDRESSES),
      replaced: null,
      tokenHash: null,
      apiKeyId: null,
      hours: this.state.chance.whole(1, 2),
    };
    const some = resourceIds.filter(() => this.state.chance.happens(0.6));
    const chosen = some.length > 0 ? some : [resourceIds[0]!];
    await this.activate(chosen);
    const modelled = this.state.model.requests.start({ ...asked, resourceIds: chosen });
    const holders = chosen.map((id): NewHolder => {
      const { targetId, config } = this.state.both.tables.resources.get(id)!;
      const specs = ruleSpecs(`${asked.ipv4Address}/32`, config, 'one');
      return { resourceId: id, revision: 0, targetId, ipVersion: 4, ipAddress: asked.ipv4Address, specs };
    });
    const id = `00000000-0000-4000-9000-${this.state.both.ids.size.toString(16).padStart(12, '0')}`;
    const limits = { perUser: 0, perServiceUser: 0 };
    const session = { ...asked, id, ipv6Address: null, holders, limits };
    const started = await this.state.both.real(async (tx) => {
      await tx.query('SAVEPOINT before_start');
      try {
        return await sessions.start(tx, organizationId, session, AUDIT);
      } catch (error) {
        if (!(error instanceof AddressTaken)) throw error;
        await tx.query('ROLLBACK TO SAVEPOINT before_start');
        return 'taken';
      }
    });
    deepEqual(started === 'taken', modelled === 'taken');
    if (modelled !== 'taken') this.state.both.ids.set(modelled.id, id);
  }

  /** A resource whose target was given up is verified before the next session. */
  private async activate(resourceIds: readonly string[]): Promise<void> {
    for (const id of resourceIds) this.state.both.tables.resources.get(id)!.isActive = true;
    await this.state.both.real((tx) =>
      tx.query('UPDATE resources SET is_active = true WHERE id = ANY ($1::uuid[])', [resourceIds]),
    );
  }

  async createStatic(): Promise<void> {
    const { organizationId, resourceIds } = this.state.given;
    const ipAddress = this.state.chance.pick(ADDRESSES);
    const modelled = this.state.model.requests.createStatic(organizationId, ipAddress, resourceIds);
    const entries = resourceIds.map((resourceId) => {
      const { targetId, config } = this.state.both.tables.resources.get(resourceId)!;
      return {
        resourceId,
        resourceName: this.state.both.tables.resources.get(resourceId)!.name,
        targetId,
        specs: ruleSpecs(`${ipAddress}/32`, config, 'one'),
      };
    });
    const id = await this.state.both.real(async (tx) => {
      const created = await statics.create(tx, organizationId, {
        label: 'fixed',
        ipAddress,
        createdByEmail: 'a@example.org',
      });
      await statics.open(tx, organizationId, { id: created, ipVersion: 4, ipAddress }, entries);
      return created;
    });
    this.state.both.ids.set(modelled.id, id);
  }

  async deleteStatic(): Promise<void> {
    const living = [...this.state.both.tables.staticIpRules.values()].filter(
      (rule) => rule.deletedAt === null,
    );
    if (living.length === 0) return;
    const { organizationId, resourceIds } = this.state.given;
    const { id } = this.state.chance.pick(living);
    const some = resourceIds.filter(() => this.state.chance.happens(0.7));
    const whole = some.length === resourceIds.length;
    this.state.model.requests.releaseStatic(id, some);
    if (whole) this.state.model.requests.deleteStatic(id);
    await this.state.both.real(async (tx) => {
      await statics.release(tx, organizationId, this.state.realId(id), some, 'STATIC_RULE_DELETED');
      if (whole) await statics.delete(tx, organizationId, this.state.realId(id));
    });
  }

  /** A resource names another target, or takes another way to it. */
  async move(): Promise<void> {
    const { organizationId, resourceIds } = this.state.given;
    const { resources, credentials, targets } = this.state.both.tables;
    const own = [...credentials].filter(([, credential]) => credential.organizationId === organizationId);
    const id = this.state.chance.pick(resourceIds);
    const { targetId: from, credentialId: way, config } = resources.get(id)!;
    const [credentialId, targetId] = [
      this.state.chance.pick(own)[0],
      this.state.chance.pick([...targets.keys()]),
    ];
    this.state.model.requests.move(id, { targetId, credentialId, region: null });
    await this.state.both.real(async (tx) => {
      await tx.query('UPDATE resources SET target_id = $2, credential_id = $3 WHERE id = $1', [
        id,
        targetId,
        credentialId,
      ]);
      const held = await resourceRules.lockHolders(tx, organizationId, id);
      const wants = held.map((ip) => ({
        resourceIpId: ip.id,
        targetId,
        specs: ruleSpecs(`${ip.ipAddress}/32`, config, 'one'),
      }));
      const cause = targetId === from ? 'CONFIG_CHANGED' : 'RESOURCE_MOVED';
      await resourceRules.updateHeldRules(tx, organizationId, id, wants, way !== credentialId, cause);
    });
  }

  async stop(): Promise<void> {
    const id = this.someSession();
    if (id === null) return;
    const modelled = this.state.model.requests.stop(id, 'MANUAL');
    const stopped = await this.state.both.real((tx) =>
      sessions.stop(tx, this.state.given.organizationId, {
        id: this.state.realId(id),
        reason: 'MANUAL',
        userId: null,
        audit: AUDIT,
      }),
    );
    deepEqual(stopped === null, modelled === null);
  }

  async extend(): Promise<void> {
    const id = this.someSession();
    if (id === null) return;
    const modelled = this.state.model.requests.extend(id, 1, 3);
    const extended = await this.state.both.real((tx) =>
      sessions.extend(tx, this.state.given.organizationId, this.state.realId(id), 1, 3, AUDIT),
    );
    deepEqual(extended, modelled);
  }

  async renew(): Promise<void> {
    const id = this.someSession();
    if (id === null) return;
    const { organizationId } = this.state.given;
    const { userId } = this.state.both.tables.sessions.get(id)!;
    const modelled = this.state.model.requests.renew(id);
    const renewed = await this.state.both.real(async (tx) => {
      const answer = await sessions.renew(tx, organizationId, this.state.realId(id), userId);
      // it uses the running clock; a history's time stands still within a transaction
      if (answer)
        await tx.query(
          'UPDATE sessions SET lease_until = now() + make_interval(secs => lease_seconds) WHERE id = $1',
          [this.state.realId(id)],
        );
      return answer;
    });
    deepEqual(renewed, modelled);
  }

  private someSession(): string | null {
    const ids = [...this.state.both.tables.sessions.keys()];
    return ids.length === 0 ? null : this.state.chance.pick(ids);
  }
}
