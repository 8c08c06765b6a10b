import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { DriverRegistry, type DriverCredential } from '#drivers';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { identityTokens } from '../builders/sso/federated-identity';
import { LocalServer } from '../harness/network/local-server';
import { OidcIssuer } from '../harness/issuers/oidc-issuer';

const ROLE = 'arn:aws:iam::123456789012:role/simulated';
const METADATA_ROLES = '/latest/meta-data/iam/security-credentials/';

/** What tenants read of any failure: paths, addresses and roles of the deployment are not for them. */
const NO_KEYS = 'This deployment got no keys of its own identity: its log tells the operator why';

const CREDENTIAL: DriverCredential = {
  credentialType: 'ASSUME_ROLE',
  data: { roleArn: ROLE },
  externalId: 'external-id',
  identity: null,
};

describe('The deployment’s own AWS identity', () => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  let issuer: OidcIssuer;
  /** a metadata service: its answers are those of each test */
  let metadata: LocalServer;
  let folder: string;
  /** what the operator's log has */
  const logged: string[] = [];

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    issuer = await OidcIssuer.start();
    metadata = await LocalServer.start(() => ({ status: 404, body: '' }));
    folder = await mkdtemp(join(tmpdir(), 'own-identity-'));
    process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] = metadata.url;
  });
  beforeEach(() => {
    metadata.requests.length = 0;
    logged.length = 0;
    metadata.answer = () => ({ status: 404, body: '' });
  });
  afterAll(async () => {
    delete process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'];
    await Promise.all([metadata.stop(), issuer.stop(), rm(folder, { recursive: true })]);
    await simulator.close();
  });

  /** Checks the credential of a tenant with a deployment that has these variables. */
  const check = async (environment: NodeJS.ProcessEnv, times = 1): Promise<void> => {
    const driver = await new DriverRegistry(
      { AWS_ENDPOINT_URL_STS: `${simulator.url}/aws/sts`, ...environment },
      { onOwnIdentityFailure: ({ message }) => logged.push(message) },
    ).driver('AWS');
    for (let count = 0; count < times; count += 1) await driver.checkCredential(CREDENTIAL);
  };

  /** Temporary keys in the form of the metadata services. */
  const temporaryKeys = async (): Promise<string> => {
    const client = new STSClient({
      endpoint: `${simulator.url}/aws/sts`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
    });
    const { Credentials } = await client.send(
      new AssumeRoleCommand({ RoleArn: ROLE, RoleSessionName: 'instance', ExternalId: 'own' }),
    );
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials!;
    return JSON.stringify({
      Code: 'Success',
      AccessKeyId,
      SecretAccessKey,
      Token: SessionToken,
      Expiration: Expiration!.toISOString(),
    });
  };

  const instance = async (): Promise<void> => {
    const keys = await temporaryKeys();
    metadata.answer = ({ method, path, headers }) => {
      if (method === 'PUT' && path === '/latest/api/token') return { body: 'metadata-session' };
      if (headers['x-aws-ec2-metadata-token'] !== 'metadata-session') return { status: 401, body: '' };
      return { body: path === METADATA_ROLES ? 'own-role' : keys };
    };
  };

  it('is that of an EC2 instance (IMDSv2), requested once for many checks', async () => {
    await instance();
    await check({ DRAWBRIDGE_AWS_IDENTITY: 'instance' }, 3);
    expect(metadata.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /latest/api/token',
      `GET ${METADATA_ROLES}`,
      `GET ${METADATA_ROLES}own-role`,
    ]);
  });

  it('is not that of an instance without session tokens (IMDSv1)', async () => {
    const keys = await temporaryKeys();
    metadata.answer = ({ method, path }) =>
      method === 'PUT' ? { status: 403, body: '' } : { body: path === METADATA_ROLES ? 'own-role' : keys };
    await expect(check({ DRAWBRIDGE_AWS_IDENTITY: 'instance' })).rejects.toMatchObject({
      kind: 'transient',
      message: NO_KEYS,
    });
    expect(logged).toHaveLength(1);
  });

  it('is that of a container, whose authorization is read from a file', async () => {
    const keys = await temporaryKeys();
    metadata.answer = ({ headers }) =>
      headers.authorization === 'pod-token' ? { body: keys } : { status: 403, body: '{}' };
    const file = join(folder, 'pod-token');
    await writeFile(file, 'pod-token');
    const environment = {
      DRAWBRIDGE_AWS_IDENTITY: 'container',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.url}/v1/credentials`,
    };
    await check({ ...environment, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file });
    await check({ ...environment, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod-token' });
    await expect(check(environment)).rejects.toMatchObject({ kind: 'transient', message: NO_KEYS });
    expect(logged).toHaveLength(1);
  });

  it('does not ask for a container’s keys at a host that is neither AWS’s own nor loopback', async () => {
    const environment = {
      DRAWBRIDGE_AWS_IDENTITY: 'container',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://192.0.2.1/v1/credentials',
    };
    await expect(check(environment)).rejects.toThrow(NO_KEYS);
    expect(logged.join()).toContain('URL not accepted');
  });

  it('is that of a token in a file, which is read again for each session', async () => {
    const tokens = identityTokens(issuer, 'deployment', 'own');
    const trust = { provider: 'AWS', issuer: issuer.url, subject: tokens.subject };
    await fetch(`${simulator.url}/_trusts`, { method: 'PUT', body: JSON.stringify(trust) });
    const file = join(folder, 'token');
    const environment = {
      DRAWBRIDGE_AWS_IDENTITY: 'token-file',
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/federated',
    };
    await expect(check(environment)).rejects.toMatchObject({ kind: 'transient', message: NO_KEYS });
    expect(logged.join()).toContain(`ENOENT: no such file or directory, open '${file}'`);
    await writeFile(file, await tokens.sign('sts.amazonaws.com', 'probe', 'own'));
    await expect(check(environment)).rejects.toMatchObject({ kind: 'denied', message: NO_KEYS });
    expect(logged.at(-1)).toContain('AccessDenied');
    await writeFile(file, `${await tokens.sign('sts.amazonaws.com', 'credential', 'own')}\n`);
    await check(environment);
  });

  it.each([
    ['keys', 'DRAWBRIDGE_AWS_ACCESS_KEY_ID'],
    ['token-file', 'AWS_WEB_IDENTITY_TOKEN_FILE'],
    ['container', 'AWS_CONTAINER_CREDENTIALS_FULL_URI'],
    ['chain', 'DRAWBRIDGE_AWS_IDENTITY'],
    ['constructor', 'DRAWBRIDGE_AWS_IDENTITY'],
  ])(
    '%s that is not configured is denied naming %s, and no other source is asked',
    async (kind, variable) => {
      await instance();
      const failure = check({ DRAWBRIDGE_AWS_IDENTITY: kind });
      await expect(failure).rejects.toMatchObject({ kind: 'denied' });
      await expect(failure).rejects.toThrow(variable);
      expect([metadata.requests, logged]).toEqual([[], []]);
    },
  );

  it('has its session replaced once when AWS refuses it', async () => {
    await instance();
    const driver = await new DriverRegistry({
      AWS_ENDPOINT_URL_STS: `${simulator.url}/aws/sts`,
      DRAWBRIDGE_AWS_IDENTITY: 'instance',
    }).driver('AWS');
    await driver.checkCredential(CREDENTIAL);
    await fetch(`${simulator.url}/_tokens/revoke`, { method: 'POST', body: '{"provider":"AWS"}' });
    await instance();
    await driver.checkCredential(CREDENTIAL);
    expect(metadata.requests.filter(({ method }) => method === 'PUT')).toHaveLength(2);
  });
});
