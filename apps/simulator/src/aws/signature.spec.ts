import { DescribeSecurityGroupsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { HttpRequest } from '@smithy/protocol-http';
import { Clock } from '../ground-truth/clock';
import { simulatorDuringTests } from '../simulator.testing';
import { KEYS } from './aws.testing';
import { Credentials as SimulatedCredentials } from './credentials';

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

const simulator = simulatorDuringTests();

const ec2 = (credentials: Credentials, systemClockOffset = 0): EC2Client =>
  new EC2Client({
    region: 'eu-west-1',
    endpoint: `${simulator.url}/aws/ec2`,
    maxAttempts: 1,
    credentials,
    systemClockOffset,
  });

const sts = (credentials: Credentials): STSClient =>
  new STSClient({ region: 'eu-west-1', endpoint: `${simulator.url}/aws/sts`, maxAttempts: 1, credentials });

const describeGroups = async (client: EC2Client) => client.send(new DescribeSecurityGroupsCommand({}));

const post = async (headers: Record<string, string>): Promise<[number, string]> => {
  const body = 'Action=DescribeSecurityGroups&Version=2016-11-15';
  const answer = await fetch(`${simulator.url}/aws/ec2/`, { method: 'POST', body, headers });
  return [answer.status, await answer.text()];
};

const assumeRole = async (): Promise<Required<Credentials>> => {
  const command = new AssumeRoleCommand({
    RoleArn: 'arn:aws:iam::123456789012:role/simulated',
    RoleSessionName: 'spec',
    ExternalId: 'an-id',
  });
  const { Credentials: issued } = await sts(KEYS).send(command);
  return {
    accessKeyId: issued?.AccessKeyId ?? '',
    secretAccessKey: issued?.SecretAccessKey ?? '',
    sessionToken: issued?.SessionToken ?? '',
  };
};

describe('EC2 signatures', () => {
  it.each([-330_000, 330_000])('refuses a clock that is off by %i ms', async (offset) => {
    await expect(describeGroups(ec2(KEYS, offset))).rejects.toMatchObject({ name: 'RequestExpired' });
  });

  it('accepts a clock that is off by four minutes', async () => {
    expect((await describeGroups(ec2(KEYS, 240_000))).SecurityGroups).toHaveLength(10);
  });

  it('refuses a request without a signature, and one that does not cover its body', async () => {
    expect(await post({})).toEqual([403, expect.stringContaining('<Code>MissingAuthenticationToken</Code>')]);
    const headers = await signedHeaders();
    expect(await post(headers)).toEqual([401, expect.stringContaining('<Code>AuthFailure</Code>')]);
  });
});

/** Headers that the SDK signed for a request with another body. */
async function signedHeaders(): Promise<Record<string, string>> {
  const client = ec2(KEYS);
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
    const issued = await assumeRole();
    expect((await describeGroups(ec2(issued))).SecurityGroups).toHaveLength(10);
    const { Arn } = await sts(issued).send(new GetCallerIdentityCommand({}));
    expect(Arn).toBe('arn:aws:sts::123456789012:assumed-role/simulated/spec');
    const { sessionToken: _, ...withoutToken } = issued;
    await expect(describeGroups(ec2(withoutToken))).rejects.toMatchObject({ name: 'AuthFailure' });
    const another = await assumeRole();
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
});
