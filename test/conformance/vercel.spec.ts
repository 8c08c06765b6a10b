import type { CloudTarget } from '#drivers';
import { simulatedTarget } from './driver-actions';
import { describeDriver } from './driver-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { SimulatedCloud } from './simulated-cloud';

const OPERATIONS = {
  read: ['getFirewallConfig', 'getProject'],
  add: ['updateFirewallConfig'],
  remove: ['updateFirewallConfig'],
};
/** A list is read before and after a write. */
const READS_OF_WRITES = ['getFirewallConfig', 'getProject'];

const project = (identifier: string, token = 'simulated-vercel-token'): CloudTarget =>
  simulatedTarget('VERCEL', identifier, { token });

async function startBench({ capacity }: BenchOptions): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('VERCEL', OPERATIONS, capacity);
  return {
    cloud: {
      ports: false,
      marks: false,
      batch: 'whole-list',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: false,
      permissionKnownByWriteOnly: true,
    },
    driver: await cloud.drivers().driverFor('VERCEL', 'FIREWALL_RULE'),
    target: (number) => project(`prj_simulated${number + 1}`),
    // project ids are case-sensitive
    respell: (identifier) => identifier,
    missingTarget: () => project('prj_nowhere'),
    withWrongSecret: ({ identifier }) => project(identifier, 'another-token'),
    unknownCredential: () => project('', 'nobodys-token').credential,
    malformedSpec: { address: '999.0.2.1/32', protocol: 'all', ports: [] },
    changes: [],
    ...cloud.handles('getAuthUser', READS_OF_WRITES),
  };
}

describeDriver('VERCEL', startBench);
