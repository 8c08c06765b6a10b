import type { Logger } from 'pino';
import type { DeploymentHealth } from '#connections';
import type { Database } from '#entities';
import { MetricsServer } from '#metrics';
import type { RepeatedTask } from '../repeated-task';
import type { WorkerMetrics } from './worker-metrics';
import type { WorkerReadiness } from './worker-readiness';

/** The HTTP port for metrics and health probes. */
export class OperatorPort {
  private server: MetricsServer | null = null;

  /** @param endpoint port null: no port is opened */
  constructor(
    private readonly endpoint: { readonly port: number | null; readonly host: string },
    private readonly metrics: WorkerMetrics,
    private readonly database: Database,
    private readonly health: DeploymentHealth,
    private readonly readiness: WorkerReadiness,
    private readonly tasks: readonly RepeatedTask[],
    private readonly log: Logger,
  ) {}

  /** @throws Error when the port is taken */
  async open(): Promise<void> {
    const { port, host } = this.endpoint;
    if (port === null) return;
    this.health.watch(this.metrics.registry, 'worker');
    this.metrics.watchAgents(this.database);
    this.metrics.watchTasks(this.tasks);
    this.server = await MetricsServer.listen(
      { port, host },
      {
        registry: this.metrics.registry,
        readiness: () => this.readiness.report(),
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
