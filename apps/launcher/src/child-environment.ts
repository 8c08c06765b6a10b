import type { LauncherSettings } from './launcher.settings';
import type { Secrets } from './secrets-file';

/** Where a run is reached, once its ports are known. */
export interface Addresses {
  readonly port: number;
  /** null: the clouds are real */
  readonly simulatorPort: number | null;
  readonly publicUrl: string;
}

/** PUBLIC_URL, else this machine at the port. */
export const publicUrlOf = (settings: LauncherSettings, port: number): string =>
  (settings.PUBLIC_URL ?? `http://localhost:${port}`).replace(/\/+$/, '');

/** What every child process is told. Anything the user's environment gives wins over what is assumed here. */
export function childEnvironment(
  given: NodeJS.ProcessEnv,
  { port, simulatorPort, publicUrl }: Addresses,
  secrets: Secrets,
  databaseUrl: string,
): NodeJS.ProcessEnv {
  const clouds = simulatorPort === null ? {} : simulatedClouds(simulatorPort);
  return {
    NODE_ENV: 'development',
    EMBEDDED: 'true',
    // A new release of the SDK wants a newer Node.js some day; nobody who starts this can do anything about it.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    ...clouds,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    ...secrets,
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    ...(simulatorPort !== null && { SIMULATOR_PORT: String(simulatorPort) }),
  };
}

const simulatedClouds = (port: number): NodeJS.ProcessEnv => ({
  AWS_ENDPOINT_URL_EC2: `http://127.0.0.1:${port}/aws/ec2`,
  AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${port}/aws/sts`,
  GCP_COMPUTE_URL: `http://127.0.0.1:${port}/gcp`,
  GOOGLE_OAUTH_TOKEN_URL: `http://127.0.0.1:${port}/gcp/token`,
  AZURE_AUTHORITY_HOST: `http://127.0.0.1:${port}/azure/login`,
  AZURE_RESOURCE_MANAGER_URL: `http://127.0.0.1:${port}/azure/arm`,
  VERCEL_API_URL: `http://127.0.0.1:${port}/vercel`,
  // The simulated gateway is named by its credential.
  TENANT_URL_NETWORKS: '127.0.0.0/8,::1',
});
