import type { CloudTarget } from '#drivers';
import type { Provider } from '#rules';
import { CLUSTERS } from '../../apps/simulator/src/aws/eks-clusters';
import { IP_SETS } from '../../apps/simulator/src/aws/waf-ip-sets';
import type { Service as Simulated } from '../../apps/simulator/src/azure/services/service-types';
import { simulatedObjects } from '../builders/resources/driver-load';
import { idOf, SERVICES } from './azure-services';

type Json = Readonly<Record<string, unknown>>;

/** What a simulated cloud has for one target, in its own form. */
export interface Stored {
  /** in their order */
  readonly entries: readonly Json[];
  /** what else the target has */
  readonly siblings: Json;
}

/** A type of targets with entries of several programs. */
export interface ListType {
  readonly provider: Exclude<Provider, 'AGENT'>;
  readonly resourceType: string;
  /** as the driver names it */
  readonly identifier: string;
  /** @param objects of the simulated cloud */
  readonly stored: (objects: unknown) => Stored;
  /** @returns the objects of the simulated cloud with other entries on the target */
  readonly withEntries: (objects: unknown, entries: readonly Json[]) => unknown;
  /** an entry of another program. @param number of up to 40: distinct ones */
  readonly foreign: (number: number) => Json;
  /** the address of an entry, as others may spell it */
  readonly addressOf: (entry: Json) => string;
  /** entries have names, which are not addresses */
  readonly named?: true;
  readonly endsByItself?: true;
}

const office = (number: number): string =>
  `198.51.${100 + Math.floor(number / 3)}.${[0, 7, 128][number % 3]}`;
const RANGES = ['/24', '', '/25'] as const;
/** A range, an address and a smaller range. */
const spelled = (number: number): string => office(number) + RANGES[number % 3]!;
const cidr = (number: number): string => office(number) + (RANGES[number % 3] || '/32');

interface Service extends Json {
  readonly properties: Json;
  readonly rules: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}
interface AzureObjects {
  readonly services: Readonly<Record<string, Service>>;
}

function azureType([resourceType, service]: readonly [string, Simulated]): ListType {
  const target = `simulated-group/${service.name}`;
  const of = (objects: unknown): Service => (objects as AzureObjects).services[target]!;
  const changed = (objects: unknown, change: Partial<Service>): unknown => ({
    groups: [],
    services: { [target]: { ...of(objects), ...change } },
  });
  const common = {
    provider: 'AZURE',
    resourceType,
    identifier: idOf(service, service.name),
  } as const;
  if (service.shape === 'children')
    return {
      ...common,
      named: true,
      stored: (objects) => {
        const { rules, ...siblings } = of(objects);
        const { firewallRules = {}, ...others } = rules;
        const entries = Object.entries(firewallRules).map(([rule, fields]) => ({ name: rule, ...fields }));
        const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
        return { entries: sorted, siblings: { ...siblings, others } };
      },
      withEntries: (objects, entries) => {
        const firewallRules = Object.fromEntries(
          entries.map(({ name: rule, ...fields }) => [String(rule), fields as Json] as const),
        );
        return changed(objects, { rules: { ...of(objects).rules, firewallRules } });
      },
      // names before, between and after those of ours; a range without a prefix length, and the switch for Azure
      foreign: (number) => ({
        name: `${['a', 'drawbridge-', 'drawbridge-another-', 'drawbridge-conformance-', 'z'][number % 5]!}${number}`,
        startIpAddress: number === 4 ? '0.0.0.0' : office(number),
        endIpAddress: number === 4 ? '0.0.0.0' : office(number).replace(/\d+$/, '200'),
      }),
      addressOf: ({ startIpAddress }) => String(startIpAddress),
    };
  const listOf = (objects: unknown): Json & { readonly ipRules: readonly Json[] } =>
    of(objects).properties[service.property] as Json & { readonly ipRules: readonly Json[] };
  return {
    ...common,
    stored: (objects) => {
      const { ours: _, ...resource } = of(objects);
      const { ipRules, ...list } = listOf(objects);
      const properties = { ...resource.properties, [service.property]: list };
      return { entries: ipRules, siblings: { ...resource, properties } };
    },
    withEntries: (objects, ipRules) =>
      changed(objects, {
        properties: { ...of(objects).properties, [service.property]: { ...listOf(objects), ipRules } },
      }),
    // this service completes addresses by itself; where it does not, ranges with host bits stay
    foreign: (number) => ({
      value: service.completesAddresses ? cidr(number) : spelled(number).replace('.0/24', '.77/24'),
      note: `of ${number}`,
      ...(number % 2 === 0 && { action: 'Allow' }),
    }),
    addressOf: ({ value }) => String(value),
  };
}

interface AwsObjects {
  readonly sets: Readonly<Record<string, Json>>;
  readonly clusters: Readonly<Record<string, Json>>;
}

const awsType = (
  resourceType: string,
  kind: keyof AwsObjects,
  identifier: string,
  list: string,
): ListType => ({
  provider: 'AWS',
  resourceType,
  identifier,
  stored: (objects) => {
    const {
      [list]: entries,
      ours: _,
      lockToken: _token,
      updatingUntil: _until,
      ...siblings
    } = (objects as AwsObjects)[kind][identifier]!;
    return { entries: (entries as string[]).map((value) => ({ value })), siblings };
  },
  withEntries: (objects, entries) => ({
    rules: [],
    lists: [],
    sets: {},
    clusters: {},
    [kind]: {
      [identifier]: {
        ...(objects as AwsObjects)[kind][identifier],
        [list]: entries.map(({ value }) => value),
      },
    },
  }),
  foreign: (number) => ({ value: cidr(number) }),
  addressOf: ({ value }) => String(value),
});

const PROJECT = simulatedObjects('').ATLAS.identifier;
const FAR_MS = 5 * 86_400_000;

const ATLAS: ListType = {
  provider: 'ATLAS',
  resourceType: 'PROJECT',
  identifier: PROJECT,
  endsByItself: true,
  stored: (objects) => ({ entries: (objects as Record<string, Json[]>)[PROJECT] ?? [], siblings: {} }),
  withEntries: (_, entries) => ({ [PROJECT]: entries }),
  // to stay, of another deployment, and of a person, for some days
  foreign: (number) => ({
    cidr: cidr(number),
    comment: ['office', 'drawbridge:another:00000000-0000-4000-8000-000000000001:never', 'a visitor'][
      number % 3
    ],
    endsAt: number % 3 === 0 ? null : Date.now() + FAR_MS,
    activeAt: 0,
  }),
  addressOf: (entry) => String(entry['cidr']),
};

/** The types whose targets have entries of several programs. */
export const LIST_TYPES: readonly ListType[] = [
  ...Object.entries(SERVICES).map(azureType),
  awsType('WAF_IP_SET', 'sets', IP_SETS[0]!, 'addresses'),
  awsType('EKS_CLUSTER', 'clusters', CLUSTERS[0]!, 'publicAccessCidrs'),
  ATLAS,
];

/** The simulated target of a type. @param url of the simulator */
export const targetOf = (
  { provider, resourceType, identifier }: ListType,
  url: string,
  claims: CloudTarget['claims'],
): CloudTarget => ({
  ...simulatedObjects(url)[provider],
  resourceType,
  identifier,
  deployment: 'conformance',
  claims,
});
