import { childEnvironment, publicUrlOf } from './child-environment';
import { LauncherSettings } from './launcher.settings';

const addresses = { port: 3100, simulatorPort: 4700, publicUrl: 'http://localhost:3100' };
const secrets = { JWT_SECRET: 'j', MASTER_KEYS: 'm', DEPLOYMENT_ID: 'd' };

describe('childEnvironment', () => {
  it('points the cloud SDKs to the simulator', () => {
    const environment = childEnvironment({}, addresses, secrets, 'postgresql://here');
    expect(environment).toMatchObject({
      AWS_ENDPOINT_URL_EC2: 'http://127.0.0.1:4700/aws/ec2',
      AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:4700/aws/sts',
      GCP_COMPUTE_URL: 'http://127.0.0.1:4700/gcp',
      GOOGLE_OAUTH_TOKEN_URL: 'http://127.0.0.1:4700/gcp/token',
      AZURE_AUTHORITY_HOST: 'http://127.0.0.1:4700/azure/login',
      AZURE_RESOURCE_MANAGER_URL: 'http://127.0.0.1:4700/azure/arm',
      VERCEL_API_URL: 'http://127.0.0.1:4700/vercel',
      TENANT_URL_NETWORKS: '127.0.0.0/8,::1',
      DATABASE_URL: 'postgresql://here',
      PORT: '3100',
      SIMULATOR_PORT: '4700',
      PUBLIC_URL: 'http://localhost:3100',
      EMBEDDED: 'true',
      ...secrets,
    });
  });

  it('names no endpoint when the clouds are real', () => {
    const environment = childEnvironment({}, { ...addresses, simulatorPort: null }, secrets, 'x');
    const named = Object.keys(environment).filter((name) =>
      /ENDPOINT|SIMULATOR|AZURE|GCP|GOOGLE|VERCEL|TENANT/.test(name),
    );
    expect(named).toEqual([]);
  });

  it('lets what the user gives win, unless it is empty', () => {
    const given = { AWS_ENDPOINT_URL_EC2: 'http://mine', NODE_ENV: 'production', EMBEDDED: '' };
    expect(childEnvironment(given, addresses, secrets, 'x')).toMatchObject({
      AWS_ENDPOINT_URL_EC2: 'http://mine',
      NODE_ENV: 'production',
      EMBEDDED: 'true',
    });
  });
});

describe('publicUrlOf', () => {
  it.each([
    [undefined, 'http://localhost:3100'],
    ['https://door.example/', 'https://door.example'],
  ])('%s: %s', (PUBLIC_URL, expected) => {
    const settings = Object.assign(new LauncherSettings(), PUBLIC_URL && { PUBLIC_URL });
    expect(publicUrlOf(settings, 3100)).toBe(expected);
  });
});
