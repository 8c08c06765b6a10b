import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  EC2Client,
  RevokeSecurityGroupIngressCommand,
} from '@aws-sdk/client-ec2';
import { setTimeout as pause } from 'node:timers/promises';
import { startSimulator, type RunningSimulator } from '../start-simulator';
import type { FaultKind } from './fault-script';

const GROUP = 'sg-0123456789abcdef0';
const OTHER_GROUP = 'sg-0123456789abcdef1';

let simulator: RunningSimulator;
let ec2: EC2Client;

beforeAll(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  simulator = await startSimulator({ writeBurst: 100_000, readBurst: 100_000 });
  ec2 = new EC2Client({
    region: 'eu-west-1',
    endpoint: `${simulator.url}/aws/ec2`,
    maxAttempts: 1,
    credentials: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
  });
});

afterAll(async () => {
  ec2.destroy();
  await simulator.close();
});

const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await fetch(`${simulator.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return answer.json();
};

beforeEach(async () => {
  await control('POST', '/_reset');
});

const startFault = async (kind: FaultKind, more: Record<string, unknown> = {}): Promise<unknown> =>
  control('POST', '/_faults', { provider: 'AWS', kind, ...more });

const isList = (value: unknown): value is Record<string, unknown>[] => Array.isArray(value);

const read = async (path: string): Promise<Record<string, unknown>[]> => {
  const body = await control('GET', path);
  if (!isList(body)) throw new Error(`${path} is no list`);
  return body;
};

const activeFaults = async (): Promise<unknown[]> => read('/_faults');

/** Waits for a condition; the test's timeout bounds the wait. */
const until = async (condition: () => Promise<boolean>): Promise<void> => {
  while (!(await condition())) await pause(10);
};

const open = async (hosts: readonly number[], abortSignal?: AbortSignal, groupId = GROUP) =>
  ec2.send(
    new AuthorizeSecurityGroupIngressCommand({
      GroupId: groupId,
      IpPermissions: [
        {
          IpProtocol: 'tcp',
          FromPort: 22,
          ToPort: 22,
          IpRanges: hosts.map((host) => ({ CidrIp: `203.0.113.${host}/32` })),
        },
      ],
    }),
    abortSignal ? { abortSignal } : {},
  );

const describeRules = async (groupId = GROUP): Promise<string[]> => {
  const Filters = [{ Name: 'group-id', Values: [groupId] }];
  const { SecurityGroupRules } = await ec2.send(new DescribeSecurityGroupRulesCommand({ Filters }));
  return SecurityGroupRules?.filter((rule) => !rule.IsEgress).map((rule) => rule.CidrIpv4 ?? '') ?? [];
};

const groundTruth = async (): Promise<unknown[]> => (await read('/_rules')).map((rule) => rule['address']);

it.each<[FaultKind, string, number]>([
  ['throttle', 'RequestLimitExceeded', 503],
  ['error', 'InternalError', 500],
  ['refuse', 'UnauthorizedOperation', 403],
  ['not-found', 'InvalidGroup.NotFound', 400],
  ['quota', 'RulesPerSecurityGroupLimitExceeded', 400],
  ['conflict', 'IncorrectState', 400],
  ['invalid', 'InvalidParameterValue', 400],
  ['unauthenticated', 'AuthFailure', 401],
])('%s answers %s and changes nothing', async (kind, name, httpStatusCode) => {
  await startFault(kind, { count: 1 });
  await expect(open([1])).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
  expect(await groundTruth()).toEqual([]);
  await open([1]);
  expect(await groundTruth()).toEqual(['203.0.113.1']);
});

it('slow executes the call although the client has disconnected', async () => {
  await startFault('slow', { delayMs: 100, count: 1 });
  await expect(open([1], AbortSignal.timeout(30))).rejects.toMatchObject({ name: 'AbortError' });
  await until(async () => (await groundTruth()).length > 0);
  expect(await groundTruth()).toEqual(['203.0.113.1']);
});

it('stale-read answers with an earlier state, removed rules included', async () => {
  const added = await open([1]);
  const ids = added.SecurityGroupRules?.map((rule) => rule.SecurityGroupRuleId ?? '') ?? [];
  let isSeen = false;
  const before = pause(300).then(() => isSeen);
  await startFault('stale-read', { operation: 'DescribeSecurityGroupRules', delayMs: 500 });
  expect(await describeRules()).toEqual([]);
  await until(async () => (isSeen = (await describeRules()).length > 0));
  expect(await before).toBe(false);
  await ec2.send(new RevokeSecurityGroupIngressCommand({ GroupId: GROUP, SecurityGroupRuleIds: ids }));
  expect(await groundTruth()).toEqual([]);
  expect(await describeRules()).toEqual(['203.0.113.1/32']);
  await control('DELETE', '/_faults');
  expect(await describeRules()).toEqual([]);
});

it('a fault hits only calls that name its address', async () => {
  await startFault('invalid', { address: '203.0.113.2' });
  await expect(open([1, 2, 3])).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  await open([1, 3]);
  expect(await groundTruth()).toEqual(['203.0.113.1', '203.0.113.3']);
});

it('a fault hits only calls that are signed with its key', async () => {
  await startFault('unauthenticated', { caller: 'AKIASIMULATED0000002' });
  await open([1]);
  const other = new EC2Client({
    region: 'eu-west-1',
    endpoint: `${simulator.url}/aws/ec2`,
    maxAttempts: 1,
    credentials: {
      accessKeyId: 'AKIASIMULATED0000002',
      secretAccessKey: 'simulated-second-secret-access-key',
    },
  });
  const describeAll = async (): Promise<unknown> => other.send(new DescribeSecurityGroupRulesCommand({}));
  await expect(describeAll()).rejects.toMatchObject({ name: 'AuthFailure' });
  await control('DELETE', '/_faults');
  await describeAll();
  other.destroy();
});

it('a fault hits only its target and operation, and only count times', async () => {
  await startFault('error', { target: GROUP, operation: 'AuthorizeSecurityGroupIngress', count: 1 });
  expect(await describeRules()).toEqual([]);
  await open([1], undefined, OTHER_GROUP);
  expect(await activeFaults()).toEqual([
    expect.objectContaining({ kind: 'error', target: GROUP, count: 1, hits: 0, endsAt: null }),
  ]);
  await expect(open([1])).rejects.toMatchObject({ name: 'InternalError' });
  expect(await activeFaults()).toEqual([]);
  await open([1]);
});

it('calls that a fault cannot hit do not count against it', async () => {
  await startFault('partial', { count: 1 });
  await startFault('stale-read', { count: 1 });
  expect(await describeRules()).toEqual([]);
  await expect(open([1, 2])).rejects.toMatchObject({ name: 'InternalError' });
  expect(await activeFaults()).toEqual([]);
});

it('a fault ends after its seconds', async () => {
  await startFault('error', { seconds: 1 });
  await expect(describeRules()).rejects.toMatchObject({ name: 'InternalError' });
  await until(async () => (await activeFaults()).length === 0);
  expect(await describeRules()).toEqual([]);
});

it('a reset drops a call in progress before it changes the new state', async () => {
  await startFault('slow', { delayMs: 1500, count: 1 });
  const call = open([1]).catch((error: Error) => error.name);
  await until(async () => (await activeFaults()).length === 0);
  await control('POST', '/_reset');
  expect(await call).not.toHaveProperty('SecurityGroupRules');
  await startFault('slow', { delayMs: 1600, count: 1 });
  await describeRules();
  expect(await groundTruth()).toEqual([]);
});
