import { Injectable } from '@nestjs/common';
import {
  AgentGuardStore,
  type AgentState,
  AgentStateStore,
  AgentStore,
  type AgentVisit,
  type ProvenPoll,
  type ServingAgent,
} from '#engine-store';
import { settleReport } from '#engine';
import { Database, type Tx } from '#entities';
import { AuditStore } from '#tenant-store';
import type { HostGuard } from '#rules';
import type { Actor } from '../http/actor';
import { AgentAdmissions, agentEntry, type Admitted } from './agent-admissions';
import { hostKey } from './agent-name';
import { EngineStore } from '#engine-store';
import { AgentStateWatcher } from './agent-state-watcher';
import { AgentTurns } from './agent-turns';
import { canonicalGuard, guardChange } from './guard-change';
import { RememberedAgents } from './remembered-agents';
import type { AgentReportDto } from './dto/agent-report.dto';
import type { AgentIdentityDto, AgentStateQueryDto } from './dto/agent-state.dto';

interface StateRequest {
  readonly actor: Actor;
  readonly dto: AgentStateQueryDto;
  readonly software: string | null;
  /** aborts when the client disconnects */
  readonly wait: AbortController;
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
    private readonly stores: EngineStore,
    private readonly audit: AuditStore,
    private readonly watcher: AgentStateWatcher,
    private readonly remembered: RememberedAgents,
    private readonly turns: AgentTurns,
  ) {}

  /**
   * Returns the complete state once its version differs from the requested one, or when the wait expires. A dry run
   * returns immediately and changes nothing: its caller does not count as the host's agent.
   * @throws ApiError 401 when the key is revoked, also during the wait; 403 when the key is bound to other hosts; 404 when
   *   no resource has the name; 409 while another key or installation serves the name; 429 while other requests of the
   *   host wait
   */
  async state({ actor, dto, software, wait }: StateRequest): Promise<AgentState> {
    const visit = visitOf(actor, dto, software);
    const { organizationId } = actor.principal;
    if (dto.dryRun) {
      const preview = (): Promise<AgentState> => this.preview(actor, visit);
      return this.turns.run('state', organizationId, visit, preview, wait.signal);
    }
    const deadline = performance.now() + (dto.waitSeconds ?? 0) * 1000;
    return this.turns.waiting(visit, wait, async () => {
      const unchanged = await this.waitRemembered(visit, dto.version, deadline, wait.signal);
      return unchanged ?? this.waitServed(actor, visit, dto.version, deadline, wait.signal);
    });
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
    ended: AbortSignal,
  ): Promise<AgentState | null> {
    const leftMs = deadline - performance.now();
    if (version === undefined || leftMs <= 0) return null;
    const known = this.remembered.unchanged(visit, version);
    if (!known) return null;
    const watch = this.watcher.watch(visit.targetKey);
    try {
      await watch.changed(leftMs, ended);
    } finally {
      watch.end();
    }
    // the answer is not needed, and the agent was not heard of
    if (ended.aborted) return known;
    return this.remembered.unchanged(visit, version);
  }

  private async waitServed(
    actor: Actor,
    visit: AgentVisit,
    version: string | undefined,
    deadline: number,
    ended: AbortSignal,
  ): Promise<AgentState> {
    const { organizationId } = actor.principal;
    const watch = this.watcher.watch(visit.targetKey);
    const offer = async (tx: Tx, { agent, key }: Admitted): Promise<ProvenPoll & { agentId: string }> => ({
      state: await this.states.offer(tx, organizationId, agent),
      agentId: agent.id,
      keySecondsLeft: key.secondsLeft,
    });
    const serve = (): ReturnType<typeof offer> => this.admissions.admitted(actor, visit, offer);
    try {
      for (;;) {
        const readAt = performance.now();
        const { state, agentId, keySecondsLeft } = await this.turns.run(
          'state',
          organizationId,
          visit,
          serve,
          ended,
        );
        const leftMs = deadline - performance.now();
        const shouldWait = state.version === version && leftMs > 0;
        if (!shouldWait || ended.aborted || this.watcher.isStopping) {
          const proven = { state, keySecondsLeft };
          this.remembered.remember(visit, organizationId, agentId, proven, watch, readAt);
          return state;
        }
        await watch.changed(leftMs, ended);
        if (!ended.aborted) continue;
        // the answer is not needed
        watch.end();
        return state;
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
    const settle = async (tx: Tx, { agent }: Admitted): Promise<string> => {
      const guard = report.guard && canonicalGuard(report.guard);
      // it locks the target: before any rule
      if (guard) await this.noteGuard(tx, actor, visit, agent, guard);
      if (agent.servedVersion === report.version) {
        const outcome = { results, cleared: report.cleared ?? false };
        await settleReport(tx, this.stores, visit.targetKey, outcome, `agent ${agent.id}`);
      }
      const version = await this.states.version(tx, organizationId, agent);
      if (!guard) return version;
      // a report on an earlier state says nothing about a release that this one did not list
      const ended =
        version === report.version &&
        (await this.guards.endRelease(tx, organizationId, visit.targetKey, guard.guarded));
      return ended ? this.states.version(tx, organizationId, agent) : version;
    };
    return this.turns.run('report', organizationId, visit, () =>
      this.admissions.admitted(actor, visit, settle, this.database.closing),
    );
  }

  /** Stores a guard that differs from the stored one, and records a change of more than its connections. */
  private async noteGuard(
    tx: Tx,
    { principal }: Actor,
    visit: AgentVisit,
    agent: ServingAgent,
    guard: HostGuard,
  ): Promise<void> {
    const { organizationId } = principal;
    const before = await this.guards.report(tx, organizationId, agent.id, guard);
    const change = before === undefined ? null : guardChange(before, guard);
    if (!change) return;
    await this.audit.write(tx, organizationId, {
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
