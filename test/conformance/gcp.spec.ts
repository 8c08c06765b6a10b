import { generateKeyPairSync } from 'node:crypto';
import { DriverRegistry, type CloudTarget } from '#drivers';
import { KEY_FILE } from '../../apps/simulator/src/gcp/service-account';
import { GRANTED } from '../../apps/simulator/src/roles/roles';
import { describeDriver } from './driver-conformance';
import { describeEditedRules, describeTokens, describeUnpolledWrites } from './identity-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { describeFederation } from './federation-conformance';
import { federatedBench, type FederatedType } from './federated-bench';
import { SimulatedCloud } from './simulated-cloud';

const OPERATIONS = {
  read: ['firewalls.list', 'firewalls.get', 'networks.get'],
  add: ['firewalls.insert', 'firewalls.update'],
  remove: ['firewalls.delete'],
};
/** Waiting for its operation is part of a write. */
const WAITS = ['globalOperations.wait'];

const NETWORKS = [
  'default',
  'simulated-network-1',
  'simulated-network-2',
  'simulated-network-3',
  'simulated-network-4',
];

const { privateKey: OTHER_KEY } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const network = (identifier: string, data: Readonly<Record<string, string>> = KEY_FILE): CloudTarget => ({
  resourceType: 'FIREWALL',
  identifier,
  region: null,
  credential: { credentialType: 'SERVICE_ACCOUNT', data, externalId: null, identity: null },
  deployment: 'conformance',
  claims: new Map(),
});

const path = (name: string): string => `projects/simulated-project/global/networks/${name}`;
const nameOf = ({ identifier }: CloudTarget): string => identifier.split('/').at(-1)!;

const FEDERATED: FederatedType = {
  credentialType: 'FEDERATION',
  data: {
    project_id: 'simulated-project',
    projectNumber: '123456789012',
    poolId: 'drawbridge',
    providerId: 'main',
  },
  unknown: { poolId: 'another-pool' },
  exchange: 'exchangeToken',
};

async function startBench(
  { capacity, operationMs }: BenchOptions,
  federated?: FederatedType,
): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('GCP', OPERATIONS, capacity, operationMs);
  const registry = new DriverRegistry({
    GCP_COMPUTE_URL: `${cloud.url}/gcp`,
    GCP_RESOURCE_MANAGER_URL: `${cloud.url}/gcp`,
    GOOGLE_OAUTH_TOKEN_URL: `${cloud.url}/gcp/token`,
    GOOGLE_STS_URL: `${cloud.url}/gcp/sts`,
    GOOGLE_IAM_CREDENTIALS_URL: `${cloud.url}/gcp/iamcredentials`,
  });
  const bench: DriverBench = {
    cloud: {
      ports: true,
      marks: true,
      batch: 'call-each',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: false,
      denials: { part: 'bastion' },
    },
    driver: await registry.driver('GCP'),
    target: (number) => network(path(NETWORKS[number]!)),
    missingTarget: () => network(path('nowhere')),
    withWrongSecret: ({ identifier }) => network(identifier, { ...KEY_FILE, private_key: OTHER_KEY }),
    unknownCredential: () => network('', { ...KEY_FILE, client_email: 'nobody@example.com' }).credential,
    malformedSpec: { address: '203.0.113.250/32', protocol: 'tcp', ports: [{ from: 70_000, to: 70_000 }] },
    tokens: {
      target: (number) => network(path(NETWORKS[number]!)),
      revoke: () => cloud.revokeTokens(),
      refused: (target) => cloud.callsWith(nameOf(target), ['authError']),
    },
    edit: (target, address, edit) => cloud.edit(nameOf(target), address, edit),
    role: {
      verified: GRANTED.GCP,
      polling: ['compute.globalOperations.get'],
      withdraw: (permissions) => cloud.withdraw(permissions),
    },
    addUnmanaged: (target, rule) => cloud.addUnmanaged(nameOf(target), rule),
    rules: (target) => cloud.rules(nameOf(target)),
    injectFault: (target, effect, fault, options) =>
      cloud.injectFault(nameOf(target), effect, fault, options),
    injectCheckFault: (fault, options) => cloud.injectOperationFault('token', fault, options),
    calls: (target) => cloud.calls(nameOf(target), WAITS),
    reset: () => cloud.reset(),
    close: cloud.close,
  };
  return federated ? federatedBench(bench, cloud, federated) : bench;
}

describeDriver('GCP', startBench);
describeEditedRules('GCP driver', startBench);
describeTokens('GCP driver', startBench);
describeFederation('GCP driver', (options) => startBench(options, FEDERATED));
describeUnpolledWrites('GCP driver', startBench, 'unknown');
