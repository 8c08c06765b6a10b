import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { DescribeSecurityGroupsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { fromWebToken } from '@aws-sdk/credential-provider-web-identity';
import { ClientAssertionCredential, type ClientAssertionCredentialOptions } from '@azure/identity';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { identityTokens } from '../builders/sso/federated-identity';
import { OidcIssuer } from '../harness/issuers/oidc-issuer';

const PROVIDER = 'projects/123456789012/locations/global/workloadIdentityPools/drawbridge/providers/main';
const TENANT = '00000000-0000-4000-8000-000000000002';
const APP = '00000000-0000-4000-8000-000000000003';
const ACCOUNT = 'simulated@simulated-project.iam.gserviceaccount.com';

type Who = 'credential' | 'probe';
/** Reads a target with what a cloud's own client gets for a token. Throws when the token is refused. */
type Client = (url: string, sign: (audience: string) => Promise<string>) => Promise<unknown>;

const readWithAws: Client = async (url, sign) => {
  const credentials = fromWebToken({
    roleArn: 'arn:aws:iam::123456789012:role/federated',
    webIdentityToken: await sign('sts.amazonaws.com'),
    clientConfig: { endpoint: `${url}/aws/sts`, region: 'eu-west-1' },
  });
  const client = new EC2Client({ endpoint: `${url}/aws/ec2`, region: 'eu-west-1', credentials });
  const { SecurityGroups } = await client.send(
    new DescribeSecurityGroupsCommand({ GroupIds: ['sg-0123456789abcdef0'] }),
  );
  return SecurityGroups?.[0]?.GroupId;
};

const readWithGoogle =
  (impersonated: boolean): Client =>
  async (url, sign) => {
    const configuration = {
      type: 'external_account',
      audience: `//iam.googleapis.com/${PROVIDER}`,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${url}/gcp/sts/v1/token`,
      ...(impersonated && {
        service_account_impersonation_url: `${url}/gcp/iamcredentials/v1/projects/-/serviceAccounts/${ACCOUNT}:generateAccessToken`,
      }),
    };
    const { stdout } = await promisify(execFile)(process.execPath, [
      resolve(__dirname, '../harness/issuers/google-pool-client.cjs'),
      JSON.stringify(configuration),
      await sign(`https://iam.googleapis.com/${PROVIDER}`),
      `${url}/gcp/compute/v1/projects/simulated-project/global/networks/default`,
    ]);
    return (JSON.parse(stdout) as { name: string }).name;
  };

/** The client accepts https authorities only, so its requests are led to the simulator after it has checked that. */
const simulatedAuthority = (url: string): ClientAssertionCredentialOptions => ({
  disableInstanceDiscovery: true,
  retryOptions: { maxRetries: 0 },
  additionalPolicies: [
    {
      position: 'perRetry',
      policy: {
        name: 'simulatedAuthority',
        sendRequest: (request, next) => {
          request.url = request.url.replace('https://login.microsoftonline.com', `${url}/azure/login`);
          request.allowInsecureConnection = true;
          return next(request);
        },
      },
    },
  ],
});

const readWithAzure: Client = async (url, sign) => {
  const credential = new ClientAssertionCredential(
    TENANT,
    APP,
    () => sign('api://AzureADTokenExchange'),
    simulatedAuthority(url),
  );
  const { token } = await credential.getToken(`${url}/azure/arm/.default`);
  const group =
    '/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/simulated-group' +
    '/providers/Microsoft.Network/networkSecurityGroups/simulated-nsg';
  const response = await fetch(`${url}/azure/arm${group}?api-version=2024-05-01`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const answer = (await response.json()) as { name?: string };
  if (!answer.name) throw new Error(JSON.stringify(answer));
  return answer.name;
};

describe.each([
  ['the AWS SDK (fromWebToken)', 'AWS', readWithAws, 'sg-0123456789abcdef0', /AccessDenied|Not authorized/],
  [
    'google-auth-library (IdentityPoolClient)',
    'GCP',
    readWithGoogle(false),
    'default',
    /attribute condition/,
  ],
  ['google-auth-library as a service account', 'GCP', readWithGoogle(true), 'default', /attribute condition/],
  ['@azure/identity (ClientAssertionCredential)', 'AZURE', readWithAzure, 'simulated-nsg', /AADSTS700213/],
] as const)('A simulated cloud, used by %s', (_, provider, read, name, refusal) => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  let issuer: OidcIssuer;

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    issuer = await OidcIssuer.start();
    const body = JSON.stringify({ provider, issuer: issuer.url, subject: tokens().subject });
    await fetch(`${simulator.url}/_trusts`, { method: 'PUT', body });
  });
  afterAll(async () => {
    await issuer.stop();
    await simulator.close();
  });

  const tokens = () => identityTokens(issuer, 'one', 'one');
  const readAs = (who: Who): Promise<unknown> =>
    read(simulator.url, (audience) => tokens().sign(audience, who, provider));

  it('accepts the token, fetches the issuer’s documents, and lets the client read a target', async () => {
    expect(await readAs('credential')).toBe(name);
    expect(new Set(issuer.requests)).toEqual(new Set(['/.well-known/openid-configuration', '/keys']));
  });

  it('refuses the probe with an error that the client understands', async () => {
    await expect(readAs('probe')).rejects.toThrow(refusal);
  });
});
