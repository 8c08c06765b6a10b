import { CLUSTERS } from '../../apps/simulator/src/aws/eks-clusters';
import { SERVICES } from './azure-services';

type Json = Readonly<Record<string, unknown>>;

/** What an administrator switches so that a list does not decide who is let in. */
export interface Switch {
  readonly what: string;
  readonly resourceType: string;
  readonly message: RegExp;
  /** the list is still there */
  readonly keepsList: boolean;
  /** @returns what becomes of the simulated cloud's objects */
  readonly switched: (objects: unknown) => unknown;
}

const azure = (
  resourceType: string,
  what: string,
  message: RegExp,
  change: (properties: Json) => Json,
  keepsList = true,
): Switch => ({
  what,
  resourceType,
  message,
  keepsList,
  switched: (objects) => {
    const target = `simulated-group/${SERVICES[resourceType]!.name}`;
    const service = (objects as { services: Record<string, { properties: Json }> }).services[target]!;
    const properties = { ...service.properties, ...change(service.properties) };
    return { groups: [], services: { [target]: { ...service, properties } } };
  },
});

const ofAzure = Object.entries(SERVICES).flatMap(([resourceType, service]): Switch[] => {
  const off = { publicNetworkAccess: 'Disabled' };
  if (service.shape === 'children')
    return [
      azure(resourceType, 'its public access', /public access to .* is not enabled/, (properties) =>
        'network' in properties ? { network: off } : off,
      ),
    ];
  const { property } = service;
  return [
    azure(resourceType, 'its default action', /everybody is let in/, (properties) => ({
      [property]: { ...(properties[property] as Json), defaultAction: 'Allow' },
    })),
    azure(resourceType, 'the lack of a list', /everybody is let in/, () => ({ [property]: null }), false),
    azure(resourceType, 'its public access', /no address is let in/, () => off),
  ];
});

const eks = (what: string, message: RegExp, change: Json, keepsList = true): Switch => ({
  what,
  resourceType: 'EKS_CLUSTER',
  message,
  keepsList,
  switched: (objects) => {
    const [arn] = CLUSTERS as [string];
    const cluster = (objects as { clusters: Record<string, Json> }).clusters[arn];
    return { rules: [], lists: [], sets: {}, clusters: { [arn]: { ...cluster, ...change } } };
  },
});

/** Of each type whose list can be overruled. IP sets of WAF and projects of Atlas have no such switch. */
export const SWITCHES: readonly Switch[] = [
  ...ofAzure,
  eks('its public endpoint', /no address is let in/, { endpointPublicAccess: false }),
  eks('an empty list', /everybody is let in/, { publicAccessCidrs: [] }, false),
];

/** @param switched what was sent @returns what undoes it @param before the objects as they were */
export const switchedBack = (switched: unknown, before: unknown): unknown =>
  Object.fromEntries(
    Object.entries(switched as Record<string, Json>).map(([kind, changed]) => {
      const known = (before as Record<string, Json>)[kind]!;
      return [kind, Array.isArray(changed) ? [] : pick(known, Object.keys(changed))];
    }),
  );

const pick = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, from[name]]));
