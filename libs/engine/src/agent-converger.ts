import type { DueRules, EngineStore, Lease, WatchedHost } from '#engine-store';
import { type Transactions, type Tx } from '#entities';
import {
  agentAbsence,
  awaited,
  endedByKernel,
  isAbandoned,
  isHolding,
  isWaitedFor,
  settleAtRest,
  type Decided,
  type DueRule,
  type Moment,
} from '#rules';
import type { ConvergenceObserver } from './convergence-observer';
import { healthReports } from './health-reports';
import { guardProblem, hostProblem } from './host-messages';
import { originOf } from './ledger-rows';
import { settle, type Settled } from './settle';
import type { Timing } from './timing';

const LEASE_SECONDS = 10;
const BATCH_SIZE = 500;
const MAX_ROUNDS = 50;

/**
 * Convergence of a host with an agent, which applies the rules itself. Settles rules that need no report, gives up additions
 * that the agent has not applied in time, and reports an absent agent.
 */
export class AgentConverger {
  constructor(
    private readonly database: Transactions,
    private readonly stores: EngineStore,
    private readonly observer: Pick<ConvergenceObserver, 'ruleClosed' | 'eventsRecorded'>,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /** Returns when nothing is due. Each round is one short transaction without remote calls. */
  async converge(targetId: string, stopping: AbortSignal): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS && !stopping.aborted; round += 1) {
      const settled = await this.database.revocation((tx) => this.round(tx, targetId));
      if (!settled) return;
      for (const seconds of settled.latenessSeconds) this.observer.ruleClosed('AGENT', seconds);
      this.observer.eventsRecorded(settled.events);
    }
  }

  /** @returns null when nothing was due */
  private async round(tx: Tx, targetId: string): Promise<Settled | null> {
    const { leases, rules, watch } = this.stores;
    const lease = await leases.take(tx, targetId, LEASE_SECONDS, true);
    if (!lease) return null;
    const host = await watch.host(tx, lease);
    const due = await rules.due(tx, lease, BATCH_SIZE);
    const settled = due.rules.length === 0 ? null : await this.settle(tx, lease, host, due);
    if (lease.comparison) await this.report(tx, lease, host);
    await leases.release(tx, lease);
    return settled;
  }

  private async settle(tx: Tx, lease: Lease, host: WatchedHost, due: DueRules): Promise<Settled | null> {
    const ended = new Set(await this.stores.watch.listEndedByKernel(tx, lease.targetId));
    const absence = agentAbsence(host.name, host.secondsAway);
    const message = absence?.message ?? `The agent ${host.name} has not reported it yet`;
    const note = `The kernel of ${host.name} ended it by its own clock; the agent has not reported it`;
    const decide = (rule: DueRule, moment: Moment): Decided[] => {
      if (ended.has(rule.ruleId)) return [endedByKernel(rule, note, moment)];
      if (needsNoReport(rule)) return settleAtRest([rule], moment, needsNoReport);
      return [awaited(rule, message, absence !== null, moment)];
    };
    return settle(
      tx,
      this.stores,
      lease,
      {
        ruleIds: due.rules.map(({ ruleId }) => ruleId),
        decide: (rules, moment) => rules.flatMap((rule) => decide(rule, moment)),
        chance: this.timing.random(),
        isAwaited: absence === null,
      },
      originOf(this.workerId),
    );
  }

  /** Writes health events of the resources, and an audit record when the agent is away. */
  private async report(tx: Tx, lease: Lease, host: WatchedHost): Promise<void> {
    const { comparisons, watch } = this.stores;
    const { requested } = lease.comparison!;
    await comparisons.finish(tx, lease.targetId, lease.comparison!, null, 0);
    if (host.resources.length === 0) return comparisons.postpone(tx, lease.targetId);
    const problem = hostProblem(host);
    if (problem !== null) await watch.recordAway(tx, lease, problem);
    // an absent agent, and one that has a rival, have audit records of their own
    const isNew = host.rival === null && agentAbsence(host.name, host.secondsAway) === null;
    const reports = host.resources.flatMap((resource) =>
      healthReports([resource], problem ?? guardProblem(resource, host.guard), requested, isNew),
    );
    await comparisons.report(tx, reports);
  }
}

/** Whether the rule is absent without holders, or present without waiting holders. */
function needsNoReport(rule: DueRule): boolean {
  if (isAbandoned(rule)) return true;
  const desired = rule.holders.some(({ status }) => isHolding(status));
  return desired ? rule.state === 'present' && !isWaitedFor(rule) : rule.state === 'absent';
}
