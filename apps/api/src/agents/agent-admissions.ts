import { Injectable } from '@nestjs/common';
import {
  type Admission,
  type AgentKeyRow,
  type AgentVisit,
  EngineStore,
  type ReleasedAgent,
  type ServingAgent,
} from '#engine-store';
import type { AuditEntry, Tx } from '#entities';
import { Tenants } from '#tenant-store';
import { type Principal, ScopeError } from '#guards';
import { type ApiError, conflict, forbidden, notFound, unauthorized } from '../errors/api-error';
import { objectNamed, recordAction } from '../audit/action-records';
import type { Actor } from '../http/actor';

/** Maximum number of a key's hosts listed in an error message. */
const MAX_LISTED_AGENTS = 3;
/** A request that waits for its agent's lock holds a connection. */
const LOCK_TIMEOUT_MS = 2000;

/** Which key and which installation may serve a host. */
@Injectable()
export class AgentAdmissions {
  constructor(
    private readonly engine: EngineStore,
    private readonly stores: Tenants,
  ) {}

  /**
   * Checks that the key may read the state of the host, without side effects: the caller does not serve.
   * @throws ApiError 401, 403, 404 or 409
   */
  async mayPreview(tx: Tx, principal: Principal, visit: AgentVisit): Promise<void> {
    const { agents, isHeldByOther } = await this.authorizeKey(tx, principal, visit);
    // otherwise an unbound key could read the states of all hosts
    if (agents.length === 0 && isHeldByOther) throw otherKeyServes(visit);
  }

  /**
   * Runs `work` in a transaction that holds the lock on the serving agent.
   * @param database the connections to use
   * @throws ApiError 401, 403, 404, or 409 when another one serves
   */
  async runAdmitted<T>(
    actor: Actor,
    visit: AgentVisit,
    work: (tx: Tx, agent: ServingAgent) => Promise<T>,
    database = this.stores.database,
  ): Promise<T> {
    const { principal } = actor;
    const { organizationId } = principal;
    // states and reports close access, so they must not wait for the audit trail
    const outcome = await database.revocation(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const key = await this.authorizeKey(tx, principal, visit);
      const admission = await this.engine.agents.admit(tx, organizationId, visit);
      if (admission.kind === 'serving' && key.agents.length === 0) await this.bind(tx, actor, visit);
      const entry = admissionEntry(principal, visit, admission);
      if (entry) await this.stores.audit.write(tx, organizationId, entry);
      return admission.kind === 'serving' ? { done: await work(tx, admission.agent) } : { admission };
    });
    if ('done' in outcome) return outcome.done;
    // thrown after the commit, so that the record of the conflict is kept
    throw refusal(visit, outcome.admission);
  }

  /** Allows another API key or installation to take over a name. @throws ApiError 404 when no agent has the name */
  release(actor: Actor, name: string): Promise<ReleasedAgent> {
    const { organizationId } = actor.principal;
    return this.stores.transaction(async (tx) => {
      const released = await this.engine.agents.release(tx, organizationId, name);
      if (!released) throw notFound(`No agent has connected as ${name}`);
      await recordAction(tx, actor, 'AGENT_RELEASED', objectNamed('AGENT', released), {
        releasedUntil: released.releasedUntil.toISOString(),
      });
      return released;
    });
  }

  /**
   * The key, if it may (still) serve the host: one it is bound to, or any known host while it is unbound.
   * @throws ApiError 401, 403 or 404
   */
  private async authorizeKey(tx: Tx, principal: Principal, visit: AgentVisit): Promise<AgentKeyRow> {
    const key = await this.engine.agents.key(tx, principal.organizationId, visit);
    if (!key) throw unauthorized('The API key is invalid, expired or revoked');
    if (!key.isAgentKey) throw new ScopeError('agent:connect');
    if (key.agents.length > 0 && !key.agents.includes(visit.name)) {
      const hosts = key.agents.slice(0, MAX_LISTED_AGENTS).join(', ');
      throw forbidden(`The API key is bound to ${hosts}: make a key for ${visit.name}`);
    }
    if (!key.isKnownHost) {
      throw notFound(`No resource names the host ${visit.name}: create one with that resourceIdentifier`);
    }
    return key;
  }

  /** Binds an unbound key to its first host. @throws ApiError 403 when it was bound to another host concurrently */
  private async bind(tx: Tx, actor: Actor, visit: AgentVisit): Promise<void> {
    const { organizationId, keyName } = actor.principal;
    if (!(await this.engine.agents.bindKey(tx, organizationId, visit))) {
      throw forbidden(`The API key is bound to another host by now: make a key for ${visit.name}`);
    }
    const key = { type: 'API_KEY', id: visit.keyId, name: keyName };
    await recordAction(tx, actor, 'API_KEY_BOUND', key, { agents: [visit.name] });
  }
}

/** @returns null when there is nothing new to record */
function admissionEntry(principal: Principal, visit: AgentVisit, admission: Admission): AuditEntry | null {
  const { instance, software } = visit;
  const entryFor = (id: string): Omit<AuditEntry, 'eventType'> => ({
    ...agentEntry(id, visit),
    details: { instance, software, apiKey: principal.keyName },
  });
  if (admission.kind === 'serving') {
    return admission.connected ? { ...entryFor(admission.agent.id), eventType: 'AGENT_CONNECTED' } : null;
  }
  if (!admission.unreported) return null;
  const { serving } = admission;
  const entry = entryFor(admission.id);
  return {
    ...entry,
    eventType: 'AGENT_DUPLICATED',
    result: 'FAILURE',
    errorMessage: refusal(visit, admission).message,
    details: { ...entry.details, serving },
  };
}

/** An audit entry by an agent about itself. */
export const agentEntry = (id: string, { name, address }: AgentVisit): Omit<AuditEntry, 'eventType'> => ({
  actorType: 'AGENT',
  actorId: id,
  actorEmail: null,
  ipAddress: address,
  resourceType: 'AGENT',
  resourceId: id,
  resourceName: name,
});

const duplicateMessage = ({ name }: AgentVisit, { address }: Pick<AgentVisit, 'address'>): string =>
  `Another agent serves as ${name}, from ${address ?? 'an unknown address'}: give each host a name of its own`;

const refusal = (visit: AgentVisit, rival: Extract<Admission, { kind: 'rival' }>): ApiError =>
  rival.otherKey ? otherKeyServes(visit) : conflict(duplicateMessage(visit, rival.serving));

const otherKeyServes = ({ name }: AgentVisit): ApiError =>
  conflict(
    `The agent ${name} serves with another API key: revoke that key, or release the name with POST /agents/${name}/release`,
  );
