import type { Logger } from 'pino';
import type { DeploymentHealth } from '#connections';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import { MetricsServer } from '#metrics';
import type { RepeatedTask } from '../repeated-task';
import type { WorkerMetrics } from './worker-metrics';
import type { WorkerReadiness } from './worker-readiness';

export interface ShownToOperators {
  readonly metrics: WorkerMetrics;
  readonly database: Database;
  readonly engine: EngineStore;
  readonly health: DeploymentHealth;
  readonly readiness: WorkerReadiness;
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
    const { metrics, database, engine, health, readiness, tasks } = this.shown;
    health.watch(metrics.registry, 'worker');
    metrics.watchAgents(database, engine);
    metrics.watchTasks(tasks);
    this.server = await MetricsServer.listen(
      { port, host },
      {
        registry: metrics.registry,
        readiness: () => readiness.report(),
      },
    );
    this.log.info({ port: this.server.port }, 'Metrics and health are served');
  }

  get address(): number | null {
    return this.server?.port ?? null;
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}
