import type { Logger } from 'pino';
import { type DeploymentHealth, problemOf, SWEEP_TIMEOUT_MS } from '#connections';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import { MetricsServer, type Readiness } from '#metrics';
import type { RepeatedTask } from '../repeated-task';
import type { WorkerMetrics } from './worker-metrics';

export interface ShownToOperators {
  readonly metrics: WorkerMetrics;
  readonly database: Database;
  readonly engine: EngineStore;
  readonly health: DeploymentHealth;
  readonly sweep: RepeatedTask;
  readonly tasks: readonly RepeatedTask[];
}

/** The HTTP port for metrics and health probes. */
export class OperatorPort {
  private server: MetricsServer | null = null;

  /** @param endpoint port null: no port is opened */
  constructor(
    private readonly endpoint: { readonly port: number | null; readonly host: string },
    private readonly shown: ShownToOperators,
    private readonly log: Logger,
  ) {}

  /** @throws Error when the port is taken */
  async open(): Promise<void> {
    const { port, host } = this.endpoint;
    if (port === null) return;
    const { metrics, database, engine, health, tasks } = this.shown;
    health.watch(metrics.registry, 'worker');
    metrics.watchAgents(database, engine);
    metrics.watchTasks(tasks);
    this.server = await MetricsServer.listen(
      { port, host },
      { registry: metrics.registry, readiness: () => this.readiness() },
    );
    this.log.info({ port: this.server.port }, 'Metrics and health are served');
  }

  /**
   * Whether this worker can revoke what is due. That needs a database that accepts writes, and the sweep. A lost queue only
   * slows it down, and a failing cloud shows up in the overdue rules.
   */
  private async readiness(): Promise<Readiness> {
    const { health, sweep } = this.shown;
    const report = await health.report();
    if (report.status !== 'DOWN' && sweep.sinceLastSuccessMs > SWEEP_TIMEOUT_MS)
      return { status: 'DOWN', problem: 'the sweep does not come to its end' };
    return { status: report.status, problem: problemOf(report) };
  }

  get address(): number | null {
    return this.server?.port ?? null;
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}
