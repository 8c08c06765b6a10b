import { Injectable } from '@nestjs/common';
import {
  type Admission,
  AgentGuardStore,
  AgentKeyStore,
  type AgentState,
  AgentStateStore,
  AgentStore,
  type AgentVisit,
  type ServingAgent,
} from '#engine-store';
import { settleReport } from '#engine';
import { type AuditEntry, Database, type Trail, type Tx, withAuditFallback } from '#entities';
import { AuditStore } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostGuard } from '#rules';
import { type ApiError, conflict, forbidden, notFound, unauthorized } from '../errors/api-error';
import { auditActor } from '../audit/audit-actor';
import type { Actor } from '../http/actor';
import { hostKey } from './agent-name';
import { AgentReportStores } from './agent-report-stores';
import { AgentStateWatcher } from './agent-state-watcher';
import { canonicalGuard, guardChange } from './guard-change';
import type { AgentReportDto } from './dto/agent-report.dto';
import type { AgentIdentityDto, AgentStateQueryDto } from './dto/agent-state.dto';

/** Maximum number of a key's hosts listed in an error message. */
const MAX_LISTED_AGENTS = 3;

/** Serves desired state to agents and settles their reports. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly keys: AgentKeyStore,
    private readonly agents: AgentStore,
    private readonly states: AgentStateStore,
    private readonly guards: AgentGuardStore,
    private readonly stores: AgentReportStores,
    private readonly audit: AuditStore,
    private readonly watcher: AgentStateWatcher,
  ) {}

  /**
   * Returns the complete state once its version differs from the requested one, or when the wait expires. A dry run
   * returns immediately and changes nothing: its caller does not count as the host's agent.
   * @throws ApiError 401 when the key is revoked, also during the wait; 403 when the key is bound to other hosts; 404 when
   *   no resource has the name; 409 while another key or installation serves the name
   */
  async state(
    actor: Actor,
    dto: AgentStateQueryDto,
    software: string | null,
    disconnected: AbortSignal,
  ): Promise<AgentState> {
    const { principal } = actor;
    const visit = visitOf(actor, dto, software);
    if (dto.dryRun) {
      const tx = this.database.autocommit;
      const { isBound, isHeldByOther } = await this.authorizeKey(tx, principal, visit);
      // otherwise an unbound key could read the states of all hosts
      if (!isBound && isHeldByOther) throw otherKeyServes(visit);
      return this.states.preview(tx, principal.organizationId, visit.targetKey);
    }
    const deadline = performance.now() + (dto.waitSeconds ?? 0) * 1000;
    const watch = this.watcher.watch(visit.targetKey);
    try {
      for (;;) {
        const state = await this.withServingAgent(actor, visit, (tx, agent) =>
          this.states.offer(tx, principal.organizationId, agent),
        );
        const leftMs = deadline - performance.now();
        const shouldWait = state.version === dto.version && leftMs > 0;
        if (!shouldWait || disconnected.aborted || this.watcher.isStopping) return state;
        await watch.changed(leftMs, disconnected);
      }
    } finally {
      watch.end();
    }
  }

  /**
   * Settles the agent's results, unless the report is about another version than the last one served, and stores the
   * reported guard.
   * @returns the current version of the state
   * @throws ApiError as `state` does
   */
  report(actor: Actor, report: AgentReportDto, software: string | null): Promise<string> {
    const { organizationId } = actor.principal;
    const visit = visitOf(actor, report, software);
    const results = report.results.map(({ errorMessage, ...result }) => ({
      ...result,
      errorMessage: errorMessage ?? null,
    }));
    return this.withServingAgent(actor, visit, async (tx, agent, trail) => {
      if (agent.servedVersion === report.version) {
        const outcome = { results, cleared: report.cleared ?? false };
        await settleReport(tx, this.stores, visit.targetKey, outcome, `agent ${agent.id}`, trail);
      }
      const version = await this.states.version(tx, organizationId, agent);
      if (!report.guard) return version;
      const guard = canonicalGuard(report.guard);
      await this.noteGuard(tx, actor, visit, agent, guard, trail);
      // a report on an earlier state says nothing about a release that this one did not list
      const ended =
        version === report.version &&
        (await this.guards.endRelease(tx, organizationId, visit.targetKey, guard.guarded));
      return ended ? this.states.version(tx, organizationId, agent) : version;
    });
  }

  /** Stores a guard that differs from the stored one, and records a change of more than its connections. */
  private async noteGuard(
    tx: Tx,
    { principal }: Actor,
    visit: AgentVisit,
    agent: ServingAgent,
    guard: HostGuard,
    trail: Trail,
  ): Promise<void> {
    const { organizationId } = principal;
    const before = await this.guards.report(tx, organizationId, agent.id, guard);
    const change = before === undefined ? null : guardChange(before, guard);
    if (!change) return;
    await this.audit.writeRevocation(tx, organizationId, trail, {
      ...agentEntry(agent.id, visit),
      eventType: 'AGENT_GUARD_CHANGED',
      details: { ...change },
    });
    await this.agents.requestCheck(tx, organizationId, visit.targetKey, false);
  }

  /**
   * Checks that the key may serve the host: one it is bound to, or any known host while it is unbound.
   * @throws ApiError 401, 403 or 404
   */
  private async authorizeKey(
    tx: Tx,
    principal: Principal,
    visit: AgentVisit,
  ): Promise<{ isBound: boolean; isHeldByOther: boolean }> {
    const key = await this.keys.find(tx, principal.organizationId, visit.keyId, visit);
    if (!key) throw unauthorized('The API key is invalid, expired or revoked');
    const isBound = key.agents.length > 0;
    if (isBound && !key.agents.includes(visit.name)) {
      const hosts = key.agents.slice(0, MAX_LISTED_AGENTS).join(', ');
      throw forbidden(`The API key is bound to ${hosts}: make a key for ${visit.name}`);
    }
    if (!key.isKnownHost) {
      throw notFound(`No resource names the host ${visit.name}: create one with that resourceIdentifier`);
    }
    return { isBound, isHeldByOther: key.isHeldByOther };
  }

  /** Runs `work` in a transaction that holds the lock on the serving agent. @throws ApiError 409 when another one serves */
  private async withServingAgent<T>(
    actor: Actor,
    visit: AgentVisit,
    work: (tx: Tx, agent: ServingAgent, trail: Trail) => Promise<T>,
  ): Promise<T> {
    const { principal } = actor;
    const { organizationId } = principal;
    // states and reports close access, so they must not wait for the audit trail
    const outcome = await withAuditFallback((trail) =>
      this.database.transaction(async (tx) => {
        const { isBound } = await this.authorizeKey(tx, principal, visit);
        const admission = await this.agents.admit(tx, organizationId, visit);
        if (admission.kind === 'serving' && !isBound) await this.bind(tx, actor, visit, trail);
        await this.recordAdmission(tx, principal, visit, admission, trail);
        return admission.kind === 'serving'
          ? { done: await work(tx, admission.agent, trail) }
          : { admission };
      }),
    );
    if ('done' in outcome) return outcome.done;
    // thrown after the commit, so that the record of the conflict is kept
    throw refusal(visit, outcome.admission);
  }

  /** Binds an unbound key to its first host. @throws ApiError 403 when it was bound to another host concurrently */
  private async bind(tx: Tx, actor: Actor, visit: AgentVisit, trail: Trail): Promise<void> {
    const { organizationId, keyName } = actor.principal;
    if (!(await this.keys.bind(tx, organizationId, visit.keyId, visit.name))) {
      throw forbidden(`The API key is bound to another host by now: make a key for ${visit.name}`);
    }
    await this.audit.writeRevocation(tx, organizationId, trail, {
      ...auditActor(actor),
      eventType: 'API_KEY_BOUND',
      resourceType: 'API_KEY',
      resourceId: visit.keyId,
      resourceName: keyName,
      details: { agents: [visit.name] },
    });
  }

  /** Records a connection or a conflict in the audit trail and requests a health check of the host. */
  private async recordAdmission(
    tx: Tx,
    principal: Principal,
    visit: AgentVisit,
    admission: Admission,
    trail: Trail,
  ): Promise<void> {
    const { organizationId } = principal;
    const entry = admissionEntry(principal, visit, admission);
    if (!entry) return;
    await this.audit.writeRevocation(tx, organizationId, trail, entry);
    await this.agents.requestCheck(tx, organizationId, visit.targetKey, admission.kind === 'rival');
  }
}

function visitOf({ principal, address }: Actor, dto: AgentIdentityDto, software: string | null): AgentVisit {
  const { organizationId, keyId } = principal;
  return {
    name: dto.agent.toLowerCase(),
    targetKey: hostKey(dto.agent, organizationId),
    keyId: keyId!,
    instance: dto.instance ?? `key ${keyId}`,
    address: address?.text ?? null,
    software,
  };
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
const agentEntry = (id: string, { name, address }: AgentVisit): Omit<AuditEntry, 'eventType'> => ({
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
