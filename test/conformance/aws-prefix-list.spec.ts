import type { CloudTarget } from '#drivers';
import { SIMULATED_KEY } from '../builders/accounts/organization';
import { simulatedTarget } from './driver-actions';
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

const KEYS = SIMULATED_KEY;

const list = (identifier: string, data: Record<string, string> = KEYS): CloudTarget => ({
  ...simulatedTarget('AWS', identifier, data),
  resourceType: 'PREFIX_LIST',
});

async function startBench({ capacity }: BenchOptions): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('AWS', OPERATIONS, capacity);
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
    driver: await cloud.drivers().driverFor('AWS', 'PREFIX_LIST'),
    target: (number) => list(`pl-0123456789abcdef${number}`),
    missingTarget: () => list('pl-0fedcba9876543210'),
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
