import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { postgresErrorField } from '#entities';
import { ApiClient } from '../../harness/product/api-client';
import { type Product, TESTERS_LIMIT } from '../../harness/product/drawbridge';
import { freePort } from '../../harness/network/free-port';
import { AppProcess } from '../../harness/product/processes';
import { RedisServer } from '../../harness/database/redis';
import { SeverableConnection } from '../../harness/database/severable-connection';
import { serviceUrlOf } from '../../harness/database/template';
import { SimulatorClient } from '../../harness/product/simulator-client';
import { until } from '../../harness/until';
import { Gates } from './gates';
import { OwnPostgres } from './own-postgres';
import { SupervisedProcess } from './supervised-process';

const APIS = 2;
const WORKERS = 2;
const HEALTHY_TIMEOUT_MS = 60_000;
const DEADLOCK = '40P01';

/** A PostgreSQL with the product's schema that can be killed. */
export type KillableServer = Pick<OwnPostgres, 'url' | 'kill' | 'startAgain' | 'stop'>;

/** A complete deployment with two APIs and two workers; every part can be killed, paused or disconnected. */
export class Testbed implements Product {
  readonly cloud: SimulatorClient;
  readonly apis: SupervisedProcess[] = [];
  readonly workers: SupervisedProcess[] = [];
  readonly apiBases: string[] = [];
  readonly gates: Gates;
  private readonly sql: Pool;

  private constructor(
    readonly postgres: KillableServer,
    readonly redis: RedisServer | null,
    private readonly simulator: AppProcess,
  ) {
    this.cloud = new SimulatorClient(`http://127.0.0.1:${simulator.port}`);
    this.gates = new Gates(postgres.url);
    this.sql = new Pool({ connectionString: postgres.url, max: 6 });
    // the server is killed repeatedly: an interrupted query rejects by itself
    this.sql.on('error', () => undefined);
  }

  /** @param latencyMs of every cloud call */
  static async start(
    withRedis: boolean,
    latencyMs: number,
    server: () => Promise<KillableServer> = () => OwnPostgres.start(),
  ): Promise<Testbed> {
    const [postgres, redis, simulator] = await Promise.all([
      server(),
      withRedis ? RedisServer.start() : null,
      AppProcess.start('simulator', {
        SIMULATOR_PORT: '0',
        SIMULATOR_LATENCY_MS: String(latencyMs),
        SIMULATOR_RULES_PER_GROUP: '1000',
        SIMULATOR_READ_BURST: '10000',
        SIMULATOR_READ_REFILL_PER_SECOND: '1000',
      }),
    ]);
    const testbed = new Testbed(postgres, redis, simulator);
    try {
      await testbed.gates.install();
      await testbed.startProcesses();
      return testbed;
    } catch (error) {
      await testbed.stop();
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

  /** The process that owns a client port of a PostgreSQL connection. */
  processAt(clientPort: number): SupervisedProcess {
    const found = this.processes.find(({ connections }) => connections.postgres.owns(clientPort));
    if (!found) throw new Error(`No process owns port ${clientPort}`);
    return found;
  }

  /** Queries the database directly, not through a severable connection. */
  async query<Row extends object>(statement: string, given: readonly unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<Row>(statement, [...given])).rows;
  }

  /** Ends every session. The workers end sessions meanwhile: a deadlock with them is tried again. */
  async expireSessions(): Promise<void> {
    const expire = `UPDATE sessions SET expires_at = now() WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL')`;
    await until('every session expires', () =>
      this.query(expire).then(
        () => true,
        (error: unknown) => {
          if (postgresErrorField(error, 'code') === DEADLOCK) return false;
          throw error;
        },
      ),
    );
  }

  /** Waits until all processes run and the database answers. */
  async untilHealthy(): Promise<void> {
    await until(
      'PostgreSQL answers',
      () =>
        this.query('SELECT 1').then(
          () => true,
          () => false,
        ),
      HEALTHY_TIMEOUT_MS,
    );
    await Promise.all(this.processes.map((process) => process.untilReady()));
  }

  /** Unexpected failures in the logs of the APIs: one line of each kind. */
  unexpectedFailures(): string {
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
    for (const { connections } of this.processes) {
      await connections.postgres.cut();
      await connections.redis?.cut();
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
      // one sign-in lasts for a long run
      ACCESS_TOKEN_TTL: '86400',
      ...TESTERS_LIMIT,
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
