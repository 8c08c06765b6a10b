import {
  Global,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { issuerUrlOf, type ServiceSettings } from '#config';
import { CredentialOpener, Identities, IdentityStores } from '#credentials';
import { DriverRegistry } from '#drivers';
import { EngineStore } from '#engine-store';
import { EnginePort } from '#engine-store/port';
import { Database } from '#entities';
import { connectQueue, onceAMinute, QueueConnection, refuseWrongRedis, WakeUps } from '#jobs';
import { MasterKeys, refuseUnknownIdentityKeys, refuseWrongMasterKeys } from '#secrets';
import { Tenants, TenantStores } from '#tenant-store';
import { DeploymentHealth, RESTORED } from './deployment-health';
import { DeploymentId } from './deployment-id';

export interface ConnectionOptions {
  readonly applicationName: string;
  /** connections to PostgreSQL, at most */
  readonly poolSize: number;
  /** further ones, for work that closes or keeps access; left out: none */
  readonly closingPoolSize?: number;
  /** between two comparisons of one target; left out: the default */
  readonly comparisonSeconds?: number;
  readonly settings: Pick<
    ServiceSettings,
    'DATABASE_URL' | 'REDIS_URL' | 'DEPLOYMENT_ID' | 'OIDC_ISSUER_URL' | 'PUBLIC_URL'
  > & {
    readonly MASTER_KEYS: string;
  };
  /** the drivers read the providers' endpoints from it */
  readonly environment: NodeJS.ProcessEnv;
  /** called once a minute while the queue's connection is lost; it reconnects automatically */
  readonly onQueueError: (error: Error) => void;
  /** called once a minute while wake-ups are not sent; the sweep finds their targets */
  readonly onLostWakeUp: (error: Error) => void;
  /** called when the database was restored from a backup, and no operator has confirmed that */
  readonly onRestored: (message: string) => void;
  /** called when this deployment's own identity at a cloud got no keys; tenants do not see the reason */
  readonly onOwnIdentityFailure: (reason: Error) => void;
}

/** Closes what the module opened, after every other component of the process has stopped. */
class Connections implements OnApplicationShutdown {
  constructor(private readonly opened: readonly { close(): Promise<void> }[]) {}

  async onApplicationShutdown(): Promise<void> {
    for (const connection of this.opened) await connection.close();
  }
}

/**
 * What API and worker are connected to: database, queue, drivers and master keys. Checks at the start that they fit each
 * other.
 */
@Global()
@Module({})
export class ConnectionsModule {
  /**
   * @throws UnusableDatabase when the database is out of reach or not migrated, SettingsError when a data key or an
   *   identity key is sealed by an unknown master key, DEPLOYMENT_ID is not the kept one, or Redis is not fit for a queue
   */
  static async connect(options: ConnectionOptions): Promise<DynamicModule> {
    const { settings, applicationName, poolSize, closingPoolSize, environment, onOwnIdentityFailure } =
      options;
    const masterKeys = MasterKeys.parse(settings.MASTER_KEYS);
    const url = settings.DATABASE_URL;
    const closing = closingPoolSize && new Database({ url, applicationName, poolSize: closingPoolSize });
    const database = new Database({ url, applicationName, poolSize }, closing || undefined);
    await database.connectMigrated();
    const engine = new EngineStore(options.comparisonSeconds);
    const stores = new Tenants(database);
    const deploymentId = await DeploymentId.keep(
      database.autocommit,
      engine.deploymentIds,
      settings.DEPLOYMENT_ID,
    );
    // before anything works on it
    if (await database.transaction((tx) => engine.restores.note(tx, false))) options.onRestored(RESTORED);
    refuseWrongMasterKeys(masterKeys, await stores.dataKeys.oneOfEachVersion(database.autocommit));
    const identityStores = new IdentityStores();
    refuseUnknownIdentityKeys(masterKeys, await identityStores.keys.listPublished(database.autocommit));
    const identities = new Identities(database, masterKeys, identityStores, issuerUrlOf(settings));
    if (settings.REDIS_URL !== undefined) await refuseWrongRedis(settings.REDIS_URL);
    const queue = connectQueue(
      { redisUrl: settings.REDIS_URL ?? null, openPool: (config) => database.openPool(config) },
      onceAMinute(options.onQueueError),
    );
    const wakeUps = new WakeUps(queue, onceAMinute(options.onLostWakeUp));
    const shared = [
      { provide: MasterKeys, useValue: masterKeys },
      { provide: Identities, useValue: identities },
      { provide: CredentialOpener, useValue: new CredentialOpener(masterKeys, identities) },
      { provide: Database, useValue: database },
      { provide: EngineStore, useValue: engine },
      { provide: EnginePort, useValue: engine },
      { provide: Tenants, useValue: stores },
      { provide: TenantStores, useValue: stores },
      { provide: DeploymentId, useValue: deploymentId },
      { provide: QueueConnection, useValue: queue },
      { provide: DeploymentHealth, useValue: new DeploymentHealth(database, queue, engine) },
      { provide: WakeUps, useValue: wakeUps },
      {
        provide: DriverRegistry,
        useValue: new DriverRegistry(environment, { onOwnIdentityFailure }),
      },
    ] satisfies Provider[];
    return {
      module: ConnectionsModule,
      providers: [...shared, { provide: Connections, useValue: new Connections([wakeUps, queue, database]) }],
      exports: shared.map(({ provide }) => provide),
    };
  }
}
