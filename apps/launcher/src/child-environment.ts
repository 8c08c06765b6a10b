import { randomBytes } from 'node:crypto';
import type { LauncherSettings } from './launcher.settings';
import { environmentOf, type ProcessName } from './process-variables';
import type { Secrets } from './secrets-file';

/** The addresses of a run, once its ports are known. */
export interface Addresses {
  readonly port: number;
  /** null: the clouds are real */
  readonly simulatorPort: number | null;
  readonly publicUrl: string;
  /** null: no metrics ports are opened */
  readonly metricsPorts: { readonly api: number; readonly worker: number } | null;
}

/** PUBLIC_URL, else localhost at the port. */
export const publicUrlOf = (settings: LauncherSettings, port: number): string =>
  (settings.PUBLIC_URL ?? `http://localhost:${port}`).replace(/(?<!\/)\/+$/, '');

/** URLs of one database: for the owner of the tables, and for the role of API and worker. */
export interface DatabaseUrls {
  readonly owner: string;
  readonly service: string;
}

/**
 * The embedded database gets a service role with a new password at each start; for DATABASE_URL the operator names it.
 */
export function databaseUrls(owner: string, settings: LauncherSettings): DatabaseUrls {
  if (settings.DATABASE_URL) return { owner, service: settings.DATABASE_SERVICE_URL ?? owner };
  const service = new URL(owner);
  service.username = 'drawbridge_service';
  service.password = randomBytes(24).toString('hex');
  return { owner, service: service.href };
}

/**
 * The environment of one child process, limited to the variables it reads. The user's values override the defaults
 * here, but for networks, which are added.
 */
export function childEnvironment(
  name: ProcessName,
  given: NodeJS.ProcessEnv,
  { port, simulatorPort, publicUrl, metricsPorts }: Addresses,
  secrets: Secrets,
  databases: DatabaseUrls,
): NodeJS.ProcessEnv {
  const clouds = simulatorPort === null ? {} : simulatedClouds(simulatorPort, port);
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const networks = [own['TENANT_URL_NETWORKS'], clouds['TENANT_URL_NETWORKS']].filter(
    (one) => one !== undefined,
  );
  return environmentOf(name, {
    NODE_ENV: 'development',
    EMBEDDED: 'true',
    ...clouds,
    ...own,
    // the simulated clouds beside those that the user lets tenants reach
    ...(networks.length > 0 && { TENANT_URL_NETWORKS: networks.join(',') }),
    ...secrets,
    DATABASE_URL: name === 'migrate' ? databases.owner : databases.service,
    ...(databases.service !== databases.owner && { DATABASE_SERVICE_URL: databases.service }),
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    ...(simulatorPort !== null && { SIMULATOR_PORT: String(simulatorPort) }),
    ...(metricsPorts &&
      (name === 'api' || name === 'worker') && { METRICS_PORT: String(metricsPorts[name]) }),
  });
}

const simulatedClouds = (port: number, apiPort: number): NodeJS.ProcessEnv => ({
  ALLOW_LOCAL_ADDRESSES: 'true',
  // simulated clouds fetch it from here; real ones need an https address
  OIDC_ISSUER_URL: `http://localhost:${apiPort}/oidc`,
  AWS_ENDPOINT_URL_EC2: `http://127.0.0.1:${port}/aws/ec2`,
  AWS_ENDPOINT_URL_EKS: `http://127.0.0.1:${port}/aws/eks`,
  AWS_ENDPOINT_URL_ORGANIZATIONS: `http://127.0.0.1:${port}/aws/organizations`,
  AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${port}/aws/sts`,
  AWS_ENDPOINT_URL_WAFV2: `http://127.0.0.1:${port}/aws/wafv2`,
  GCP_COMPUTE_URL: `http://127.0.0.1:${port}/gcp`,
  GCP_RESOURCE_MANAGER_URL: `http://127.0.0.1:${port}/gcp`,
  GOOGLE_OAUTH_TOKEN_URL: `http://127.0.0.1:${port}/gcp/token`,
  GOOGLE_STS_URL: `http://127.0.0.1:${port}/gcp/sts`,
  GOOGLE_IAM_CREDENTIALS_URL: `http://127.0.0.1:${port}/gcp/iamcredentials`,
  AZURE_AUTHORITY_HOST: `http://127.0.0.1:${port}/azure/login`,
  AZURE_RESOURCE_MANAGER_URL: `http://127.0.0.1:${port}/azure/arm`,
  VERCEL_API_URL: `http://127.0.0.1:${port}/vercel`,
  ATLAS_URL: `http://127.0.0.1:${port}/atlas`,
  // the credential of the simulated gateway holds its URL
  TENANT_URL_NETWORKS: `127.0.0.1:${port},[::1]:${port}`,
});
