import type { Pool, PoolClient } from 'pg';
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { isRefusal, recordBeside } from './audit-table';
import { createDataSource, type DatabaseSettings } from './data-source';
import { DatabasePool, type DatabasePoolConfig } from './database-pool';
import { isConflict, isUnavailable } from './database-faults';
import { postgresErrorField } from './postgres-error';
import { grantServiceRole, type ServiceRole } from './service-role';
import { Trial } from './trial';
import { UnusableDatabase } from './unusable-database';

/** Where a statement runs: in a transaction or in autocommit mode. Always a store method's first argument. */
export type Tx = EntityManager;

const MAX_ATTEMPTS = 4;

/** The oldest major version of PostgreSQL that is tested: `.ci/postgres-versions`. */
const OLDEST_SERVER = 15;

const SESSION_CHANNEL = 'drawbridge_session';

/** The constraint that an insert or update violated; null: none. */
export function brokenConstraint(error: unknown): string | null {
  return postgresErrorField(error, 'constraint');
}

/** Inserts a row: fields without a value have their columns' defaults. @returns its id */
export async function insertRow<Entity extends ObjectLiteral>(
  tx: Tx,
  entity: EntityTarget<Entity>,
  row: { readonly [Field in keyof Entity]?: Readonly<Entity[Field]> | (() => string) },
): Promise<string> {
  const { identifiers } = await tx.insert(entity, row as QueryDeepPartialEntity<Entity>);
  return (identifiers[0] as { id: string }).id;
}

/** Runs a write that a unique constraint may refuse, which aborts the transaction. @returns false: it was refused */
export async function unlessTaken(constraint: string, write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (brokenConstraint(error) === constraint) return false;
    throw error;
  }
}

/** A frequent statement: PostgreSQL plans it once per connection. */
export interface PreparedStatement {
  /** unique and stable: one name always has the same text */
  readonly name: string;
  readonly text: string;
}

