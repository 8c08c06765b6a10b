import type { CloudTarget } from '#drivers';
import type { BenchOptions, DriverBench } from './driver-bench';
import { simulatedTarget } from './driver-actions';
import { describeDriver } from './driver-conformance';
import { describeEditedRules } from './identity-conformance';
import { SimulatedCloud } from './simulated-cloud';

/** One request for additions, and one for each removal. */
const OPERATIONS = {
  read: ['listAccessListEntries', 'getAccessListStatus'],
  add: ['createAccessListEntry'],
  remove: ['deleteAccessListEntry'],
};

const ACCOUNT = { clientId: 'mdb_sa_id_simulated', clientSecret: 'simulated-atlas-secret' };

const project = (identifier: string, data: Record<string, string> = ACCOUNT): CloudTarget =>
  simulatedTarget('ATLAS', identifier, data);
const ID = '0'.repeat(22);

async function startBench({ capacity }: BenchOptions): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('ATLAS', OPERATIONS, capacity);
  const target = (number: number): CloudTarget => project(`${ID}a${number + 1}`);
  return {
    cloud: {
      ports: false,
      marks: true,
      batch: 'one-call',
      removesEach: true,
      sharedList: true,
      addressIsIdentity: true,
      adoptsUnmanagedRules: true,
      capacityPerIpVersion: false,
      permissionKnownByWriteOnly: true,
    },
    driver: await cloud.drivers().driverFor('ATLAS', 'PROJECT'),
    target,
    // ids are hexadecimal digits in lower case
    respell: (identifier) => identifier,
    missingTarget: () => project(`${ID}ff`),
    withWrongSecret: ({ identifier }) => project(identifier, { ...ACCOUNT, clientSecret: 'another-secret' }),
    unknownCredential: () => project('', { ...ACCOUNT, clientId: 'mdb_sa_id_nobody' }).credential,
    malformedSpec: { address: '203.0.113.250/33', protocol: 'all', ports: [] },
    changes: [],
    tokens: {
      target,
      revoke: () => cloud.revokeTokens(),
      refused: ({ identifier }) => cloud.callsWith(identifier, ['INVALID_SERVICE_ACCOUNT_TOKEN']),
    },
    edit: ({ identifier }, address, edit) => cloud.edit(identifier, address, edit),
    // a change reads the list first
    ...cloud.handles('requestToken', OPERATIONS.read),
  };
}

describeDriver('ATLAS', startBench);
describeEditedRules('ATLAS driver', startBench);
