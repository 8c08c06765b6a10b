import { generateKeyPairSync } from 'node:crypto';
import type { CloudTarget, CloudDriver } from '#drivers';
import { KEY_FILE } from '../../apps/simulator/src/gcp/service-account';
import { GRANTED } from '../../apps/simulator/src/roles/roles';
import { simulatedTarget } from './driver-actions';
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

const POLICIES = 'compute.networks.getEffectiveFirewalls';

const { privateKey: OTHER_KEY } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const network = (identifier: string, data?: Readonly<Record<string, string>>): CloudTarget =>
  simulatedTarget('GCP', identifier, data);

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

const startCloud = ({ capacity, operationMs }: BenchOptions): Promise<SimulatedCloud> =>
  SimulatedCloud.start('GCP', OPERATIONS, capacity, operationMs);

async function startBench(limits: BenchOptions, federated?: FederatedType): Promise<DriverBench> {
  const cloud = await startCloud(limits);
  const bench: DriverBench = {
    cloud: {
      ports: true,
      marks: true,
      batch: 'call-each',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: false,
      denials: { part: 'bastion' },
      // a repeated request is answered with the first one's operation
      provesAbsence: true,
    },
    driver: await cloud.drivers().driverFor('GCP', 'FIREWALL'),
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
    changes: [
      { address: '198.51.100.9' },
      { address: '0.0.0.0/0' },
      { fromPort: 22, toPort: 80 },
      { protocol: 'udp', fromPort: 22, toPort: 22 },
      ...[
        { sourceRanges: ['203.0.113.7/32', '0.0.0.0/0'] },
        { sourceTags: ['web'] },
        { allowed: [{ IPProtocol: 'tcp', ports: ['22', '3389'] }] },
        { allowed: [{ IPProtocol: 'tcp', ports: ['22'] }, { IPProtocol: 'udp' }] },
        { allowed: [{ IPProtocol: 'tcp', ports: ['22'] }, { IPProtocol: 'esp' }] },
        { disabled: true },
        { priority: 900 },
        { targetTags: ['web'] },
      ].map((fields) => ({ fields })),
    ],
    role: {
      // its absence is a warning
      verified: GRANTED.GCP.filter((permission) => permission !== POLICIES),
      polling: ['compute.globalOperations.get'],
      withdraw: (permissions) => cloud.withdraw(permissions),
    },
    ...cloud.handles('token', WAITS, nameOf),
  };
  return federated ? federatedBench(bench, cloud, federated) : bench;
}

describeDriver('GCP', startBench);
describeEditedRules('GCP driver', startBench);
describeTokens('GCP driver', startBench);
describeFederation('GCP driver', (options) => startBench(options, FEDERATED));
describeUnpolledWrites('GCP driver', startBench, 'unknown');

describe('Verifying a network with firewall policies', () => {
  const config = { port: 22 };
  let cloud: SimulatedCloud;
  let driver: CloudDriver;

  beforeAll(async () => {
    cloud = await startCloud({ capacity: 10 });
    driver = await cloud.drivers().driver('GCP');
  });
  beforeEach(() => cloud.reset());
  afterAll(() => cloud.close());

  const rule = (action: string, more: object = {}, ports = ['20-30']): object => ({
    kind: 'compute#firewallPolicyRule',
    action,
    direction: 'INGRESS',
    priority: 1000,
    match: { srcIpRanges: ['0.0.0.0/0'], layer4Configs: [{ ipProtocol: 'tcp', ports }] },
    ...more,
  });
  const policy = (type: string, ...rules: object[]): object => ({ type, shortName: 'baseline', rules });
  const warnings = async (policies: readonly object[], order?: 'before'): Promise<readonly string[]> => {
    await cloud.setPolicies('default', policies, order);
    const verified = (await driver.verify(network(path('default')), config)) as {
      readonly warnings?: readonly string[];
    };
    return verified.warnings ?? [];
  };

  it('warns of a denial that comes before the rules of the network', async () => {
    const denials = [policy('HIERARCHY', rule('deny'))];
    expect(await warnings(denials)).toEqual([expect.stringMatching(/policy baseline \(rule 1000\) denies/)]);
    const ofNetwork = [policy('NETWORK', rule('deny', { match: undefined }), rule('deny'))];
    expect(await warnings(ofNetwork)).toEqual([]);
    expect(await warnings(ofNetwork, 'before')).toHaveLength(1);
  });

  it('warns of a policy that lets everybody in before the rules of the network', async () => {
    const [warning, ...others] = await warnings([policy('HIERARCHY', rule('allow'))]);
    expect(warning).toMatch(/lets everybody \(0\.0\.0\.0\/0\) in/);
    expect(others).toEqual([]);
  });

  it.each<[string, object[]]>([
    ['of outbound traffic', [rule('deny', { direction: 'EGRESS' })]],
    ['that is disabled', [rule('deny', { disabled: true })]],
    ['of other ports', [rule('deny', {}, ['443'])]],
    ['for other networks', [rule('deny', { targetResources: ['https://x/projects/p/global/networks/y'] })]],
    [
      'after a rule that leaves all of it to the next level',
      [rule('deny'), rule('goto_next', { priority: 1 })],
    ],
    ['with an exception for some addresses', [rule('allow', { match: { srcIpRanges: ['10.0.0.0/8'] } })]],
  ])('does not warn of a rule %s', async (_, rules) => {
    expect(await warnings([policy('HIERARCHY', ...rules)])).toEqual([]);
  });

  it('warns when the policies cannot be read, and passes', async () => {
    await cloud.withdraw([POLICIES]);
    expect(await warnings([])).toEqual([
      `The firewall policies of default were not looked at: grant ${POLICIES}`,
    ]);
    await cloud.withdraw([]);
    await cloud.injectOperationFault('networks.getEffectiveFirewalls', 'error');
    expect(await warnings([])).toEqual([expect.stringContaining('were not looked at: backendError')]);
  });
});
