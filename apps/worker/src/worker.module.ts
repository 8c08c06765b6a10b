import { Module, type DynamicModule } from '@nestjs/common';
import { pino } from 'pino';
import { DriverRegistry } from '#drivers';
import {
  AgentWatchStore,
  ConvergenceStore,
  Database,
  DataKeyStore,
  LeaseStore,
  ReconcileStore,
  SettlementStore,
  SweepStore,
  WriteBudgetStore,
} from '#entities';
import { connectQueue, refuseWrongRedis, type QueueConnection } from '#jobs';
import { LogSink } from '#logs';
import { MasterKeys, refuseWrongMasterKeys } from '#secrets';
import { AgentConverger } from './agents/agent-converger';
import { auditSealing } from './audit/audit-sealer';
import { overdueAlarm } from './audit/overdue-alarm';
import { unwrittenRecords } from './audit/unwritten-records';
import { subscriptionSweep } from './billing/subscription-sweep';
import { CloudAccess } from './clouds/cloud-access';
import { convergenceByProvider } from './convergence/convergence-by-provider';
import { ConvergenceProcessors } from './convergence/convergence.processors';
import { ConvergenceRunner } from './convergence/convergence-runner';
import { Converger } from './convergence/converger';
import { Reconciler } from './convergence/reconciler';
import { OperatorPort } from './health/operator-port';
import { WorkerMetrics } from './health/worker-metrics';
import { WorkerReadiness } from './health/worker-readiness';
import { idempotencyKeyDeletion } from './sweep/idempotency-key-deletion';
import { spentTokenDeletion } from './sweep/spent-token-deletion';
import { Sweeper, sweeping } from './sweep/sweeper';
import { MACHINE_TIMING } from './timing';
import { verificationTasks } from './verification/verification-tasks';
import type { WorkerSettings } from './worker.settings';
import { WorkerLifecycle } from './worker-lifecycle';

const POOL_SIZE = 12;

@Module({})
export class WorkerModule {
  /** The worker, connected: what cannot start throws here, not later. */
  static async connect(settings: WorkerSettings, environment: NodeJS.ProcessEnv): Promise<DynamicModule> {
    const log = pino({ name: 'worker', level: settings.LOG_LEVEL }, new LogSink(process.stdout));
    const masterKeys = MasterKeys.parse(settings.MASTER_KEYS);
    const database = await new Database({
      url: settings.DATABASE_URL,
      applicationName: 'drawbridge-worker',
      poolSize: POOL_SIZE,
    }).connectMigrated();
    refuseWrongMasterKeys(masterKeys, await new DataKeyStore().oneOfEachVersion(database.autocommit));
    if (settings.REDIS_URL !== undefined) await refuseWrongRedis(settings.REDIS_URL);
    const queue: QueueConnection = connectQueue(
      { redisUrl: settings.REDIS_URL ?? null, databaseUrl: settings.DATABASE_URL },
      (error) => log.warn({ err: error }, 'The queue connection broke; it comes back by itself'),
    );
    const drivers = new DriverRegistry(environment);
    const clouds = new CloudAccess(database, drivers, masterKeys, settings.DEPLOYMENT_ID);
    const stores = {
      leases: new LeaseStore(),
      convergence: new ConvergenceStore(),
      settlements: new SettlementStore(),
      budgets: new WriteBudgetStore(),
    };
    const metrics = new WorkerMetrics(log);
    const sweeps = new SweepStore();
    const reconciles = new ReconcileStore(settings.RECONCILE_SECONDS);
    const reconciler = new Reconciler(database, stores.leases, reconciles, clouds);
    const agentStores = { ...stores, reconciles, watch: new AgentWatchStore() };
    const runner = new ConvergenceRunner(
      database,
      sweeps,
      convergenceByProvider(
        (provider) => DriverRegistry.isDriven(provider),
        new Converger(database, stores, clouds, reconciler, metrics, MACHINE_TIMING),
        new AgentConverger(database, agentStores, metrics, MACHINE_TIMING),
      ),
      settings.WORKER_CONCURRENCY,
      MACHINE_TIMING,
      log,
    );
    const sweep = sweeping(new Sweeper(database, sweeps, runner, log), log);
    const operators = new OperatorPort(
      settings.METRICS_PORT ?? null,
      metrics,
      database,
      new WorkerReadiness(database, sweep),
      queue,
      log,
    );
    const tasks = [
      sweep,
      auditSealing(database, log),
      unwrittenRecords(database, log),
      overdueAlarm(database, log),
      subscriptionSweep(database, log),
      idempotencyKeyDeletion(database, log),
      spentTokenDeletion(database, log),
      ...verificationTasks(database, clouds, log),
    ];
    const startProcessors = (): ConvergenceProcessors =>
      new ConvergenceProcessors(DriverRegistry.providers, queue, runner, settings.WORKER_CONCURRENCY, log);
    return {
      module: WorkerModule,
      providers: [
        {
          provide: WorkerLifecycle,
          useValue: new WorkerLifecycle({
            database,
            queue,
            runner,
            tasks,
            startProcessors,
            clouds,
            operators,
            log,
          }),
        },
      ],
    };
  }
}
