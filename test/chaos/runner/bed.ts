import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { ApiClient } from '../../harness/api-client';
import type { Product } from '../../harness/drawbridge';
import { freePort } from '../../harness/free-port';
import { AppProcess } from '../../harness/processes';
import { RedisServer } from '../../harness/redis';
import { SeverableConnection } from '../../harness/severable-connection';
import { serviceUrlOf } from '../../harness/template';
import { SimulatorClient } from '../../harness/simulator-client';
import { until } from '../../harness/until';
import { Gates } from './gates';
import { OwnPostgres } from './own-postgres';
import { SupervisedProcess } from './supervised-process';

const APIS = 2;
const WORKERS = 2;
const WELL_TIMEOUT_MS = 60_000;

/** The whole product, twice over, with every part of it free to be killed, stopped or cut off. */
export class Bed implements Product {
  readonly cloud: SimulatorClient;
  readonly apis: SupervisedProcess[] = [];
  readonly workers: SupervisedProcess[] = [];
  readonly apiBases: string[] = [];
  readonly gates: Gates;
  private readonly sql: Pool;

  private constructor(
    readonly postgres: OwnPostgres,
    readonly redis: RedisServer | null,
    private readonly simulator: AppProcess,
  ) {
    this.cloud = new SimulatorClient(`http://127.0.0.1:${simulator.port}`);
    this.gates = new Gates(postgres.url);
    this.sql = new Pool({ connectionString: postgres.url, max: 6 });
    // the server is killed again and again: a query that is cut off fails by itself
    this.sql.on('error', () => undefined);
  }

  /** Two APIs, two workers, a durable PostgreSQL and the simulated clouds. @param latencyMs of every cloud call */
  static async start(withRedis: boolean, latencyMs: number): Promise<Bed> {
    const [postgres, redis, simulator] = await Promise.all([
      OwnPostgres.start(),
      withRedis ? RedisServer.start() : null,
      AppProcess.start('simulator', {
        SIMULATOR_PORT: '0',
        SIMULATOR_LATENCY_MS: String(latencyMs),
        SIMULATOR_RULES_PER_GROUP: '1000',
        SIMULATOR_READ_BURST: '10000',
        SIMULATOR_READ_REFILL_PER_SECOND: '1000',
      }),
    ]);
    const bed = new Bed(postgres, redis, simulator);
    try {
      await bed.gates.install();
      await bed.startProcesses();
      return bed;
    } catch (error) {
      await bed.stop();
      throw error;
    }
  }

  get databaseUrl(): string {
    return this.postgres.url;
  }

  /** The first API, without an identity. */
  get api(): ApiClient {
    return new ApiClient(this.apiBases[0]!);
  }

  get apiServer(): { readonly port: number } {
    return { port: Number(new URL(this.apiBases[0]!).port) };
  }

  get processes(): readonly SupervisedProcess[] {
    return [...this.apis, ...this.workers];
  }

  /** The process at the other end of a connection that PostgreSQL sees. */
  processAt(clientPort: number): SupervisedProcess {
    const found = this.processes.find(({ ways }) => ways.postgres.owns(clientPort));
    if (!found) throw new Error(`No process of ours is at port ${clientPort}`);
    return found;
  }

  /** Past every way, straight to the database. */
  async query<Row extends object>(statement: string, given: readonly unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<Row>(statement, [...given])).rows;
  }

  /** Everything runs again, and the database answers. */
  async isWell(): Promise<void> {
    await until(
      'PostgreSQL answers',
      () =>
        this.query('SELECT 1').then(
          () => true,
          () => false,
        ),
      WELL_TIMEOUT_MS,
    );
    await Promise.all(this.processes.map((process) => process.back()));
  }

  /** What the APIs logged of failures that nobody foresaw: one line of each kind. */
  complaints(): string {
    const lines = this.apis.flatMap((api) => api.output.split('\n'));
    const kinds = new Map(
      lines
        .filter((line) => line.includes('failed unexpectedly'))
        .map((line) => [/"message":"([^"]*)"/.exec(line)?.[1], line]),
    );
    return [...kinds.values()].join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
    for (const { ways } of this.processes) {
      await ways.postgres.cut();
      await ways.redis?.cut();
    }
    await this.simulator.stop('SIGKILL');
    await this.redis?.kill();
    await this.sql.end();
    await this.postgres.stop();
  }

  private async startProcesses(): Promise<void> {
    const clouds = `${this.cloud.url}/aws`;
    const shared = {
      MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
      DEPLOYMENT_ID: 'chaos',
      AWS_ENDPOINT_URL_EC2: `${clouds}/ec2`,
      AWS_ENDPOINT_URL_STS: `${clouds}/sts`,
      LOG_LEVEL: 'warn',
    };
    const api = {
      ...shared,
      EMBEDDED: 'true',
      PASSWORD_HASH_COST: '4',
      JWT_SECRET: randomBytes(32).toString('hex'),
      // whoever works through a long run signs in once
      ACCESS_TOKEN_TTL: '86400',
      RATE_LIMIT_PER_MINUTE: '1000000',
      MAX_LIVE_SESSIONS_PER_USER: '0',
    };
    for (let index = 0; index < APIS; index += 1) {
      const port = await freePort();
      this.apiBases.push(`http://127.0.0.1:${port}/api/v1`);
      this.apis.push(await this.process('api', { ...api, PORT: String(port) }));
    }
    for (let index = 0; index < WORKERS; index += 1) this.workers.push(await this.process('worker', shared));
  }

  private async process(
    name: 'api' | 'worker',
    environment: Readonly<Record<string, string>>,
  ): Promise<SupervisedProcess> {
    const postgres = await SeverableConnection.to(serviceUrlOf(this.postgres.url));
    const redis = this.redis && (await SeverableConnection.to(this.redis.url));
    const servers = { DATABASE_URL: postgres.url, ...(redis ? { REDIS_URL: redis.url } : {}) };
    return SupervisedProcess.start(name, { ...environment, ...servers }, { postgres, redis });
  }
}
