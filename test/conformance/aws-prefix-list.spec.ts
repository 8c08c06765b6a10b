import { DriverRegistry, type CloudTarget } from '#drivers';
import { describeDriver } from './driver-conformance';
import { describeEditedRules } from './identity-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { SimulatedCloud } from './simulated-cloud';

/** One call for additions and removals. */
const OPERATIONS = {
  read: ['DescribeManagedPrefixLists', 'GetManagedPrefixListEntries'],
  add: ['ModifyManagedPrefixList'],
  remove: ['ModifyManagedPrefixList'],
};
/** Reads before and after a compare-and-set write are part of it. */
const READS_OF_WRITES = OPERATIONS.read;

const KEYS = { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' };

const list = (identifier: string, data: Record<string, string>): CloudTarget => ({
  resourceType: 'PREFIX_LIST',
  identifier,
  region: 'eu-west-1',
  credential: { credentialType: 'ACCESS_KEY', data, externalId: null, identity: null },
  deployment: 'conformance',
  claims: new Map(),
});

async function startBench({ capacity }: BenchOptions): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('AWS', OPERATIONS, capacity);
  const registry = new DriverRegistry({
    AWS_ENDPOINT_URL_EC2: `${cloud.url}/aws/ec2`,
    AWS_ENDPOINT_URL_STS: `${cloud.url}/aws/sts`,
  });
  return {
    cloud: {
      ports: false,
      marks: true,
      batch: 'whole-list',
      sharedList: true,
      adoptsUnmanagedRules: true,
      capacityPerIpVersion: false,
      singleIpVersion: true,
      addressIsIdentity: true,
      provesAbsence: true,
    },
    driver: await registry.driverFor('AWS', 'PREFIX_LIST'),
    target: (number) => list(`pl-0123456789abcdef${number}`, KEYS),
    missingTarget: () => list('pl-0fedcba9876543210', KEYS),
    withWrongSecret: ({ identifier }) => list(identifier, { ...KEYS, secretAccessKey: 'another-secret' }),
    unknownCredential: () => list('', { ...KEYS, accessKeyId: 'AKIANOBODYKNOWSTHIS1' }).credential,
    malformedSpec: { address: '203.0.113.250/33', protocol: 'all', ports: [] },
    role: {
      verified: ['DescribeManagedPrefixLists', 'GetManagedPrefixListEntries', 'ModifyManagedPrefixList'].map(
        (action) => `ec2:${action}`,
      ),
      polling: [],
      withdraw: (permissions) => cloud.withdraw(permissions),
    },
    changes: [],
    edit: ({ identifier }, address, edit) => cloud.edit(identifier, address, edit),
    ...cloud.handles('GetCallerIdentity', READS_OF_WRITES),
  };
}

describeDriver('AWS', startBench, 'prefix lists');
describeEditedRules('AWS driver of prefix lists', startBench);
