import { Injectable } from '@nestjs/common';
import {
  type AgentRow,
  type AgentState,
  type AgentVisit,
  EngineStore,
  type ServingAgent,
} from '#engine-store';
import { settleReport } from '#engine';
import type { ListQuery, Sliced, Tx } from '#entities';
import type { Principal } from '#guards';
import { Tenants } from '#tenant-store';
import type { HostGuard } from '#rules';
import type { Actor } from '../http/actor';
import { AgentAdmissions, agentEntry } from './agent-admissions';
import { hostKey } from './agent-name';
import { AgentStateWatcher } from './agent-state-watcher';
import { AgentTurns } from './agent-turns';
import { canonicalGuard, guardChange } from './guard-change';
import type { AgentReportDto } from './dto/agent-report.dto';
import type { AgentIdentityDto, AgentStateQueryDto } from './dto/agent-state.dto';

/** Serves desired state to agents and settles their reports. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly admissions: AgentAdmissions,
    private readonly engine: EngineStore,
    private readonly stores: Tenants,
    private readonly watcher: AgentStateWatcher,
    private readonly turns: AgentTurns,
  ) {}

  list({ organizationId }: Principal, query: ListQuery): Promise<Sliced<AgentRow>> {
    return this.engine.agentLists.list(this.stores.autocommit, organizationId, query);
  }

  /**
   * Returns the complete state once its version differs from the requested one, or when the wait expires. A dry run
   * returns immediately and changes nothing: its caller does not count as the host's agent.
   * @param disconnected aborts when the client disconnects
   * @throws ApiError 401 when the key is revoked, also during the wait; 403 when the key is bound to other hosts; 404 when
   *   no resource has the name; 409 while another key or installation serves the name; 429 while other requests of the
   *   host wait
   */
  state(
    actor: Actor,
    dto: AgentStateQueryDto,
    software: string | null,
    disconnected: AbortSignal,
  ): Promise<AgentState> {
    const visit = visitOf(actor, dto, software);
    const serve = (): Promise<AgentState> =>
      this.turns.run(
        'state',
        actor.principal.organizationId,
        visit,
        () => (dto.dryRun ? this.preview(actor, visit) : this.serve(actor, visit)),
        disconnected,
      );
    if (dto.dryRun) return serve();
    const waitMs = 1000 * (dto.waitSeconds ?? 0);
    const isNews = ({ version }: AgentState): boolean => version !== dto.version;
    return this.watcher.news(visit.targetKey, waitMs, disconnected, serve, isNews);
  }

  private async preview({ principal }: Actor, visit: AgentVisit): Promise<AgentState> {
    const tx = this.stores.autocommit;
    await this.admissions.mayPreview(tx, principal, visit);
    return this.engine.agentStates.preview(tx, principal.organizationId, visit.targetKey);
  }

  /** With nothing to decide and nothing new to send, it costs two statements. */
  private async serve(actor: Actor, visit: AgentVisit): Promise<AgentState> {
    const { organizationId } = actor.principal;
    const { autocommit } = this.stores;
    const agent = await this.engine.agents.heard(autocommit, organizationId, visit);
    const unchanged =
      agent && (await this.engine.agentStates.readUnchanged(autocommit, organizationId, agent));
    if (unchanged) return unchanged;
    return this.admissions.runAdmitted(actor, visit, (tx, served) =>
      this.engine.agentStates.offer(tx, organizationId, served),
    );
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
    const settle = async (tx: Tx, agent: ServingAgent): Promise<string> => {
      const guard = report.guard && canonicalGuard(report.guard);
      // it locks the target: before any rule
      if (guard) await this.noteGuard(tx, actor, visit, agent, guard);
      if (agent.servedVersion === report.version) {
        const outcome = { results, cleared: report.cleared ?? false };
        await settleReport(tx, this.engine, visit.targetKey, outcome, `agent ${agent.id}`);
      }
      const version = await this.engine.agentStates.version(tx, organizationId, agent);
      if (!guard) return version;
      // a report on an earlier state says nothing about a release that this one did not list
      const ended =
        version === report.version &&
        (await this.engine.agentGuards.endRelease(tx, organizationId, visit.targetKey, guard.guarded));
      return ended ? this.engine.agentStates.version(tx, organizationId, agent) : version;
    };
    return this.turns.run('report', organizationId, visit, () =>
      this.admissions.runAdmitted(actor, visit, settle, this.stores.closing),
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
    const before = await this.engine.agentGuards.report(tx, organizationId, agent.id, guard);
    const change = before === undefined ? null : guardChange(before, guard);
    if (!change) return;
    await this.stores.audit.write(tx, organizationId, {
      ...agentEntry(agent.id, visit),
      eventType: 'AGENT_GUARD_CHANGED',
      details: { ...change },
    });
    await this.engine.agents.requestCheck(tx, organizationId, visit.targetKey, false);
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
