import { EngineStore } from '#engine-store';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Provider } from '@nestjs/common';
import type { Logger } from 'pino';
import { DeploymentId } from '#connections';
import { CredentialOpener } from '#credentials';
import { DriverRegistry } from '#drivers';
import {
  AgentConverger,
  CloudAccess,
  type Convergence,
  Converger,
  ConvergenceRunner,
  MACHINE_TIMING,
  Reconciler,
  Sweeper,
} from '#engine';
import { Database } from '#entities';
import { WakeUps } from '#jobs';
import { factory } from './factory';
import { WorkerMetrics } from './health/worker-metrics';
import type { WorkerSettings } from './worker.settings';

/** Names this process in leases, in the ledger and in logs. */
const WORKER_ID = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;

/** The engine of this process: what it is made of, in the order of dependency. */
export const engineProviders = (
  { WORKER_CONCURRENCY: capacity }: WorkerSettings,
  log: Logger,
): readonly Provider[] => [
  factory(
    CloudAccess,
    [Database, DriverRegistry, CredentialOpener, DeploymentId],
    (database, drivers, credentials, { value }) => new CloudAccess(database, drivers, credentials, value),
  ),
  factory(
    ConvergenceRunner,
    [Database, EngineStore, CloudAccess, WorkerMetrics],
    (database, stores, clouds, metrics) => {
      const reconciler = new Reconciler(database, stores, clouds, MACHINE_TIMING, WORKER_ID);
      const converger = new Converger(
        database,
        stores,
        clouds,
        reconciler,
        metrics,
        MACHINE_TIMING,
        WORKER_ID,
      );
      const agents = new AgentConverger(database, stores, metrics, MACHINE_TIMING, WORKER_ID);
      const convergence: Convergence = {
        // through the provider's driver, or for a host with an agent
        converge: ({ targetId, provider }, stopping) =>
          (DriverRegistry.isDriven(provider) ? converger : agents).converge(targetId, stopping),
        handOver: () => converger.handOver(),
      };
      const slots = { capacity, timing: MACHINE_TIMING };
      return new ConvergenceRunner(database, stores.sweep, convergence, slots, log);
    },
  ),
  factory(
    Sweeper,
    [Database, EngineStore, ConvergenceRunner, WakeUps],
    (database, stores, runner, wakeUps) =>
      new Sweeper(
        database,
        stores,
        runner,
        (targets) => wakeUps.wake('revoke-rules', targets),
        WORKER_ID,
        () => MACHINE_TIMING.now(),
        log,
      ),
  ),
];
