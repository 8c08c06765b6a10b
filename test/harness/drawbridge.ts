import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { ApiClient } from './api-client';
import { cloneDatabase, type ClonedDatabase } from './database';
import { AppProcess, type Reader } from './processes';
import { SimulatorClient } from './simulator-client';

export interface DrawbridgeOptions {
  readonly redisUrl?: string;
  /** on a server of the test's own; dropped by `stop` */
  readonly database?: ClonedDatabase;
  /** false: the test starts workers itself */
  readonly worker?: boolean;
  readonly simulator?: Readonly<Record<string, string>>;
  readonly api?: Readonly<Record<string, string>>;
}

/** What a test asks of a running product, wherever it runs. */
export type Product = Pick<Drawbridge, 'api' | 'cloud' | 'query'> & {
  readonly apiServer: Pick<AppProcess, 'port'>;
};

/** The whole product as it is shipped: API, worker and simulated clouds, each a process, on a database of its own. */
export class Drawbridge {
  readonly api: ApiClient;
  readonly cloud: SimulatorClient;
  readonly workers: AppProcess[] = [];
  private readonly otherApis: AppProcess[] = [];

  private constructor(
    readonly databaseUrl: string,
    private readonly env: Readonly<Record<string, string>>,
    private readonly sql: Pool,
    private readonly simulatorProcess: AppProcess,
    private readonly apiProcess: AppProcess,
    private readonly dropDatabase: () => Promise<void>,
  ) {
    this.api = new ApiClient(`http://127.0.0.1:${apiProcess.port}/api/v1`);
    this.cloud = new SimulatorClient(`http://127.0.0.1:${simulatorProcess.port}`);
  }

  static async start(options: DrawbridgeOptions = {}): Promise<Drawbridge> {
    const [database, simulator] = await Promise.all([
      options.database ?? cloneDatabase(),
      AppProcess.start('simulator', {
        SIMULATOR_PORT: '0',
        SIMULATOR_WRITE_BURST: '10000',
        SIMULATOR_READ_BURST: '10000',
        ...options.simulator,
      }),
    ]);
    const clouds = `http://127.0.0.1:${simulator.port}`;
    const env = {
      DATABASE_URL: database.url,
      ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}),
      MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
      JWT_SECRET: randomBytes(32).toString('hex'),
      DEPLOYMENT_ID: 'test',
      AWS_ENDPOINT_URL_EC2: `${clouds}/aws/ec2`,
      AWS_ENDPOINT_URL_STS: `${clouds}/aws/sts`,
      GCP_COMPUTE_URL: `${clouds}/gcp`,
      GOOGLE_OAUTH_TOKEN_URL: `${clouds}/gcp/token`,
      AZURE_AUTHORITY_HOST: `${clouds}/azure/login`,
      AZURE_RESOURCE_MANAGER_URL: `${clouds}/azure/arm`,
      VERCEL_API_URL: `${clouds}/vercel`,
      TENANT_URL_NETWORKS: '127.0.0.0/8',
      LOG_LEVEL: 'warn',
    };
    const sql = new Pool({ connectionString: database.url, max: 4 });
    // dropping the database cuts connections that are still closing; a query that is cut fails by itself
    sql.on('error', () => undefined);
    const api = await AppProcess.start('api', {
      PORT: '0',
      EMBEDDED: 'true',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ...env,
      ...options.api,
    });
    const drawbridge = new Drawbridge(database.url, env, sql, simulator, api, database.drop);
    if (options.worker ?? true) await drawbridge.startWorker();
    return drawbridge;
  }

  async startWorker(env: Readonly<Record<string, string>> = {}, reader?: Reader): Promise<AppProcess> {
    const worker = await AppProcess.start('worker', { ...this.env, ...env }, reader);
    this.workers.push(worker);
    return worker;
  }

  /** One more API process on the same database. */
  async startApi(env: Readonly<Record<string, string>> = {}, reader?: Reader): Promise<AppProcess> {
    const api = await AppProcess.start('api', { PORT: '0', EMBEDDED: 'true', ...this.env, ...env }, reader);
    this.otherApis.push(api);
    return api;
  }

  /** The worker started last. */
  get worker(): AppProcess {
    return this.workers.at(-1)!;
  }

  get apiServer(): AppProcess {
    return this.apiProcess;
  }

  /** Straight to the database: to make time pass, or to see what an endpoint does not show. */
  async query<Row extends object>(statement: string, given: readonly unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<Row>(statement, [...given])).rows;
  }

  async stop(): Promise<void> {
    await Promise.all([
      ...this.workers.map((worker) => worker.stop('SIGKILL')),
      ...[this.apiProcess, ...this.otherApis].map((api) => api.stop('SIGKILL')),
    ]);
    await this.simulatorProcess.stop('SIGKILL');
    // the database may be dropped while a client still says goodbye
    this.sql.on('error', () => undefined);
    await this.sql.end();
    await this.dropDatabase();
  }
}
