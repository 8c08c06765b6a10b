import { DataSource } from 'typeorm';
import { DatabasePool, type DatabasePoolConfig } from './database-pool';
import * as entities from './entities';
import { Accounts1795800000000 } from './migrations/1795800000000-accounts';
import { Labels1795700000000 } from './migrations/1795700000000-labels';
import { Reviews1795900000000 } from './migrations/1795900000000-reviews';
import { Room1796000000000 } from './migrations/1796000000000-room';
import { Turns1796100000000 } from './migrations/1796100000000-turns';
import { Baseline1795600000000 } from './migrations/1795600000000-baseline';
import { SnakeCaseNaming } from './snake-case-naming';

export interface DatabaseSettings {
  readonly url: string;
  readonly applicationName: string;
  /** maximum number of connections of this process */
  readonly poolSize: number;
  /** false: no statement timeout, for migrations; default true */
  readonly hasTimeouts?: boolean;
}

/**
 * Opening a connection costs the database a process and this one a key derivation: a burst after some quiet seconds is not to
 * open them all again.
 */
const IDLE_CONNECTION_MS = 5 * 60_000;

/** How long a statement waits in line for a connection, as long as another one may take: a burst is served in turn. */
const IN_LINE_MS = 15_000;

/** The product's tables. Not connected yet: call `initialize()`. */
export function createDataSource(settings: DatabaseSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    driver: { Pool: DatabasePool },
    url: settings.url,
    applicationName: settings.applicationName,
    poolSize: settings.poolSize,
    connectTimeoutMS: IN_LINE_MS,
    extra: {
      hasTimeouts: settings.hasTimeouts,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      // statements here never gain from a custom plan; planning each time costs as much as running them
      session: { plan_cache_mode: 'force_generic_plan' },
    } satisfies DatabasePoolConfig,
    namingStrategy: new SnakeCaseNaming(),
    // gen_random_uuid() is built into PostgreSQL: no extension to install
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    synchronize: false,
    entities: Object.values(entities).filter((exported) => typeof exported === 'function'),
    migrations: [
      Baseline1795600000000,
      Labels1795700000000,
      Accounts1795800000000,
      Reviews1795900000000,
      Room1796000000000,
      Turns1796100000000,
    ],
    migrationsTransactionMode: 'each',
  });
}
