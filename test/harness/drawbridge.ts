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
  /** the folder of the release that the first API belongs to: this one when left out */
  readonly apiRelease?: string;
}

/** What a test asks of a running product, wherever it runs. */
export type Product = Pick<Drawbridge, 'api' | 'cloud' | 'query'> & {
  readonly apiServer: Pick<AppProcess, 'port'>;
};

/** Where drivers find the simulated clouds. @param url of the simulator */
export const simulatedClouds = (url: string): Readonly<Record<string, string>> => ({
  AWS_ENDPOINT_URL_EC2: `${url}/aws/ec2`,
  AWS_ENDPOINT_URL_STS: `${url}/aws/sts`,
  GCP_COMPUTE_URL: `${url}/gcp`,
  GOOGLE_OAUTH_TOKEN_URL: `${url}/gcp/token`,
  AZURE_AUTHORITY_HOST: `${url}/azure/login`,
  AZURE_RESOURCE_MANAGER_URL: `${url}/azure/arm`,
  VERCEL_API_URL: `${url}/vercel`,
  TENANT_URL_NETWORKS: '127.0.0.0/8',
});

/** What is right for people's passwords would be a third of the tests' time: it is as cheap as the API takes it. */
const apiEnvironment = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  PORT: '0',
  EMBEDDED: 'true',
  PASSWORD_HASH_COST: env['EMBEDDED'] === 'false' ? '10' : '4',
  ...env,
});

/** The whole product as it is shipped: API, worker and simulated clouds, each a process, on a database of its own. */
export class Drawbridge {
  readonly api: ApiClient;
  readonly cloud: SimulatorClient;
  readonly workers: AppProcess[] = [];
  private readonly otherApis: AppProcess[] = [];

  private constructor(
    /** as the processes connect */
    readonly databaseUrl: string,
    /** of the tables' owner */
    readonly ownerUrl: string,
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
    const env = {
      DATABASE_URL: database.serviceUrl ?? database.url,
      ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}),
      MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
      JWT_SECRET: randomBytes(32).toString('hex'),
      DEPLOYMENT_ID: 'test',
      // most tests start all sessions as one administrator
      MAX_LIVE_SESSIONS_PER_USER: '0',
      ...simulatedClouds(`http://127.0.0.1:${simulator.port}`),
      LOG_LEVEL: 'warn',
    };
    const sql = new Pool({ connectionString: database.url, max: 4 });
    // dropping the database cuts connections that are still closing; a query that is cut fails by itself
    sql.on('error', () => undefined);
    const apiEnv = apiEnvironment({ RATE_LIMIT_PER_MINUTE: '1000000', ...env, ...options.api });
    const api = await AppProcess.start('api', apiEnv, 'test', options.apiRelease);
    const drawbridge = new Drawbridge(
      env.DATABASE_URL,
      database.url,
      env,
      sql,
      simulator,
      api,
      database.drop,
    );
    if (options.worker ?? true) await drawbridge.startWorker();
    return drawbridge;
  }

  /** @param release its folder; this one when left out */
  async startWorker(
    env: Readonly<Record<string, string>> = {},
    reader?: Reader,
    release?: string,
  ): Promise<AppProcess> {
    const worker = await AppProcess.start('worker', { ...this.env, ...env }, reader, release);
    this.workers.push(worker);
    return worker;
  }

  /** One more API process on the same database. */
  async startApi(env: Readonly<Record<string, string>> = {}, reader?: Reader): Promise<AppProcess> {
    const api = await AppProcess.start('api', apiEnvironment({ ...this.env, ...env }), reader);
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
