import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
} from '@nestjs/common';
import type { Logger } from 'pino';
import { DriverRegistry } from '#drivers';
import type { CloudAccess, ConvergenceRunner, Sweeper } from '#engine';
import { BacklogStore } from '#engine-store';
import type { Database } from '#entities';
import type { QueueConnection, WakeUps } from '#jobs';
import type { ConvergenceProcessors } from './convergence/convergence.processors';
import type { OperatorPort } from './health/operator-port';
import type { RepeatedTask } from './repeated-task';

/** For a convergence to end its step, then for whatever else is under way. */
const PATIENCE_MS = 5000;
const DRAIN_TIMEOUT_MS = 7000;

export interface WorkerParts {
  readonly database: Database;
  readonly queue: QueueConnection;
  readonly runner: ConvergenceRunner;
  readonly sweeper: Sweeper;
  readonly wakeUps: WakeUps;
  /** what is done again and again */
  readonly tasks: readonly RepeatedTask[];
  readonly startProcessors: () => ConvergenceProcessors;
  readonly clouds: CloudAccess;
  readonly operators: OperatorPort;
  readonly log: Logger;
}

/** Starts the parts in order and stops them in reverse: no new work first, connections last. */
export class WorkerLifecycle
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private processors: ConvergenceProcessors | null = null;

  constructor(private readonly parts: WorkerParts) {}

  /** The operators' port; null: there is none. */
  get operatorPort(): number | null {
    return this.parts.operators.address;
  }

  async onApplicationBootstrap(): Promise<void> {
    // An SDK takes half a second and tens of megabytes: neither while somebody waits for a rule, nor for clouds nobody uses
    const { database, clouds } = this.parts;
    const used = await new BacklogStore().providersInUse(database.autocommit);
    await Promise.all(
      used.filter((provider) => DriverRegistry.isDriven(provider)).map((provider) => clouds.driver(provider)),
    );
    await this.parts.operators.open();
    await this.parts.sweeper.catchUp();
    this.processors = this.parts.startProcessors();
    for (const task of this.parts.tasks) task.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { tasks, runner, log } = this.parts;
    const drained = Promise.all([
      ...tasks.map((task) => task.stop()),
      this.processors?.close(),
      runner.stop(PATIENCE_MS),
    ]).then(() => true);
    const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), DRAIN_TIMEOUT_MS).unref());
    if (!(await Promise.race([drained, late]))) log.warn('Not everything ended in time');
    await this.parts.sweeper
      .standDown()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'The next sweep waits for the lease of this worker to run out'),
      );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.parts.operators.close();
    await this.parts.wakeUps.close();
    await this.parts.queue.close();
    await this.parts.database.close();
  }
}
