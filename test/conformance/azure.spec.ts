import type { CloudTarget, ProviderDriver } from '#drivers';
import { describeDriver } from './driver-conformance';
import { PRINCIPAL } from './azure-services';
import { addition, kinds, simulatedTarget } from './driver-actions';
import { describeLocks } from './lock-conformance';
import { describeEditedRules, describeTokens, describeUnpolledWrites } from './identity-conformance';
import type { BenchOptions, DriverBench } from './driver-bench';
import { describeFederation } from './federation-conformance';
import { federatedBench, type FederatedType } from './federated-bench';
import { SimulatedCloud } from './simulated-cloud';

const OPERATIONS = {
  read: ['ListSecurityRules', 'GetNetworkSecurityGroup', 'GetSecurityRule', 'ListPermissions'],
  add: ['PutSecurityRule'],
  remove: ['DeleteSecurityRule'],
};
/** A batch starts with reading the rules, and a write ends with reading the written rule. */
const READS_OF_WRITES = ['ListSecurityRules', 'GetSecurityRule'];

const group = (name: string, data: Record<string, string> = PRINCIPAL): CloudTarget =>
  simulatedTarget(
    'AZURE',
    `/subscriptions/${PRINCIPAL.subscriptionId}/resourcegroups/simulated-group` +
      `/providers/microsoft.network/networksecuritygroups/${name}`,
    data,
  );

/** The target's name in the simulated cloud. */
const nameOf = ({ identifier }: CloudTarget): string => `simulated-group/${identifier.split('/').at(-1)}`;

const FEDERATED: FederatedType = {
  credentialType: 'FEDERATED',
  data: {
    tenantId: PRINCIPAL.tenantId,
    clientId: PRINCIPAL.clientId,
    subscriptionId: PRINCIPAL.subscriptionId,
  },
  unknown: { clientId: '00000000-0000-4000-8000-00000000dead' },
  exchange: 'RequestToken',
};

const driverOf = (cloud: SimulatedCloud): Promise<ProviderDriver> =>
  cloud.drivers().driverFor('AZURE', 'NETWORK_SECURITY_GROUP');

async function startBench(
  { capacity, operationMs }: BenchOptions,
  federated?: FederatedType,
): Promise<DriverBench> {
  const cloud = await SimulatedCloud.start('AZURE', OPERATIONS, capacity, operationMs);
  const bench: DriverBench = {
    cloud: {
      ports: true,
      marks: true,
      batch: 'call-each',
      adoptsUnmanagedRules: true,
      capacityPerIpVersion: false,
      denials: { part: '10.0.0.5' },
    },
    driver: await driverOf(cloud),
    target: (number) => group(number === 0 ? 'simulated-nsg' : `simulated-nsg-${number + 1}`),
    missingTarget: () => group('no-such-nsg'),
    withWrongSecret: ({ identifier }) =>
      simulatedTarget('AZURE', identifier, { ...PRINCIPAL, clientSecret: 'another-secret' }),
    unknownCredential: () =>
      group('', { ...PRINCIPAL, clientId: '00000000-0000-4000-8000-00000000dead' }).credential,
    malformedSpec: { address: '203.0.113.250/32', protocol: 'tcp', ports: [{ from: 70_000, to: 70_000 }] },
    tokens: {
      target: (number) => group(`simulated-nsg${number === 0 ? '' : `-${number + 1}`}`),
      revoke: () => cloud.revokeTokens(),
      refused: (target) =>
        cloud.callsWith(nameOf(target), ['ExpiredAuthenticationToken', 'InvalidAuthenticationToken']),
    },
    changes: [
      { address: '198.51.100.9' },
      { address: '0.0.0.0/0' },
      { fromPort: 22, toPort: 80 },
      { protocol: 'udp', fromPort: 22, toPort: 22 },
      ...[
        { sourceAddressPrefix: '*' },
        { sourceAddressPrefixes: ['0.0.0.0/0'] },
        { sourceAddressPrefixes: ['VirtualNetwork'] },
        { sourceAddressPrefix: 'AzureLoadBalancer' },
        { sourcePortRange: '1-1024' },
        { destinationPortRanges: ['3389'] },
        { destinationAddressPrefix: '10.0.0.4' },
        { protocol: '*' },
        { access: 'Deny' },
        { direction: 'Outbound' },
      ].map((fields) => ({ fields })),
    ],
    edit: (target, address, edit) => cloud.edit(nameOf(target), address, edit),
    role: {
      verified: ['read', ...['read', 'write', 'delete'].map((verb) => `securityRules/${verb}`)].map(
        (action) => `Microsoft.Network/networkSecurityGroups/${action}`,
      ),
      polling: ['operations', 'operationResults'].map((kind) => `Microsoft.Network/locations/${kind}/read`),
      withdraw: (permissions) => cloud.withdraw(permissions),
    },
    lock: (target, level) => cloud.lock(nameOf(target), level),
    ...cloud.handles('RequestToken', READS_OF_WRITES, nameOf),
  };
  return federated ? federatedBench(bench, cloud, federated) : bench;
}

describeDriver('AZURE', startBench);
describeLocks('AZURE driver', startBench);
describeEditedRules('AZURE driver', startBench);
describeTokens('AZURE driver', startBench);
describeFederation('AZURE driver', (options) => startBench(options, FEDERATED));
describeUnpolledWrites('AZURE driver', startBench, 'done');

describe('AZURE driver', () => {
  let cloud: SimulatedCloud;
  afterAll(() => cloud.close());

  it('polls a change of a second more often than Azure suggests', async () => {
    cloud = await SimulatedCloud.start('AZURE', OPERATIONS, 10, 1100);
    const driver = await driverOf(cloud);
    const change = addition({ address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] });
    expect(kinds(await driver.applyChanges(group('simulated-nsg'), [change]))).toEqual(['done']);
    // at once, and then before ten seconds are over
    expect(await cloud.countOf('GetOperation')).toBeGreaterThan(2);
  });
});
