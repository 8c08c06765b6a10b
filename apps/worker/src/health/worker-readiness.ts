import { type DeploymentHealth, problemOf, SWEEP_TIMEOUT_MS } from '#connections';
import type { Readiness } from '#metrics';
import type { RepeatedTask } from '../repeated-task';

/**
 * Whether this worker can revoke what is due. That needs a database that accepts writes, and the sweep. A lost queue only
 * slows it down, and a failing cloud shows up in the overdue rules.
 */
export class WorkerReadiness {
  constructor(
    private readonly health: DeploymentHealth,
    private readonly sweep: RepeatedTask,
  ) {}

  async report(): Promise<Readiness> {
    const report = await this.health.report();
    if (report.status !== 'DOWN' && this.sweep.sinceLastSuccessMs > SWEEP_TIMEOUT_MS)
      return { status: 'DOWN', problem: 'the sweep does not come to its end' };
    return { status: report.status, problem: problemOf(report) };
  }
}
