import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DriverRegistry } from '#drivers';
import { CloudAccess, ConvergenceRunner, Sweeper } from '#engine';
import { EngineStore } from '#engine-store';
import { Database } from '#entities';
import { ConvergenceProcessors } from './convergence/convergence.processors';
import { OperatorPort } from './health/operator-port';
import { WorkerLog } from './worker-log';
import { WorkerTasks } from './worker-tasks';

/** For running convergences to end their current step. */
const RUNNER_STOP_TIMEOUT_MS = 5000;
/** For all running work together. */
const DRAIN_TIMEOUT_MS = 7000;

/**
 * Starts the components in order and stops them in reverse: no new work first, the operator port last. The connections
 * module closes what they use.
 */
@Injectable()
export class WorkerLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly database: Database,
    private readonly engine: EngineStore,
    private readonly clouds: CloudAccess,
    private readonly runner: ConvergenceRunner,
    private readonly sweeper: Sweeper,
    private readonly processors: ConvergenceProcessors,
    private readonly tasks: WorkerTasks,
    private readonly operators: OperatorPort,
    private readonly log: WorkerLog,
  ) {}

  /** The port for metrics and probes; null: there is none. */
  get operatorPort(): number | null {
    return this.operators.address;
  }

  async onApplicationBootstrap(): Promise<void> {
    // An SDK takes half a second and tens of megabytes: load it before the first job, and only for providers in use
    const used = await this.engine.backlog.providersInUse(this.database.autocommit);
    await Promise.all(
      used
        .filter((provider) => DriverRegistry.isDriven(provider))
        .map((provider) => this.clouds.credentialDriver(provider)),
    );
    await this.operators.open();
    await this.sweeper.catchUp();
    this.processors.start();
    this.tasks.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { log } = this.log;
    const drained = Promise.all([
      this.tasks.stop(),
      this.processors.close(),
      this.runner.stop(RUNNER_STOP_TIMEOUT_MS),
    ]).then(() => true);
    const timeout = new Promise<false>((resolve) =>
      setTimeout(() => resolve(false), DRAIN_TIMEOUT_MS).unref(),
    );
    if (!(await Promise.race([drained, timeout]))) log.warn('Not everything ended in time');
    await this.sweeper
      .standDown()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'The next sweep waits for the lease of this worker to run out'),
      );
    await this.operators.close();
  }
}
