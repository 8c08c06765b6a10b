import { DescribeSecurityGroupsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { HttpRequest } from '@smithy/protocol-http';
import { startSimulator, type RunningSimulator } from '../start-simulator';
import { Clock } from '../ground-truth/clock';
import { Credentials as SimulatedCredentials } from './credentials';

const GOOD = { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' };
const ROLE_ARN = 'arn:aws:iam::123456789012:role/simulated';

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

let simulator: RunningSimulator;
const clients: { destroy(): void }[] = [];

beforeAll(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  simulator = await startSimulator();
});

afterAll(async () => {
  for (const client of clients) client.destroy();
  await simulator.close();
});

const ec2 = (credentials: Credentials, clockOffset = 0): EC2Client => {
  const endpoint = `${simulator.url}/aws/ec2`;
  const client = new EC2Client({
    region: 'eu-west-1',
    endpoint,
    maxAttempts: 1,
    credentials,
    systemClockOffset: clockOffset,
  });
  clients.push(client);
  return client;
};

const sts = (credentials: Credentials): STSClient => {
  const endpoint = `${simulator.url}/aws/sts`;
  const client = new STSClient({ region: 'eu-west-1', endpoint, maxAttempts: 1, credentials });
  clients.push(client);
  return client;
};

const describeGroups = async (client: EC2Client) => client.send(new DescribeSecurityGroupsCommand({}));

const post = async (headers: Record<string, string>): Promise<[number, string]> => {
  const body = 'Action=DescribeSecurityGroups&Version=2016-11-15';
  const answer = await fetch(`${simulator.url}/aws/ec2/`, { method: 'POST', body, headers });
  return [answer.status, await answer.text()];
};

const assumeRole = async (credentials: Credentials): Promise<Required<Credentials>> => {
  const command = new AssumeRoleCommand({
    RoleArn: ROLE_ARN,
    RoleSessionName: 'spec',
    ExternalId: 'an-id',
  });
  const { Credentials: issued } = await sts(credentials).send(command);
  return {
    accessKeyId: issued?.AccessKeyId ?? '',
    secretAccessKey: issued?.SecretAccessKey ?? '',
    sessionToken: issued?.SessionToken ?? '',
  };
};

describe('EC2 signatures', () => {
  it.each<[string, Credentials, number, string]>([
    ['an unknown key', { ...GOOD, accessKeyId: 'AKIASIMULATED0000002' }, 401, 'AuthFailure'],
    ['a wrong secret', { ...GOOD, secretAccessKey: 'simulated-secret-access-kex' }, 401, 'AuthFailure'],
    ['a session token that was not issued', { ...GOOD, sessionToken: 'made.up' }, 401, 'AuthFailure'],
  ])('refuses %s', async (_label, credentials, httpStatusCode, name) => {
    await expect(describeGroups(ec2(credentials))).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode },
    });
  });

  it.each([-330_000, 330_000])('refuses a clock that is off by %i ms', async (offset) => {
    await expect(describeGroups(ec2(GOOD, offset))).rejects.toMatchObject({ name: 'RequestExpired' });
  });

  it('accepts a clock that is off by four minutes', async () => {
    expect((await describeGroups(ec2(GOOD, 240_000))).SecurityGroups).toHaveLength(10);
  });

  it('refuses a request without a signature, and one that does not cover its body', async () => {
    expect(await post({})).toEqual([403, expect.stringContaining('<Code>MissingAuthenticationToken</Code>')]);
    const headers = await signedHeaders();
    expect(await post(headers)).toEqual([401, expect.stringContaining('<Code>AuthFailure</Code>')]);
  });
});

/** Headers that the SDK signed for a request with another body. */
async function signedHeaders(): Promise<Record<string, string>> {
  const client = ec2(GOOD);
  let headers: Record<string, string> = {};
  client.middlewareStack.add(
    (next) => async (args) => {
      if (HttpRequest.isInstance(args.request)) headers = { ...args.request.headers };
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  await client.send(new DescribeSecurityGroupsCommand({ GroupIds: ['sg-0123456789abcdef0'] }));
  const { host: _host, 'content-length': _length, ...rest } = headers;
  return rest;
}

describe('STS', () => {
  it('issues role credentials that are valid only with their session token', async () => {
    const issued = await assumeRole(GOOD);
    expect((await describeGroups(ec2(issued))).SecurityGroups).toHaveLength(10);
    const { Arn } = await sts(issued).send(new GetCallerIdentityCommand({}));
    expect(Arn).toBe('arn:aws:sts::123456789012:assumed-role/simulated/spec');
    const { sessionToken: _, ...withoutToken } = issued;
    await expect(describeGroups(ec2(withoutToken))).rejects.toMatchObject({ name: 'AuthFailure' });
    const another = await assumeRole(GOOD);
    const mixed = { ...issued, sessionToken: another.sessionToken };
    await expect(describeGroups(ec2(mixed))).rejects.toMatchObject({ name: 'AuthFailure' });
  });

  it('refuses expired credentials', async () => {
    const expired = new SimulatedCredentials(new Clock()).issueSession(
      { account: '123456789012', name: 'simulated' },
      'spec',
      -1,
      null,
    );
    await expect(describeGroups(ec2(expired))).rejects.toMatchObject({ name: 'RequestExpired' });
    await expect(sts(expired).send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({
      name: 'ExpiredToken',
    });
  });

  it('refuses other roles, and has its own errors for invalid credentials', async () => {
    const command = new AssumeRoleCommand({ RoleArn: `${ROLE_ARN}-2`, RoleSessionName: 'spec' });
    await expect(sts(GOOD).send(command)).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(assumeRole({ ...GOOD, accessKeyId: 'AKIANOBODY' })).rejects.toMatchObject({
      name: 'InvalidClientTokenId',
      $metadata: { httpStatusCode: 403 },
    });
    await expect(assumeRole({ ...GOOD, secretAccessKey: 'wrong' })).rejects.toMatchObject({
      name: 'SignatureDoesNotMatch',
      $metadata: { httpStatusCode: 403 },
    });
  });
});
