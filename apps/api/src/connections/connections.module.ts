import {
  Global,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { DriverRegistry } from '#drivers';
import { Database } from '#entities';
import { AccountStore, AuditStore, DataKeyStore } from '#tenant-store';
import { connectQueue, refuseWrongRedis, WakeUps } from '#jobs';
import { MasterKeys, PasswordHasher, refuseWrongMasterKeys } from '#secrets';
import { ApiSettings } from '../api.settings';
import { QueueConnectionProbe, QueueProbe } from '../health/queue-probe';
import { PublicAddress } from '../http/public-address';

const POOL_SIZE = 20;

class ConnectionsEnd implements OnApplicationShutdown {
  constructor(private readonly close: () => Promise<void>) {}

  /** After the last request: nobody needs them any more. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

/** What the process is connected to, and the stores that ask it. */
@Global()
@Module({})
export class ConnectionsModule {
  /** @throws SettingsError or UnusableDatabase when this configuration would serve only by half */
  static async connect(settings: ApiSettings): Promise<DynamicModule> {
    const logger = new Logger('Connections');
    const masterKeys = MasterKeys.parse(settings.MASTER_KEYS);
    const database = await new Database({
      url: settings.DATABASE_URL,
      applicationName: 'drawbridge-api',
      poolSize: POOL_SIZE,
    }).connectMigrated();
    refuseWrongMasterKeys(masterKeys, await new DataKeyStore().oneOfEachVersion(database.autocommit));
    if (settings.REDIS_URL !== undefined) await refuseWrongRedis(settings.REDIS_URL);
    const warn = (error: Error): void =>
      logger.warn({ msg: 'The queue is out of reach', reason: error.message });
    const queue = connectQueue(
      { redisUrl: settings.REDIS_URL ?? null, databaseUrl: settings.DATABASE_URL },
      warn,
    );
    const wakeUps = new WakeUps(queue, warn);
    const end = new ConnectionsEnd(async () => {
      await wakeUps.close();
      await queue.close();
      await database.close();
    });
    const providers: Provider[] = [
      { provide: ApiSettings, useValue: settings },
      { provide: MasterKeys, useValue: masterKeys },
      { provide: PasswordHasher, useValue: new PasswordHasher(settings.PASSWORD_HASH_COST) },
      { provide: Database, useValue: database },
      { provide: WakeUps, useValue: wakeUps },
      { provide: QueueProbe, useValue: new QueueConnectionProbe(queue) },
      { provide: DriverRegistry, useValue: new DriverRegistry(process.env) },
      AccountStore,
      AuditStore,
      PublicAddress,
    ];
    return {
      module: ConnectionsModule,
      providers: [...providers, { provide: ConnectionsEnd, useValue: end }],
      exports: providers.map((provider) => ('provide' in provider ? provider.provide : provider)),
    };
  }
}
