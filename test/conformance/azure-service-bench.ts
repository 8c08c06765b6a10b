import type { CloudTarget, ProviderDriver } from '#drivers';
import { idOf, PRINCIPAL, SERVICES } from './azure-services';
import { simulatedTarget } from './driver-actions';
import { describeDriver } from './driver-conformance';
import type { BenchOptions, CloudFacts, DriverBench } from './driver-bench';
import { describeUnpolledWrites } from './identity-conformance';
import { describeLocks } from './lock-conformance';
import { SimulatedCloud } from './simulated-cloud';

/** @returns a token of the simulated cloud */
export async function signIn(url: string, scope = `${url}/azure/arm/.default`): Promise<string> {
  const { tenantId, clientId, clientSecret } = PRINCIPAL;
  const proof = { client_id: clientId, client_secret: clientSecret };
  const answer = await fetch(`${url}/azure/login/${tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...proof, scope }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

export const targetOf = (
  resourceType: string,
  name: string,
  data: Record<string, string> = PRINCIPAL,
): CloudTarget => ({
  ...simulatedTarget('AZURE', idOf(SERVICES[resourceType]!, name), data),
  resourceType,
});

const nameOf = ({ identifier }: CloudTarget): string => `simulated-group/${identifier.split('/').at(-1)}`;

export const CHILD_OPERATIONS = {
  read: ['ListFirewallRules', 'GetService', 'ListPermissions'],
  add: ['PutFirewallRule'],
  remove: ['DeleteFirewallRule'],
};
export const LIST_OPERATIONS = { read: ['GetService'], add: ['PatchService'], remove: ['PatchService'] };

export const driverOf = (resourceType: string, cloud: SimulatedCloud): Promise<ProviderDriver> =>
  cloud.drivers().driverFor('AZURE', resourceType);

const startBench =
  (resourceType: string) =>
  async ({ capacity, operationMs }: BenchOptions): Promise<DriverBench> => {
    const service = SERVICES[resourceType]!;
    const { armType, name, polling } = service;
    const hasRules = service.shape === 'children';
    const takesIpv6 = hasRules && 'ipv6FirewallRules' in service.collections;
    const operations = hasRules ? CHILD_OPERATIONS : LIST_OPERATIONS;
    const cloud = await SimulatedCloud.start('AZURE', operations, capacity, operationMs);
    const target = (suffix: string, data?: Record<string, string>): CloudTarget =>
      targetOf(resourceType, `${name}${suffix}`, data);
    const facts: CloudFacts = {
      ports: false,
      marks: hasRules,
      batch: hasRules ? 'call-each' : 'whole-list',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: takesIpv6,
      ...(!takesIpv6 && { singleIpVersion: true }),
      ...(!hasRules && { sharedList: true, addressIsIdentity: true }),
    };
    const verbs = ['read', 'write', 'delete'];
    const below = hasRules
      ? Object.keys(service.collections).flatMap((each) => verbs.map((verb) => `${each}/${verb}`))
      : ['write'];
    return {
      cloud: facts,
      driver: await driverOf(resourceType, cloud),
      target: (number) => target(number === 0 ? '' : `-${number + 1}`),
      missingTarget: () => target('-that-does-not-exist'),
      withWrongSecret: (known) => ({
        ...known,
        credential: { ...known.credential, data: { ...PRINCIPAL, clientSecret: 'another-secret' } },
      }),
      unknownCredential: () =>
        target('', { ...PRINCIPAL, clientId: '00000000-0000-4000-8000-00000000dead' }).credential,
      // of a list, the service itself refuses it
      malformedSpec: {
        address: hasRules ? '203.0.113.256/32' : '10.1.2.3/32',
        protocol: 'all',
        ports: [],
      },
      changes: hasRules
        ? [
            { address: '198.51.100.9' },
            { address: '0.0.0.0/0' },
            { fields: { endIpAddress: '203.0.113.9' } },
            { fields: { startIpAddress: '0.0.0.0', endIpAddress: '0.0.0.0' } },
          ]
        : [],
      edit: (on, address, edit) => cloud.edit(nameOf(on), address, edit),
      role: {
        verified: ['read', ...below].map((action) => `${armType}/${action}`),
        polling: polling === null ? [] : [polling],
        withdraw: (permissions) => cloud.withdraw(permissions),
      },
      lock: (on, level) => cloud.lock(nameOf(on), level),
      ...cloud.handles(
        'RequestToken',
        [...(hasRules ? ['ListFirewallRules'] : []), 'GetService', 'GetServiceOperation'],
        nameOf,
      ),
    };
  };

/** What every driver does, at one kind of service of Azure. */
export function describeService(resourceType: string): void {
  const { shape, polling } = SERVICES[resourceType]!;
  const start = startBench(resourceType);
  describeDriver('AZURE', start, resourceType);
  if (shape === 'children') describeLocks(`AZURE driver of ${resourceType}`, start);
  if (polling !== null) describeUnpolledWrites(`AZURE driver of ${resourceType}`, start, 'done');
}
