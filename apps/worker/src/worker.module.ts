import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { DriverRegistry } from '#drivers';
import {
  AgentConverger,
  CloudAccess,
  ConvergenceRunner,
  Converger,
  MACHINE_TIMING,
  Reconciler,
  Sweeper,
  convergenceByProvider,
} from '#engine';
import {
  AgentSettlementStore,
  ComparisonStore,
  DriftStore,
  MissingTargetStore,
  UnmanagedStore,
  AgentWatchStore,
  ConvergenceStore,
  LeaseStore,
  LedgerStore,
  SettlementOwnersStore,
  SettlementStore,
  SweepStore,
  SweeperLeaseStore,
  WriteBudgetStore,
} from '#engine-store';
import { Database } from '#entities';
import { DataKeyStore } from '#tenant-store';
import { connectQueue, refuseWrongRedis, WakeUps, type QueueConnection } from '#jobs';
import { MasterKeys, refuseWrongMasterKeys } from '#secrets';
import { auditSealing } from './audit/audit-sealer';
import { checkpointSigning } from './audit/checkpoint-signing';
import { overdueAlarm } from './audit/overdue-alarm';
import { readSigner } from './audit/signing-key-file';
import { unwrittenRecords } from './audit/unwritten-records';
import { subscriptionSweep } from './billing/subscription-sweep';
import { ConvergenceProcessors } from './convergence/convergence.processors';
import { OperatorPort } from './health/operator-port';
import { WorkerMetrics } from './health/worker-metrics';
import { ledgerUpkeep, unwrittenRuleEvents } from './ledger/ledger-upkeep';
import { healthEventDeletion } from './sweep/health-event-deletion';
import { sweeping } from './sweep/sweeping';
import { WorkerReadiness } from './health/worker-readiness';
import { idempotencyKeyDeletion } from './sweep/idempotency-key-deletion';
import { spentTokenDeletion } from './sweep/spent-token-deletion';
import { verificationTasks } from './verification/verification-tasks';
import type { WorkerSettings } from './worker.settings';
import { WorkerLifecycle } from './worker-lifecycle';

const POOL_SIZE = 12;

@Module({})
export class WorkerModule {
  /** The worker, connected: what cannot start throws here, not later. */
  static async connect(
    settings: WorkerSettings,
    environment: NodeJS.ProcessEnv,
    log: Logger,
  ): Promise<DynamicModule> {
    const masterKeys = MasterKeys.parse(settings.MASTER_KEYS);
    const keyFile = settings.AUDIT_SIGNING_KEY_FILE;
    const signer = keyFile === undefined ? null : readSigner(keyFile);
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
      owners: new SettlementOwnersStore(),
      ledger: new LedgerStore(),
      budgets: new WriteBudgetStore(),
    };
    const metrics = new WorkerMetrics(log);
    const sweeps = new SweepStore();
    const comparisons = new ComparisonStore(settings.RECONCILE_SECONDS);
    const workerId = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
    const reconciler = new Reconciler(
      database,
      {
        ...stores,
        comparisons,
        drift: new DriftStore(),
        unmanaged: new UnmanagedStore(),
        missingTargets: new MissingTargetStore(),
      },
      clouds,
      MACHINE_TIMING,
      workerId,
    );
    const agentStores = {
      ...stores,
      comparisons,
      watch: new AgentWatchStore(),
      reports: new AgentSettlementStore(),
    };
    const runner = new ConvergenceRunner(
      database,
      sweeps,
      convergenceByProvider(
        (provider) => DriverRegistry.isDriven(provider),
        new Converger(database, stores, clouds, reconciler, metrics, MACHINE_TIMING, workerId),
        new AgentConverger(database, agentStores, metrics, MACHINE_TIMING, workerId),
      ),
      settings.WORKER_CONCURRENCY,
      MACHINE_TIMING,
      log,
    );
    const wakeUps = new WakeUps(queue, (error) =>
      log.warn({ err: error }, 'Workers were not woken; the worker that sweeps does their work'),
    );
    const sweeper = new Sweeper(
      database,
      sweeps,
      new SweeperLeaseStore(),
      runner,
      (targets) => wakeUps.wake('revoke-rules', targets),
      workerId,
      () => MACHINE_TIMING.now(),
      log,
    );
    const sweep = sweeping(sweeper, log);
    const operators = new OperatorPort(
      { port: settings.METRICS_PORT ?? null, host: settings.METRICS_HOST },
      metrics,
      database,
      new WorkerReadiness(database, sweep),
      queue,
      log,
    );
    const tasks = [
      sweep,
      auditSealing(database, log),
      ...(signer ? [checkpointSigning(database, signer, log)] : []),
      unwrittenRecords(database, log),
      ledgerUpkeep(database, settings.LEDGER_RETENTION_MONTHS, log),
      unwrittenRuleEvents(database, log),
      overdueAlarm(database, log),
      subscriptionSweep(database, log),
      idempotencyKeyDeletion(database, log),
      spentTokenDeletion(database, log),
      healthEventDeletion(database, settings.HEALTH_EVENT_RETENTION_DAYS, log),
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
            sweeper,
            wakeUps,
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
