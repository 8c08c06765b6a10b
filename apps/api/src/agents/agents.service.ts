import { Injectable } from '@nestjs/common';
import {
  type Admission,
  AgentKeyStore,
  type AgentState,
  AgentStateStore,
  AgentStore,
  type AgentVisit,
  type ServingAgent,
} from '#engine-store';
import { settleReport } from '#engine';
import { type AuditEntry, Database, type Trail, type Tx, closing } from '#entities';
import { AuditStore } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { type ApiError, conflict, forbidden, notFound, unauthorized } from '../errors/api-error';
import { auditActor } from '../audit/audit-actor';
import { hostKey } from './agent-name';
import { AgentReportStores } from './agent-report-stores';
import { AgentWaits } from './agent-waits';
import type { AgentReportDto } from './dto/agent-report.dto';
import type { AgentIdentityDto, AgentStateQueryDto } from './dto/agent-state.dto';

/** Where a request of an agent comes from, and the name and release of the program. */
export interface AgentOrigin {
  readonly caller: HostAddress | null;
  readonly software: string | null;
}

/** A message names so many hosts of a key. */
const MAX_NAMED_AGENTS = 3;

/** Tells agents what their hosts are to let in, and takes down what they report. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly keys: AgentKeyStore,
    private readonly agents: AgentStore,
    private readonly states: AgentStateStore,
    private readonly stores: AgentReportStores,
    private readonly audit: AuditStore,
    private readonly waits: AgentWaits,
  ) {}

  /**
   * The whole state, as soon as it has another version than the one asked with, or after the wait. A dry run is
   * answered at once and leaves no trace: whoever looks is not the host's agent.
   * @throws ApiError 401 when the key is revoked, also during the wait; 403 for a host that is not the key's; 404 for a
   *   name that no resource has; 409 while another key or installation serves under the name
   */
  async state(
    principal: Principal,
    asked: AgentStateQueryDto,
    origin: AgentOrigin,
    gone: AbortSignal,
  ): Promise<AgentState> {
    const visit = visitOf(principal, asked, origin);
    if (asked.dryRun) {
      const tx = this.database.autocommit;
      const { isBound, isHeldByOther } = await this.rightTo(tx, principal, visit);
      // else a key that is bound to no host yet could look at them all
      if (!isBound && isHeldByOther) throw otherKeyServes(visit);
      return this.states.preview(tx, principal.organizationId, visit.targetKey);
    }
    const until = performance.now() + (asked.waitSeconds ?? 0) * 1000;
    const watch = this.waits.watch(visit.targetKey);
    try {
      for (;;) {
        const state = await this.asServing(principal, visit, (tx, agent) =>
          this.states.offer(tx, principal.organizationId, agent),
        );
        const leftMs = until - performance.now();
        const waits = state.version === asked.version && leftMs > 0;
        if (!waits || gone.aborted || this.waits.isStopping) return state;
        await watch.changed(leftMs, gone);
      }
    } finally {
      watch.end();
    }
  }

  /**
   * Settles what the agent found, unless it is about another version than the one it was told last.
   * @returns the version of the state now
   * @throws ApiError as `state` does
   */
  report(principal: Principal, report: AgentReportDto, origin: AgentOrigin): Promise<string> {
    const { organizationId } = principal;
    const visit = visitOf(principal, report, origin);
    const results = report.results.map(({ errorMessage, ...result }) => ({
      ...result,
      errorMessage: errorMessage ?? null,
    }));
    return this.asServing(principal, visit, async (tx, agent, trail) => {
      if (agent.servedVersion === report.version) {
        const found = { results, cleared: report.cleared ?? false };
        await settleReport(tx, this.stores, visit.targetKey, found, `agent ${agent.id}`, trail);
      }
      return this.states.version(tx, organizationId, agent);
    });
  }

  /**
   * Whether the key may serve the host: one it is bound to, or any known one while it is bound to none.
   * @throws ApiError 401, 403 or 404
   */
  private async rightTo(
    tx: Tx,
    principal: Principal,
    visit: AgentVisit,
  ): Promise<{ isBound: boolean; isHeldByOther: boolean }> {
    const key = await this.keys.find(tx, principal.organizationId, visit.keyId, visit);
    if (!key) throw unauthorized('The API key is invalid, expired or revoked');
    const isBound = key.agents.length > 0;
    if (isBound && !key.agents.includes(visit.name)) {
      const words = key.agents.slice(0, MAX_NAMED_AGENTS).join(', ');
      throw forbidden(`The API key is bound to ${words}: make a key for ${visit.name}`);
    }
    if (!key.isKnownHost) {
      throw notFound(`No resource names the host ${visit.name}: create one with that resourceIdentifier`);
    }
    return { isBound, isHeldByOther: key.isHeldByOther };
  }

  /** Runs `work` in one transaction, in which nobody else serves under the name. */
  private async asServing<T>(
    principal: Principal,
    visit: AgentVisit,
    work: (tx: Tx, agent: ServingAgent, trail: Trail) => Promise<T>,
  ): Promise<T> {
    const { organizationId } = principal;
    // what an agent is told and tells closes access: it does not wait for its record
    const outcome = await closing((trail) =>
      this.database.transaction(async (tx) => {
        const { isBound } = await this.rightTo(tx, principal, visit);
        const admission = await this.agents.admit(tx, organizationId, visit);
        if (admission.kind === 'serving' && !isBound) await this.bind(tx, principal, visit, trail);
        await this.tell(tx, principal, visit, admission, trail);
        return admission.kind === 'serving'
          ? { done: await work(tx, admission.agent, trail) }
          : { admission };
      }),
    );
    if ('done' in outcome) return outcome.done;
    // after the commit: that there are two is to be kept
    throw refusal(visit, outcome.admission);
  }

  /** From its first host on a key serves no other. @throws ApiError 403 when it was bound to another meanwhile */
  private async bind(tx: Tx, principal: Principal, visit: AgentVisit, trail: Trail): Promise<void> {
    const { organizationId } = principal;
    if (!(await this.keys.bind(tx, organizationId, visit.keyId, visit.name))) {
      throw forbidden(`The API key is bound to another host by now: make a key for ${visit.name}`);
    }
    await this.audit.writeClosing(tx, organizationId, trail, {
      ...auditActor(principal, visit.address),
      eventType: 'API_KEY_BOUND',
      resourceType: 'API_KEY',
      resourceId: visit.keyId,
      resourceName: principal.keyName,
      details: { agents: [visit.name] },
    });
  }

  /** Leaves a record of who came and of who was kept out, and has a worker tell how the host stands. */
  private async tell(
    tx: Tx,
    principal: Principal,
    visit: AgentVisit,
    admission: Admission,
    trail: Trail,
  ): Promise<void> {
    const { organizationId } = principal;
    const entry = recordOf(principal, visit, admission);
    if (!entry) return;
    await this.audit.writeClosing(tx, organizationId, trail, entry);
    await this.agents.lookAgain(tx, organizationId, visit.targetKey, admission.kind === 'rival');
  }
}

