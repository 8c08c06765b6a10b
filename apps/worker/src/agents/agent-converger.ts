import { agentAbsence } from '#drivers';
import {
  closing,
  type AgentWatchStore,
  type ConvergenceStore,
  type DueRuleRow,
  type Lease,
  type LeaseStore,
  type ReconcileStore,
  type RuleSettlement,
  type Settled,
  type SettlementStore,
  type Trail,
  type Transactions,
  type Tx,
  type WatchedHost,
} from '#entities';
import { APPLY_GIVE_UP_MS, HOLDING_STATUSES } from '#rules';
import type { ConvergenceObserver } from '../convergence/converger';
import { settlement, withoutLook } from '../convergence/settle-rule';
import type { Timing } from '../timing';
import { hostProblem } from './host-words';

export interface AgentStores {
  readonly leases: LeaseStore;
  readonly convergence: ConvergenceStore;
  readonly settlements: SettlementStore;
  readonly reconciles: ReconcileStore;
  readonly watch: AgentWatchStore;
}

const LEASE_SECONDS = 10;
const AT_ONCE = 500;
const MOST_ROUNDS = 50;

/**
 * What is left to a worker of a host that its agent keeps: nothing is opened or closed from here. It settles what needs
 * no look at the host, gives up what its agent has not opened in time, and tells when the agent is away.
 */
export class AgentConverger {
  constructor(
    private readonly database: Transactions,
    private readonly stores: AgentStores,
    private readonly observer: Pick<ConvergenceObserver, 'closed'>,
    private readonly timing: Timing,
  ) {}

  /** Returns when nothing is due for now. Nobody is asked, so each round is one short transaction. */
  async converge(targetId: string, stopping: AbortSignal): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS && !stopping.aborted; round += 1) {
      const settled = await closing((trail) =>
        this.database.transaction((tx) => this.round(tx, targetId, trail)),
      );
      if (!settled) return;
      for (const seconds of settled.latenessSeconds) this.observer.closed('AGENT', seconds);
    }
  }

  /** @returns null when nothing was due */
  private async round(tx: Tx, targetId: string, trail: Trail): Promise<Settled | null> {
    const { leases, convergence, watch } = this.stores;
    const lease = await leases.take(tx, targetId, LEASE_SECONDS);
    if (!lease) return null;
    const host = await watch.host(tx, lease);
    const due = await convergence.due(tx, lease, AT_ONCE);
    const settled = due.length === 0 ? null : await this.settle(tx, lease, host, due, trail);
    if (lease.reconcileDue) await this.tell(tx, lease, host, trail);
    await leases.release(tx, lease);
    return settled;
  }

  private settle(
    tx: Tx,
    lease: Lease,
    host: WatchedHost,
    due: readonly DueRuleRow[],
    trail: Trail,
  ): Promise<Settled | null> {
    const needless = due.filter(needsNoReport);
    const waiting = due.filter((rule) => !needsNoReport(rule));
    const absence = agentAbsence(host.name, host.secondsAway);
    const message = absence?.message ?? `The agent ${host.name} has not reported it yet`;
    return this.stores.settlements.settle(
      tx,
      lease,
      {
        rules: [
          ...withoutLook(needless, []).values(),
          ...waiting.map((rule) => this.awaited(rule, message, absence !== null)),
        ],
        access: null,
        looked: false,
        waiting: waiting.flatMap(({ holders }) => holders.filter(({ status }) => status === 'PENDING')),
        giveUpSeconds: APPLY_GIVE_UP_MS / 1000,
      },
      trail,
    );
  }

  /** A rule that only the agent can say more of. */
  private awaited(rule: DueRuleRow, message: string, away: boolean): RuleSettlement {
    const verdict = { ruleId: rule.ruleId, kind: 'retry', message, unknown: false } as const;
    const found = settlement(rule, verdict, false, null, this.timing.random());
    // what stood when the agent was last heard of does not stand for those who came since
    return away && rule.state === 'present' && isWaitedFor(rule) ? { ...found, state: 'unknown' } : found;
  }

  /** Health events of the resources, and a record when the agent is away. */
  private async tell(tx: Tx, lease: Lease, host: WatchedHost, trail: Trail): Promise<void> {
    const { reconciles, watch } = this.stores;
    const begun = await reconciles.begin(tx, lease);
    if (!begun) return;
    await reconciles.finish(tx, lease.targetId, begun);
    if (host.resources.length === 0) return reconciles.putOff(tx, lease.targetId);
    const message = hostProblem(host);
    if (message !== null) await watch.tellAway(tx, lease, message, trail);
    await reconciles.record(tx, { resources: host.resources, message }, begun.requested);
  }
}

const isWaitedFor = ({ holders }: DueRuleRow): boolean => holders.some(({ status }) => status === 'PENDING');

/** It was never told to an agent and nobody wants it, or it stands and nobody waits for it. */
function needsNoReport(rule: DueRuleRow): boolean {
  const wanted = rule.holders.some(({ status }) => HOLDING_STATUSES.some((holding) => holding === status));
  return wanted ? rule.state === 'present' && !isWaitedFor(rule) : rule.state === 'absent';
}
