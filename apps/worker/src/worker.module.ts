import { Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { ConnectionsModule, DeploymentHealth } from '#connections';
import { DriverRegistry, TenantHosts, tenantNetworks } from '#drivers';
import { CloudAccess, ConvergenceRunner, Sweeper } from '#engine';
import { EngineStore } from '#engine-store';
import { Database } from '#entities';
import { QueueConnection, WakeUps } from '#jobs';
import { MasterKeys } from '#secrets';
import { IssuerClients } from '#sso';
import { type LeasedWebhook, TenantStores } from '#tenant-store';
import { readSigner } from './audit/signing-key-file';
import { ConvergenceProcessors } from './convergence/convergence.processors';
import { engineProviders } from './engine.providers';
import { factory } from './factory';
import { OperatorPort } from './health/operator-port';
import { WorkerMetrics } from './health/worker-metrics';
import { Vouching } from './sso/vouching';
import { VouchingCheck } from './sso/vouching-check';
import { WebhookDelivery } from './webhooks/webhook-delivery';
import { WebhookReceiver } from './webhooks/webhook-sender';
import { WorkerLifecycle } from './worker-lifecycle';
import { WorkerLog } from './worker-log';
import { WorkerTasks } from './worker-tasks';
import { WorkerSettings } from './worker.settings';

const POOL_SIZE = 12;

@Module({})
export class WorkerModule {
  /** Connects the worker. @throws Error for everything that prevents a start */
  static async connect(
    settings: WorkerSettings,
    environment: NodeJS.ProcessEnv,
    log: Logger,
  ): Promise<DynamicModule> {
    const keyFile = settings.AUDIT_SIGNING_KEY_FILE;
    const signer = keyFile === undefined ? null : readSigner(keyFile);
    return {
      module: WorkerModule,
      imports: [
        await ConnectionsModule.connect({
          applicationName: 'drawbridge-worker',
          poolSize: POOL_SIZE,
          comparisonSeconds: settings.RECONCILE_SECONDS,
          settings,
          environment,
          onQueueError: (error) =>
            log.warn({ err: error }, 'The queue connection was lost; it reconnects automatically'),
          onLostWakeUp: (error) =>
            log.warn({ err: error }, 'Workers were not woken; the worker that sweeps does their work'),
          onRestored: (message) => log.warn(message),
          onOwnIdentityFailure: ({ message }) =>
            log.warn({ reason: message }, 'This deployment got no keys of its own identity'),
        }),
      ],
      providers: [
        { provide: WorkerSettings, useValue: settings },
        { provide: WorkerLog, useValue: new WorkerLog(log) },
        { provide: WorkerMetrics, useValue: new WorkerMetrics(log) },
        ...engineProviders(settings, log),
        factory(WebhookDelivery, [Database, TenantStores, MasterKeys], (database, stores, masterKeys) => {
          const hosts = new TenantHosts(tenantNetworks(environment));
          const receiverOf = (webhook: LeasedWebhook): WebhookReceiver =>
            new WebhookReceiver(webhook, masterKeys, hosts, settings.PUBLIC_URL);
          return new WebhookDelivery(database, stores, receiverOf, log);
        }),
        factory(
          Vouching,
          [Database, TenantStores, MasterKeys, WakeUps],
          (database, stores, masterKeys, wakeUps) => {
            const issuers = new IssuerClients(tenantNetworks(environment));
            const wake = wakeUps.wake.bind(wakeUps, 'revoke-rules');
            const check = new VouchingCheck(database, stores, issuers, masterKeys, { wake });
            return new Vouching(database, stores.dueSsoSignIns, check, log);
          },
        ),
        factory(
          WorkerTasks,
          [Database, TenantStores, EngineStore, Sweeper, CloudAccess, WebhookDelivery, Vouching],
          (database, stores, engine, sweeper, clouds, webhooks, vouching) =>
            new WorkerTasks({ database, stores, engine, sweeper, clouds, log }, settings, signer, {
              webhooks,
              vouching,
            }),
        ),
        factory(
          OperatorPort,
          [Database, EngineStore, DeploymentHealth, WorkerMetrics, WorkerTasks],
          (database, engine, health, metrics, { sweep, all: tasks }) =>
            new OperatorPort(
              { port: settings.METRICS_PORT ?? null, host: settings.METRICS_HOST },
              { metrics, database, engine, health, sweep, tasks },
              log,
            ),
        ),
        factory(
          ConvergenceProcessors,
          [QueueConnection, ConvergenceRunner],
          (queue, runner) =>
            new ConvergenceProcessors(
              DriverRegistry.providers,
              queue,
              runner,
              settings.WORKER_CONCURRENCY,
              log,
            ),
        ),
        WorkerLifecycle,
      ],
    };
  }
}
