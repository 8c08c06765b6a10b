import { Injectable } from '@nestjs/common';
import type { AgentVisit } from '#engine-store';
import { FairLimiter, LimiterPerKey, type OrganizationId } from '#rules';

/**
 * The agents' shares of the connections to the database, far from all of them: states use the usual ones, reports those that
 * close access.
 */
const AT_ONCE = { state: 8, report: 3 } as const;

/**
 * Serves requests of a host one after the other: the others would wait for the lock on its agent, each with a connection.
 * Organizations take turns.
 */
@Injectable()
export class AgentTurns {
  private readonly hosts = new LimiterPerKey(1, 1);
  private readonly shares = {
    state: new FairLimiter(AT_ONCE.state, Infinity),
    report: new FairLimiter(AT_ONCE.report, Infinity),
  };

  /**
   * Runs `work` when it is this request's turn.
   * @throws TooBusy when another request of the host waits already, and what `work` throws
   */
  run<T>(
    kind: keyof typeof AT_ONCE,
    organization: OrganizationId,
    { targetKey }: AgentVisit,
    work: () => Promise<T>,
    disconnected?: AbortSignal,
  ): Promise<T> {
    const inTurn = (): Promise<T> => this.shares[kind].run(organization, work, disconnected);
    return this.hosts.run(`${kind} ${targetKey}`, inTurn, disconnected);
  }
}