function visitOf(
  { organizationId, keyId }: Principal,
  asked: AgentIdentityDto,
  origin: AgentOrigin,
): AgentVisit {
  return {
    name: asked.agent.toLowerCase(),
    targetKey: hostKey(asked.agent, organizationId),
    keyId: keyId!,
    instance: asked.instance ?? `key ${keyId}`,
    address: origin.caller?.text ?? null,
    software: origin.software,
  };
}

/** @returns null when nothing is new */
function recordOf(principal: Principal, visit: AgentVisit, admission: Admission): AuditEntry | null {
  const { name, instance, software, address } = visit;
  const about = (id: string): Omit<AuditEntry, 'eventType'> => ({
    actorType: 'AGENT',
    actorId: id,
    actorEmail: null,
    ipAddress: address,
    resourceType: 'AGENT',
    resourceId: id,
    resourceName: name,
    details: { instance, software, apiKey: principal.keyName },
  });
  if (admission.kind === 'serving') {
    return admission.connected ? { ...about(admission.agent.id), eventType: 'AGENT_CONNECTED' } : null;
  }
  if (!admission.untold) return null;
  const { serving } = admission;
  const entry = about(admission.id);
  return {
    ...entry,
    eventType: 'AGENT_DUPLICATED',
    result: 'FAILURE',
    errorMessage: refusal(visit, admission).message,
    details: { ...entry.details, serving },
  };
}

const duplicateMessage = ({ name }: AgentVisit, { address }: Pick<AgentVisit, 'address'>): string =>
  `Another agent serves as ${name}, from ${address ?? 'an unknown address'}: give each host a name of its own`;

const refusal = (visit: AgentVisit, rival: Extract<Admission, { kind: 'rival' }>): ApiError =>
  rival.otherKey ? otherKeyServes(visit) : conflict(duplicateMessage(visit, rival.serving));

const otherKeyServes = ({ name }: AgentVisit): ApiError =>
  conflict(
    `The agent ${name} serves with another API key: revoke that key, or release the name with POST /agents/${name}/release`,
  );
