import type { PoolClient } from 'pg';
import { type DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import { createDataSource, type DatabaseSettings } from './data-source';
import { isUnavailable } from './database-faults';
import { grantServiceRole, type ServiceRole } from './service-role';
import { UnusableDatabase } from './unusable-database';

/** Where a statement runs: inside a transaction, or on its own. Always a store method's first argument. */
export type Tx = EntityManager;

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const MAX_ATTEMPTS = 4;

/** What PostgreSQL says of an error, whether TypeORM wrapped it or not. */
export function saidByPostgres(error: unknown, field: 'code' | 'constraint' | 'detail'): string | null {
  const told: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (typeof told !== 'object' || told === null) return null;
  const value = (told as Record<string, unknown>)[field];
  return typeof value === 'string' ? value : null;
}

/** The constraint an insert or update broke, when it broke one. */
export function brokenConstraint(error: unknown): string | null {
  return saidByPostgres(error, 'constraint');
}

/** The rows of an UPDATE … RETURNING or DELETE … RETURNING, which TypeORM answers with as `[rows, count]`. */
export function returned<Row>(answer: unknown): Row[] {
  return (answer as [Row[], number])[0];
}

/** A statement every request sends: PostgreSQL plans it once for each connection. */
export interface PreparedStatement {
  /** one text for one name, for ever */
  readonly name: string;
  readonly text: string;
}

/** Runs a prepared statement where `tx` runs. */
export async function prepared<Row extends object>(
  tx: Tx,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<Row[]> {
  const runner = tx.queryRunner ?? tx.connection.createQueryRunner();
  try {
    const client = (await runner.connect()) as PoolClient;
    const { rows } = await client.query<Row>({ ...statement, values: [...values] });
    return rows;
  } finally {
    if (!tx.queryRunner) await runner.release();
  }
}

/** What most of the code needs of a `Database`. */
export type Transactions = Pick<Database, 'autocommit' | 'transaction' | 'repeatable' | 'statement' | 'ping'>;

/** This process's way to PostgreSQL. */
export class Database {
  private readonly source: DataSource;

  constructor(settings: DatabaseSettings) {
    this.source = createDataSource(settings);
  }

  /** @throws Error when PostgreSQL cannot be reached */
  async connect(): Promise<this> {
    await this.source.initialize();
    return this;
  }

  /**
   * As `connect`, for what serves at DATABASE_URL.
   * @throws UnusableDatabase when it cannot be reached, or migrations of this release did not run
   */
  async connectMigrated(): Promise<this> {
    try {
      await this.connect();
    } catch (error) {
      throw UnusableDatabase.unreachable(error);
    }
    const names = this.source.migrations.map(({ name, constructor }) => name ?? constructor.name);
    const missing = await this.missingMigrations(names);
    if (missing.length === 0) return this;
    await this.close();
    throw UnusableDatabase.behind(missing);
  }

  /** A database that is ahead is none of its concern: during a rollout the release before still runs. */
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
  }

  /** Each statement is a transaction of its own. */
  get autocommit(): Tx {
    return this.source.manager;
  }

  /** Runs `work` in one transaction, again when PostgreSQL chose it as the victim of a deadlock. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.again(() => this.source.transaction(work));
  }

  /**
   * As `transaction`, and once more when the connection was lost: whether the first was committed is not known then.
   * @param work that changes nothing when it finds its own work done
   */
  async repeatable<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.transaction(work);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return this.transaction(work);
    }
  }

  /** Runs a single statement that changes several rows, again when it was the victim of a deadlock. */
  statement<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.again(() => work(this.autocommit));
  }

  private async again<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const state = saidByPostgres(error, 'code');
        if (tries >= MAX_ATTEMPTS || (state !== SERIALIZATION_FAILURE && state !== DEADLOCK)) throw error;
      }
    }
  }

  /** @throws Error when the database does not answer */
  async ping(): Promise<void> {
    await this.source.query('SELECT 1');
  }

  /** Brings the schema up to date. @returns the names of the migrations that ran */
  async migrate(): Promise<string[]> {
    const done = await this.source.runMigrations();
    return done.map((migration) => migration.name);
  }

  /**
   * Creates the role that API and workers connect with, and grants it what they need. Called as the owner of the tables,
   * after `migrate` and again after each release's migrations.
   * @param ledgerRetentionMonths the owner's lower bound: the role cannot drop a younger month of the ledger
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

  /** The statements that would make the schema match the entities: none, when the migrations are complete. */
  async schemaDifference(): Promise<string[]> {
    const log = await this.source.driver.createSchemaBuilder().log();
    return log.upQueries.map((statement) => statement.query);
  }
}
