import { DriverRegistry, type CloudTarget } from '#drivers';
import { describeDriver } from './driver-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { SimulatedCloud } from './simulated-cloud';

const OPERATIONS = {
  read: ['getFirewallConfig', 'getProject'],
  add: ['updateFirewallConfig'],
  remove: ['updateFirewallConfig'],
};
/** A list is read before it is changed, and again afterwards. */
const READS_OF_WRITES = ['getFirewallConfig', 'getProject'];

const project = (identifier: string, token = 'simulated-vercel-token'): CloudTarget => ({
  resourceType: 'FIREWALL_RULE',
  identifier,
  region: null,
  credential: { credentialType: 'TOKEN', data: { token }, externalId: null },
  deployment: 'conformance',
  claims: new Map(),
});

async function startBench({ room }: BenchOptions): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('VERCEL', OPERATIONS, room);
  const registry = new DriverRegistry({ VERCEL_API_URL: `${cloud.url}/vercel` });
  return {
    cloud: {
      ports: false,
      marks: false,
      batch: 'whole-list',
      oneRulePerHolder: false,
      roomByVersion: false,
      writeTellsAlone: true,
    },
    driver: await registry.driver('VERCEL'),
    target: (number) => project(`prj_simulated${number + 1}`),
    // ids of projects are told apart by their case
    respelled: (identifier) => identifier,
    missingTarget: () => project('prj_nowhere'),
    withWrongSecret: ({ identifier }) => project(identifier, 'another-token'),
    unknownCredential: () => project('', 'nobodys-token').credential,
    malformedSpec: { address: '999.0.2.1/32', protocol: 'all', ports: [] },
    plant: ({ identifier }, rule) => cloud.plant(identifier, rule),
    openings: ({ identifier }) => cloud.openings(identifier),
    bend: ({ identifier }, effect, fault, options) => cloud.bend(identifier, effect, fault, options),
    bendCheck: (fault, options) => cloud.bendOperation('getAuthUser', fault, options),
    calls: ({ identifier }) => cloud.calls(identifier, READS_OF_WRITES),
    reset: () => cloud.reset(),
    close: cloud.close,
  };
}

describeDriver('VERCEL', startBench);
