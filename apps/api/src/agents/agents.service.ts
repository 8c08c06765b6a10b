import { Injectable } from '@nestjs/common';
import {
  AgentSettlementStore,
  AgentStateStore,
  AgentStore,
  AuditStore,
  closing,
  Database,
  type Admission,
  type AgentState,
  type AgentVisit,
  type AuditEntry,
  type ServingAgent,
  type Trail,
  type Tx,
} from '#entities';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { badRequest, conflict } from '../errors/api-error';
import { hostKey } from './agent-name';
import { AgentWaits } from './agent-waits';
import type { AgentReportDto } from './dto/agent-report.dto';
import type { AgentIdentityDto, AgentStateQueryDto } from './dto/agent-state.dto';

/** Where a request of an agent comes from, and the name and release of the program. */
export interface AgentOrigin {
  readonly caller: HostAddress | null;
  readonly software: string | null;
}

/** Tells agents what their hosts are to let in, and takes down what they report. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentStore,
    private readonly states: AgentStateStore,
    private readonly settlements: AgentSettlementStore,
    private readonly audit: AuditStore,
    private readonly waits: AgentWaits,
  ) {}

  /**
   * The whole state, as soon as it has another version than the one asked with, or after the wait. A dry run is
   * answered at once and leaves no trace: whoever looks is not the host's agent.
   * @throws ApiError 409 while another installation serves under the name
   */
  async state(
    principal: Principal,
    asked: AgentStateQueryDto,
    origin: AgentOrigin,
    gone: AbortSignal,
  ): Promise<AgentState> {
    const visit = visitOf(principal, asked, origin);
    if (asked.dryRun) {
      return this.states.preview(this.database.autocommit, principal.organizationId, visit.targetKey);
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
   * @throws ApiError 409 while another installation serves under the name
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
        await this.settlements.settle(tx, organizationId, visit.targetKey, found, trail);
      }
      return this.states.version(tx, organizationId, agent);
    });
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
        const admission = await this.agents.admit(tx, organizationId, visit);
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
  if (admission.kind === 'too-many' || !admission.untold) return null;
  const { serving } = admission;
  const entry = about(admission.id);
  return {
    ...entry,
    eventType: 'AGENT_DUPLICATED',
    result: 'FAILURE',
    errorMessage: duplicateWords(visit, serving),
    details: { ...entry.details, serving },
  };
}

const duplicateWords = ({ name }: AgentVisit, { address }: Pick<AgentVisit, 'address'>): string =>
  `Another agent serves as ${name}, from ${address ?? 'an unknown address'}: give each host a name of its own`;

function refusal(visit: AgentVisit, admission: Exclude<Admission, { kind: 'serving' }>): Error {
  if (admission.kind === 'rival') return conflict(duplicateWords(visit, admission.serving));
  return badRequest('The organization has too many agents: use the names its resources have');
}