/** Runs a prepared statement where `tx` runs. */
export async function execute<Row extends object>(
  tx: Tx,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<Row[]> {
  // a query runner for one statement would cost as much as the statement
  const client = (await (tx.queryRunner ?? poolOf(tx)).connect()) as PoolClient;
  try {
    const { rows } = await client.query<Row>({ ...statement, values: [...values] });
    return rows;
  } finally {
    if (!tx.queryRunner) client.release();
  }
}

const poolOf = ({ dataSource }: Tx): Pool => (dataSource.driver as PostgresDriver).master as Pool;

/** The part of `Database` that most code needs. */
export type Transactions = Pick<Database, 'autocommit' | 'transaction' | 'revocation' | 'ping'>;

const backendOf = async (client: PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;

/** This process's connection pool to PostgreSQL. */
export class Database {
  private readonly source: DataSource;

  /** @param reserved with connections for work that must not wait behind any other */
  constructor(
    private readonly settings: DatabaseSettings,
    private readonly reserved?: Database,
  ) {
    this.source = createDataSource(settings);
  }

  /** For work that closes or keeps access, or finds out who asks for that: on connections of its own, if there are any. */
  get closing(): Database {
    return this.reserved ?? this;
  }

  /** @throws Error when PostgreSQL cannot be reached */
  async connect(): Promise<this> {
    await Promise.all([this.source.initialize(), this.reserved?.connect()]);
    return this;
  }

  /**
   * As `connect`, for the services: also checks the schema, and that a connection keeps its session.
   * @throws UnusableDatabase when it cannot be reached or is too old, migrations of this release are missing, or a pooler is in
   *   between that shares sessions
   */
  async connectMigrated(): Promise<this> {
    try {
      await this.connect();
    } catch (error) {
      throw UnusableDatabase.unreachable(error);
    }
    const problem = await this.problem();
    if (problem === null) return this;
    await this.close();
    throw problem;
  }

  private async problem(): Promise<UnusableDatabase | null> {
    if (this.isTooOld) return UnusableDatabase.tooOld(this.version);
    if (!(await this.keepsSessions())) return UnusableDatabase.sharedSessions();
    const names = this.source.migrations.map(({ name, constructor }) => name ?? constructor.name);
    const missing = await this.missingMigrations(names);
    return missing.length === 0 ? null : UnusableDatabase.behind(missing);
  }

  /** of the server, like 18.4, once connected */
  private get version(): string {
    return this.source.driver.version ?? '';
  }

  private get isTooOld(): boolean {
    return Number.parseInt(this.version, 10) < OLDEST_SERVER;
  }

  /** Tries what this process relies on in its connections, which a pooler may lend to others after each transaction. */
  private async keepsSessions(): Promise<boolean> {
    const runners = [this.source.createQueryRunner(), this.source.createQueryRunner()];
    try {
      const clients = runners.map((runner) => runner.connect() as Promise<PoolClient>);
      const [one, other] = (await Promise.all(clients)) as [PoolClient, PoolClient];
      const backend = await backendOf(one);
      if ((await backendOf(one)) !== backend || (await backendOf(other)) === backend) return false;
      let isNotified = false;
      one.once('notification', () => (isNotified = true));
      await one.query(`LISTEN ${SESSION_CHANNEL}`);
      await other.query(`NOTIFY ${SESSION_CHANNEL}`);
      // what was notified before a statement arrives before its answer
      await backendOf(one);
      await one.query(`UNLISTEN ${SESSION_CHANNEL}`);
      return isNotified;
    } finally {
      await Promise.all(runners.map((runner) => runner.release()));
    }
  }

  /** Ignores unknown migrations: during a rollout the previous release still runs on a newer schema. */
  private async missingMigrations(names: readonly string[]): Promise<string[]> {
    const [table] = await this.source.query<{ exists: boolean }[]>(
      `SELECT to_regclass('migrations') IS NOT NULL AS exists`,
    );
    if (!table?.exists) return [...names];
    const done = await this.source.query<{ name: string }[]>('SELECT name FROM migrations');
    return names.filter((name) => !done.some((migration) => migration.name === name));
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
    await this.reserved?.close();
  }

  /** Another pool to the same database. Its owner closes it. */
  openPool(config: Omit<DatabasePoolConfig, 'connectionString'>): DatabasePool {
    return new DatabasePool({ ...config, connectionString: this.settings.url });
  }

  /** Each statement is a transaction of its own. */
  get autocommit(): Tx {
    return Trial.current?.tx ?? this.source.manager;
  }

  /** Runs `work` in one transaction and retries it after a deadlock or serialization failure. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const trial = Trial.current;
    return trial ? trial.step(work) : this.retryConflicts(() => this.source.transaction(work));
  }

  /** Runs work that tries an act, with one view of the database. It is retried as `transaction`. */
  trial<T>(work: (trial: Trial) => Promise<T>): Promise<T> {
    return this.retryConflicts(() => this.source.transaction('REPEATABLE READ', (tx) => work(new Trial(tx))));
  }

  /**
   * Runs work that revokes access. Other work fails when its audit record or ledger row cannot be written; this is carried
   * out anyway, and what could not be written is kept beside its table, to be moved into it later.
   * @param work runs again in a new transaction when the database refused one of its statements
   * @param mode `statement`: it commits in one statement; `repeatable`: it is idempotent
   */
  async revocation<T>(
    work: (tx: Tx) => Promise<T>,
    mode: 'transaction' | 'statement' | 'repeatable' = 'transaction',
  ): Promise<T> {
    try {
      return await this[mode](work);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this[mode === 'statement' ? 'transaction' : mode]((tx) => {
        recordBeside(tx);
        return work(tx);
      });
    }
  }

  /** As `transaction`, with one retry after a lost connection, when it is unknown whether the first attempt was committed. */
  private async repeatable<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.transaction(work);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return this.transaction(work);
    }
  }

  /** Runs work outside a transaction that commits in one statement, with the same retries. */
  statement<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return Trial.current ? this.transaction(work) : this.retryConflicts(() => work(this.autocommit));
  }

  private async retryConflicts<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS || !isConflict(error)) throw error;
      }
    }
  }

  /** @throws Error when the database does not answer */
  async ping(): Promise<void> {
    await this.source.query('SELECT 1');
  }

  /**
   * Brings the schema up to date.
   * @returns the names of the migrations that ran
   * @throws UnusableDatabase when the server is too old
   */
  async migrate(): Promise<string[]> {
    if (this.isTooOld) throw UnusableDatabase.tooOld(this.version);
    const done = await this.source.runMigrations();
    return done.map((migration) => migration.name);
  }

  /**
   * Creates the role that API and workers connect with, and grants it what they need. Call it as the owner of the
   * tables, after each `migrate`.
   * @param ledgerRetentionMonths lower bound set by the owner: the role cannot drop a younger month of the ledger
   * @throws UnusableDatabase when the role has rights that it must not have
   */
  async grantService(role: ServiceRole, ledgerRetentionMonths: number): Promise<void> {
    await this.transaction(async (tx) => {
      await grantServiceRole(tx, role);
      await tx.query(`UPDATE retention_floor SET months = $1 WHERE name = 'rule_events'`, [
        ledgerRetentionMonths,
      ]);
    });
  }

  /** The statements that would make the schema match the entities; none when the migrations are complete. */
  async schemaDifference(): Promise<string[]> {
    const log = await this.source.driver.createSchemaBuilder().log();
    return log.upQueries.map((statement) => statement.query);
  }
}
