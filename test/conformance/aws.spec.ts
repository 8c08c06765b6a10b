import type { CloudTarget, DriverCredential } from '#drivers';
import { SIMULATED_KEY } from '../builders/accounts/organization';
import { simulatedTarget } from './driver-actions';
import { describeDriver } from './driver-conformance';
import { describeEditedRules, describeTokens } from './identity-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { describeFederation } from './federation-conformance';
import { federatedBench, type FederatedType } from './federated-bench';
import { SimulatedCloud } from './simulated-cloud';

const OPERATIONS = {
  read: ['DescribeSecurityGroupRules', 'DescribeSecurityGroups'],
  add: ['AuthorizeSecurityGroupIngress'],
  remove: ['RevokeSecurityGroupIngress'],
};

const KEYS = SIMULATED_KEY;

const group = (identifier: string, data: Record<string, string> = KEYS): CloudTarget =>
  simulatedTarget('AWS', identifier, data);

const ROLE: DriverCredential = {
  credentialType: 'ASSUME_ROLE',
  data: { roleArn: 'arn:aws:iam::123456789012:role/simulated' },
  externalId: 'conformance-external-id',
  identity: null,
};

const FEDERATED: FederatedType = {
  credentialType: 'WEB_IDENTITY',
  data: { roleArn: 'arn:aws:iam::123456789012:role/federated' },
  unknown: { roleArn: 'arn:aws:iam::123456789012:role/nobodys' },
  exchange: 'AssumeRoleWithWebIdentity',
};

async function startBench({ capacity }: BenchOptions, federated?: FederatedType): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('AWS', OPERATIONS, capacity);
  const registry = cloud.drivers({
    DRAWBRIDGE_AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  });
  const bench: DriverBench = {
    cloud: {
      ports: true,
      marks: true,
      batch: 'one-call',
      adoptsUnmanagedRules: true,
      capacityPerIpVersion: true,
    },
    driver: await registry.driverFor('AWS', 'SECURITY_GROUP'),
    target: (number) => group(`sg-0123456789abcdef${number}`),
    missingTarget: () => group('sg-0fedcba9876543210'),
    withWrongSecret: ({ identifier }) => group(identifier, { ...KEYS, secretAccessKey: 'another-secret' }),
    unknownCredential: () => group('', { ...KEYS, accessKeyId: 'AKIANOBODYKNOWSTHIS1' }).credential,
    malformedSpec: { address: '203.0.113.250/32', protocol: 'tcp', ports: [{ from: 70_000, to: 70_000 }] },
    tokens: {
      target: (number) => ({ ...group(`sg-0123456789abcdef${number}`), credential: ROLE }),
      revoke: () => cloud.revokeTokens(),
      refused: ({ identifier }) => cloud.callsWith(identifier, ['RequestExpired', 'AuthFailure']),
    },
    role: {
      verified: [
        'AuthorizeSecurityGroupIngress',
        'RevokeSecurityGroupIngress',
        'DescribeSecurityGroups',
        'DescribeSecurityGroupRules',
      ].map((action) => `ec2:${action}`),
      polling: [],
      withdraw: (permissions) => cloud.withdraw(permissions),
    },
    changes: [
      { address: '198.51.100.9' },
      { address: '0.0.0.0/0' },
      { fromPort: 22, toPort: 80 },
      { protocol: 'udp', fromPort: 22, toPort: 22 },
    ],
    edit: ({ identifier }, address, edit) => cloud.edit(identifier, address, edit),
    ...cloud.handles('GetCallerIdentity'),
  };
  return federated ? federatedBench(bench, cloud, federated) : bench;
}

describeDriver('AWS', startBench);
describeEditedRules('AWS driver', startBench);
describeTokens('AWS driver', startBench);
describeFederation('AWS driver', (options) => startBench(options, FEDERATED));

describe('AWS driver in other partitions', () => {
  let bench: DriverBench;
  beforeAll(async () => {
    bench = await startBench({ capacity: 10 });
  });
  afterAll(() => bench.close());

  const inRegion = (accessKeyId: string, region: string): CloudTarget => ({
    ...group('sg-0123456789abcdef0', { ...KEYS, accessKeyId }),
    region,
  });

  it.each([
    ['AKIASIMULATEDEUSC001', 'eusc-de-east-1'],
    ['AKIASIMULATEDCN00001', 'cn-northwest-1'],
    ['AKIASIMULATEDGOV0001', 'us-gov-east-1'],
  ])('the key %s is valid, and opens in %s', async (accessKeyId, region) => {
    const target = inRegion(accessKeyId, region);
    await bench.driver.checkCredential(target.credential);
    await bench.driver.verify(target, { port: 22 });
    await expect(bench.driver.verify(inRegion(accessKeyId, 'us-east-1'), {})).rejects.toMatchObject({
      kind: 'denied',
    });
  });

  it('a wrong secret of a key of another partition is denied', async () => {
    const { credential } = group('', { accessKeyId: 'AKIASIMULATEDCN00001', secretAccessKey: 'another' });
    await expect(bench.driver.checkCredential(credential)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('SignatureDoesNotMatch') as unknown,
    });
  });
});
