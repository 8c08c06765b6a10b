import { Injectable } from '@nestjs/common';
import {
  AgentGuardStore,
  type AgentState,
  AgentStateStore,
  AgentStore,
  type AgentVisit,
  type ServingAgent,
} from '#engine-store';
import { settleReport } from '#engine';
import { Database, type Trail, type Tx } from '#entities';
import { AuditStore } from '#tenant-store';
import type { HostGuard } from '#rules';
import type { Actor, ActorRenewal } from '../http/actor';
import { AgentAdmissions, agentEntry } from './agent-admissions';
import { hostKey } from './agent-name';
import { AgentReportStores } from './agent-report-stores';
import { AgentStateWatcher } from './agent-state-watcher';
import { canonicalGuard, guardChange } from './guard-change';
import { RememberedAgents } from './remembered-agents';
import type { AgentReportDto } from './dto/agent-report.dto';
import type { AgentIdentityDto, AgentStateQueryDto } from './dto/agent-state.dto';

interface StateRequest {
  /** possibly remembered */
  readonly actor: Actor;
  readonly freshActor: ActorRenewal;
  readonly dto: AgentStateQueryDto;
  readonly software: string | null;
  readonly disconnected: AbortSignal;
}

/** Serves desired state to agents and settles their reports. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly admissions: AgentAdmissions,
    private readonly agents: AgentStore,
    private readonly states: AgentStateStore,
    private readonly guards: AgentGuardStore,
    private readonly stores: AgentReportStores,
    private readonly audit: AuditStore,
    private readonly watcher: AgentStateWatcher,
    private readonly remembered: RememberedAgents,
  ) {}

  /**
   * Returns the complete state once its version differs from the requested one, or when the wait expires. A dry run
   * returns immediately and changes nothing: its caller does not count as the host's agent.
   * @throws ApiError 401 when the key is revoked, also during the wait; 403 when the key is bound to other hosts; 404 when
   *   no resource has the name; 409 while another key or installation serves the name
   */
  async state({ actor, freshActor, dto, software, disconnected }: StateRequest): Promise<AgentState> {
    const visit = visitOf(actor, dto, software);
    if (dto.dryRun) return this.preview(await freshActor(), visit);
    const deadline = performance.now() + (dto.waitSeconds ?? 0) * 1000;
    const unchanged = await this.waitRemembered(visit, dto.version, deadline, disconnected);
    return unchanged ?? this.waitServed(await freshActor(), visit, dto.version, deadline, disconnected);
  }

  private async preview({ principal }: Actor, visit: AgentVisit): Promise<AgentState> {
    const tx = this.database.autocommit;
    await this.admissions.mayPreview(tx, principal, visit);
    return this.states.preview(tx, principal.organizationId, visit.targetKey);
  }

  /** Waits without a statement of its own. @returns null when the request has to be served, now or after a change */
  private async waitRemembered(
    visit: AgentVisit,
    version: string | undefined,
    deadline: number,
    disconnected: AbortSignal,
  ): Promise<AgentState | null> {
    const leftMs = deadline - performance.now();
    if (version === undefined || leftMs <= 0) return null;
    const known = this.remembered.unchanged(visit, version);
    if (!known) return null;
    const watch = this.watcher.watch(visit.targetKey);
    try {
      await watch.changed(leftMs, disconnected);
    } finally {
      watch.end();
    }
    // nobody gets this answer, and the agent was not heard of
    if (disconnected.aborted) return known;
    return this.remembered.unchanged(visit, version);
  }

  private async waitServed(
    actor: Actor,
    visit: AgentVisit,
    version: string | undefined,
    deadline: number,
    disconnected: AbortSignal,
  ): Promise<AgentState> {
    const { organizationId } = actor.principal;
    const watch = this.watcher.watch(visit.targetKey);
    try {
      for (;;) {
        const readAt = performance.now();
        const { state, agentId, keySecondsLeft } = await this.admissions.admitted(
          actor,
          visit,
          async (tx, { agent, key }) => ({
            state: await this.states.offer(tx, organizationId, agent),
            agentId: agent.id,
            keySecondsLeft: key.secondsLeft,
          }),
        );
        const leftMs = deadline - performance.now();
        const shouldWait = state.version === version && leftMs > 0;
        if (!shouldWait || disconnected.aborted || this.watcher.isStopping) {
          const proven = { state, keySecondsLeft };
          this.remembered.remember(visit, organizationId, agentId, proven, watch, readAt);
          return state;
        }
        await watch.changed(leftMs, disconnected);
      }
    } catch (error) {
      watch.end();
      throw error;
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
    return this.admissions.admitted(actor, visit, async (tx, { agent, trail }) => {
      const guard = report.guard && canonicalGuard(report.guard);
      // it locks the target: before any rule
      if (guard) await this.noteGuard(tx, actor, visit, agent, guard, trail);
      if (agent.servedVersion === report.version) {
        const outcome = { results, cleared: report.cleared ?? false };
        await settleReport(tx, this.stores, visit.targetKey, outcome, `agent ${agent.id}`, trail);
      }
      const version = await this.states.version(tx, organizationId, agent);
      if (!guard) return version;
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
