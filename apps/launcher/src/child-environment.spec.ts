import { childEnvironment, publicUrlOf } from './child-environment';
import { LauncherSettings } from './launcher.settings';
import type { ProcessName } from './process-variables';

const addresses = { port: 3100, simulatorPort: 4700, publicUrl: 'http://localhost:3100', metricsPorts: null };
const urls = { owner: 'postgresql://owner@here', service: 'postgresql://service@here' };
const secrets = { JWT_SECRET: 'j', MASTER_KEYS: 'm' };

describe('childEnvironment', () => {
  it('points the cloud SDKs to the simulator', () => {
    const environment = childEnvironment('api', {}, addresses, secrets, urls);
    expect(environment).toMatchObject({
      AWS_ENDPOINT_URL_EC2: 'http://127.0.0.1:4700/aws/ec2',
      AWS_ENDPOINT_URL_EKS: 'http://127.0.0.1:4700/aws/eks',
      AWS_ENDPOINT_URL_ORGANIZATIONS: 'http://127.0.0.1:4700/aws/organizations',
      AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:4700/aws/sts',
      AWS_ENDPOINT_URL_WAFV2: 'http://127.0.0.1:4700/aws/wafv2',
      GCP_COMPUTE_URL: 'http://127.0.0.1:4700/gcp',
      GCP_RESOURCE_MANAGER_URL: 'http://127.0.0.1:4700/gcp',
      GOOGLE_OAUTH_TOKEN_URL: 'http://127.0.0.1:4700/gcp/token',
      GOOGLE_STS_URL: 'http://127.0.0.1:4700/gcp/sts',
      GOOGLE_IAM_CREDENTIALS_URL: 'http://127.0.0.1:4700/gcp/iamcredentials',
      AZURE_AUTHORITY_HOST: 'http://127.0.0.1:4700/azure/login',
      AZURE_RESOURCE_MANAGER_URL: 'http://127.0.0.1:4700/azure/arm',
      VERCEL_API_URL: 'http://127.0.0.1:4700/vercel',
      ATLAS_URL: 'http://127.0.0.1:4700/atlas',
      TENANT_URL_NETWORKS: '127.0.0.1:4700,[::1]:4700',
      OIDC_ISSUER_URL: 'http://localhost:3100/oidc',
      DATABASE_URL: 'postgresql://service@here',
      PORT: '3100',
      PUBLIC_URL: 'http://localhost:3100',
      EMBEDDED: 'true',
      ...secrets,
    });
  });

  it('sets no endpoint when the clouds are real', () => {
    const environment = childEnvironment('api', {}, { ...addresses, simulatorPort: null }, secrets, urls);
    const named = Object.keys(environment).filter((name) =>
      /ENDPOINT|SIMULATOR|AZURE|GCP|GOOGLE|VERCEL|ATLAS|TENANT/.test(name),
    );
    expect(named).toEqual([]);
  });

  it('prefers the user’s variables to the defaults, unless they are empty', () => {
    const given = { AWS_ENDPOINT_URL_EC2: 'http://mine', NODE_ENV: 'production', EMBEDDED: '' };
    expect(childEnvironment('api', given, addresses, secrets, urls)).toMatchObject({
      AWS_ENDPOINT_URL_EC2: 'http://mine',
      NODE_ENV: 'production',
      EMBEDDED: 'true',
    });
  });

  it('lets tenants reach the simulator beside the networks of the user', () => {
    const given = { TENANT_URL_NETWORKS: '10.1.0.0/16' };
    expect(childEnvironment('api', given, addresses, secrets, urls)).toMatchObject({
      TENANT_URL_NETWORKS: '10.1.0.0/16,127.0.0.1:4700,[::1]:4700',
    });
  });

  it('gives each process only the variables it reads', () => {
    const given = {
      PATH: '/bin',
      https_proxy: 'http://proxy',
      SMTP_URL: 'smtp://mail',
      STRIPE_SECRET_KEY: 'sk_x',
      SIMULATOR_GROUPS: '3',
      AWS_SECRET_ACCESS_KEY: 'unrelated',
      MAIL_FROM: 'door@example.com',
    };
    const namesOf = (name: ProcessName): string[] =>
      Object.keys(childEnvironment(name, given, addresses, secrets, urls));
    expect(namesOf('api')).toEqual(
      expect.arrayContaining(['PATH', 'https_proxy', 'JWT_SECRET', 'SMTP_URL', 'STRIPE_SECRET_KEY']),
    );
    expect(namesOf('api')).not.toContain('AWS_SECRET_ACCESS_KEY');
    expect(namesOf('worker')).toEqual(
      expect.arrayContaining(['PATH', 'MASTER_KEYS', 'DATABASE_URL', 'SMTP_URL']),
    );
    for (const name of ['JWT_SECRET', 'STRIPE_SECRET_KEY', 'AWS_SECRET_ACCESS_KEY']) {
      expect(namesOf('worker')).not.toContain(name);
    }
    expect(namesOf('simulator').sort()).toEqual([
      'NODE_ENV',
      'PATH',
      'SIMULATOR_GROUPS',
      'SIMULATOR_PORT',
      'https_proxy',
    ]);
    expect(namesOf('migrate').sort()).toEqual([
      'DATABASE_SERVICE_URL',
      'DATABASE_URL',
      'NODE_ENV',
      'PATH',
      'https_proxy',
    ]);
  });

  it('gives the owner’s database URL to the migrations only', () => {
    const urlOf = (name: ProcessName): string | undefined =>
      childEnvironment(name, {}, addresses, secrets, urls)['DATABASE_URL'];
    expect([urlOf('api'), urlOf('worker'), urlOf('migrate')]).toEqual([
      urls.service,
      urls.service,
      urls.owner,
    ]);
  });

  it('gives API and worker different metrics ports', () => {
    const measured = { ...addresses, metricsPorts: { api: 9464, worker: 9465 } };
    const portOf = (name: ProcessName): string | undefined =>
      childEnvironment(name, { METRICS_PORT: '9464' }, measured, secrets, urls)['METRICS_PORT'];
    expect([portOf('api'), portOf('worker'), portOf('simulator')]).toEqual(['9464', '9465', undefined]);
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
