import { randomBytes } from 'node:crypto';
import { cloneDatabase, type ClonedDatabase } from '../database/database';
import { freePort } from '../network/free-port';
import { AppProcess, type Release } from './processes';

/** Tests of the API send hundreds of requests a minute with one credential. No user does, and no program of ours. */
export const TESTERS_LIMIT = { RATE_LIMIT_PER_MINUTE: '1000000' };

export interface ProcessOptions {
  readonly redisUrl?: string;
  /** on a server of the test's own; dropped by `stop` */
  readonly database?: ClonedDatabase;
  readonly simulator?: Readonly<Record<string, string>>;
  readonly api?: Readonly<Record<string, string>>;
  /** true: requests are limited as the product is shipped; else by `TESTERS_LIMIT` */
  readonly limitedAsShipped?: boolean;
  /** the release that the API belongs to: this one when left out */
  readonly apiRelease?: Release;
  /** false: the test starts workers itself */
  readonly worker?: boolean;
  /** true: API and worker are an issuer of ID tokens for clouds, at the API's own address */
  readonly issuer?: boolean;
}

/** The processes of a product on a database of their own. */
export interface Processes {
  /** what workers and further APIs are started with */
  readonly env: Readonly<Record<string, string>>;
  /** as the processes connect */
  readonly databaseUrl: string;
  /** of the tables' owner */
  readonly ownerUrl: string;
  readonly simulator: AppProcess;
  readonly api: AppProcess;
  readonly worker: AppProcess | null;
  readonly limitedAsShipped: boolean;
  readonly dropDatabase: () => Promise<void>;
}

/** Where drivers find the simulated clouds. @param url of the simulator */
export const simulatedClouds = (url: string): Readonly<Record<string, string>> => ({
  AWS_ENDPOINT_URL_EC2: `${url}/aws/ec2`,
  AWS_ENDPOINT_URL_EKS: `${url}/aws/eks`,
  AWS_ENDPOINT_URL_ORGANIZATIONS: `${url}/aws/organizations`,
  AWS_ENDPOINT_URL_STS: `${url}/aws/sts`,
  AWS_ENDPOINT_URL_WAFV2: `${url}/aws/wafv2`,
  GCP_COMPUTE_URL: `${url}/gcp`,
  GCP_RESOURCE_MANAGER_URL: `${url}/gcp`,
  GOOGLE_OAUTH_TOKEN_URL: `${url}/gcp/token`,
  GOOGLE_STS_URL: `${url}/gcp/sts`,
  GOOGLE_IAM_CREDENTIALS_URL: `${url}/gcp/iamcredentials`,
  AZURE_AUTHORITY_HOST: `${url}/azure/login`,
  AZURE_RESOURCE_MANAGER_URL: `${url}/azure/arm`,
  VERCEL_API_URL: `${url}/vercel`,
  ATLAS_URL: `${url}/atlas`,
  TENANT_URL_NETWORKS: '127.0.0.0/8',
});

/** The default cost of a password hash would take a third of the tests' time: tests use the lowest the API accepts. */
export const apiEnvironment = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  PORT: '0',
  EMBEDDED: 'true',
  PASSWORD_HASH_COST: env['EMBEDDED'] === 'false' ? '10' : '4',
  ...env,
});

export async function startProcesses(options: ProcessOptions): Promise<Processes> {
  const [database, simulator, port] = await Promise.all([
    options.database ?? cloneDatabase(),
    AppProcess.start('simulator', {
      SIMULATOR_PORT: '0',
      SIMULATOR_WRITE_BURST: '10000',
      SIMULATOR_READ_BURST: '10000',
      ...options.simulator,
    }),
    options.issuer ? freePort() : 0,
  ]);
  const databaseUrl = database.serviceUrl ?? database.url;
  const env = {
    DATABASE_URL: databaseUrl,
    ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}),
    ...(options.issuer ? { OIDC_ISSUER_URL: `http://localhost:${port}/oidc` } : {}),
    MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
    JWT_SECRET: randomBytes(32).toString('hex'),
    DEPLOYMENT_ID: 'test',
    // most tests start all sessions as one administrator
    MAX_LIVE_SESSIONS_PER_USER: '0',
    ...simulatedClouds(`http://127.0.0.1:${simulator.port}`),
    LOG_LEVEL: 'warn',
    ALLOW_LOCAL_ADDRESSES: 'true',
  };
  const apiEnv = {
    ...(options.limitedAsShipped ? {} : TESTERS_LIMIT),
    ...env,
    // the log has a line for each request
    LOG_LEVEL: 'info',
    PORT: String(port),
    ...options.api,
  };
  const [api, worker] = await Promise.all([
    AppProcess.start('api', apiEnvironment(apiEnv), 'test', options.apiRelease),
    (options.worker ?? true) ? AppProcess.start('worker', env) : null,
  ]);
  const { url: ownerUrl, drop: dropDatabase } = database;
  const limitedAsShipped = options.limitedAsShipped ?? false;
  return { env, databaseUrl, ownerUrl, simulator, api, worker, limitedAsShipped, dropDatabase };
}
