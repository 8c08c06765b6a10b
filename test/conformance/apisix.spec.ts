import type { CloudTarget } from '#drivers';
import { simulatedTarget } from './driver-actions';
import { describeDriver } from './driver-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { SimulatedCloud } from './simulated-cloud';

const OPERATIONS = { read: ['GetObject'], add: ['PatchObject'], remove: ['PatchObject'] };
/** A write starts with reading the list and ends with reading it back. */
const READS_OF_WRITES = ['GetObject'];

async function startBench({ capacity }: BenchOptions): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('APISIX', OPERATIONS, capacity);
  const key = { adminUrl: `${cloud.url}/apisix-gateway`, adminKey: 'simulated-admin-key' };
  const route = (identifier: string, data: Record<string, string> = key): CloudTarget =>
    simulatedTarget('APISIX', identifier, data);
  return {
    cloud: {
      ports: false,
      marks: false,
      batch: 'whole-list',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: false,
      capacityByLength: true,
      sharedList: true,
      permissionKnownByWriteOnly: true,
    },
    driver: await cloud.drivers().driverFor('APISIX', 'ROUTE'),
    target: (number) => route(`simulated-route-${number + 1}`),
    // ids are case-sensitive
    respell: (identifier) => identifier,
    missingTarget: () => route('no-such-route'),
    withWrongSecret: ({ identifier }) => route(identifier, { ...key, adminKey: 'another-key' }),
    unknownCredential: () => route('', { ...key, adminKey: 'nobody-knows-this-key' }).credential,
    malformedSpec: { address: '203.0.113.256/32', protocol: 'all', ports: [] },
    changes: [],
    ...cloud.handles('ListPlugins', READS_OF_WRITES),
  };
}

describeDriver('APISIX', startBench);
