import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Provider } from '@nestjs/common';
import { CredentialOpener } from '#credentials';
import { DriverRegistry } from '#drivers';
import {
  AgentConverger,
  CloudAccess,
  Converger,
  ConvergenceRunner,
  MACHINE_TIMING,
  Reconciler,
  Sweeper,
  convergenceByProvider,
} from '#engine';
import {
  AgentSettlementStore,
  AgentWatchStore,
  ComparisonStore,
  ConvergenceStore,
  DriftStore,
  LeaseStore,
  LedgerStore,
  MissingTargetStore,
  SettlementOwnersStore,
  SettlementStore,
  SweepStore,
  SweeperLeaseStore,
  UnmanagedStore,
  WriteBudgetStore,
} from '#engine-store';
import { Database } from '#entities';
import { WakeUps } from '#jobs';
import { factory } from './factory';
import { WorkerMetrics } from './health/worker-metrics';
import { WorkerLog } from './worker-log';
import { WorkerSettings } from './worker.settings';

/** Names this process in leases, in the ledger and in logs. */
const WORKER_ID = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;

const settlementStores = {
  leases: new LeaseStore(),
  convergence: new ConvergenceStore(),
  settlements: new SettlementStore(),
  owners: new SettlementOwnersStore(),
  ledger: new LedgerStore(),
  budgets: new WriteBudgetStore(),
};

/** The engine of this process: what it is made of, in the order of dependency. */
export const ENGINE_PROVIDERS: readonly Provider[] = [
  factory(SweepStore, [WorkerSettings], ({ RECONCILE_SECONDS }) => new SweepStore(RECONCILE_SECONDS)),
  factory(
    ComparisonStore,
    [WorkerSettings],
    ({ RECONCILE_SECONDS }) => new ComparisonStore(RECONCILE_SECONDS),
  ),
  factory(
    CloudAccess,
    [Database, DriverRegistry, CredentialOpener, WorkerSettings],
    (database, drivers, credentials, { DEPLOYMENT_ID }) =>
      new CloudAccess(database, drivers, credentials, DEPLOYMENT_ID),
  ),
  factory(
    Reconciler,
    [Database, ComparisonStore, CloudAccess],
    (database, comparisons, clouds) =>
      new Reconciler(
        database,
        {
          ...settlementStores,
          comparisons,
          drift: new DriftStore(),
          unmanaged: new UnmanagedStore(),
          missingTargets: new MissingTargetStore(),
        },
        clouds,
        MACHINE_TIMING,
        WORKER_ID,
      ),
  ),
  factory(
    Converger,
    [Database, CloudAccess, Reconciler, WorkerMetrics],
    (database, clouds, reconciler, metrics) =>
      new Converger(database, settlementStores, clouds, reconciler, metrics, MACHINE_TIMING, WORKER_ID),
  ),
  factory(
    AgentConverger,
    [Database, ComparisonStore, WorkerMetrics],
    (database, comparisons, metrics) =>
      new AgentConverger(
        database,
        {
          ...settlementStores,
          comparisons,
          watch: new AgentWatchStore(),
          reports: new AgentSettlementStore(),
        },
        metrics,
        MACHINE_TIMING,
        WORKER_ID,
      ),
  ),
  factory(
    ConvergenceRunner,
    [Database, SweepStore, Converger, AgentConverger, WorkerSettings, WorkerLog],
    (database, sweeps, converger, agents, { WORKER_CONCURRENCY }, { log }) =>
      new ConvergenceRunner(
        database,
        sweeps,
        convergenceByProvider((provider) => DriverRegistry.isDriven(provider), converger, agents),
        WORKER_CONCURRENCY,
        MACHINE_TIMING,
        log,
      ),
  ),
  factory(
    Sweeper,
    [Database, SweepStore, ConvergenceRunner, WakeUps, WorkerLog],
    (database, sweeps, runner, wakeUps, { log }) =>
      new Sweeper(
        database,
        sweeps,
        new SweeperLeaseStore(),
        runner,
        (targets) => wakeUps.wake('revoke-rules', targets),
        WORKER_ID,
        () => MACHINE_TIMING.now(),
        log,
      ),
  ),
];
