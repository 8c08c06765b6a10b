import { readAddressOrCidr } from '../../cidr';
import { History } from '../../ground-truth/history';
import { allTrafficRule, type LedgerRule } from '../../ground-truth/ledger';
import type { LockLevel, World } from '../../provider';
import { rangesBetween } from './ranges';
import { SERVICE_TARGETS, serviceOf, type ListService, type Service } from './service-types';

export type Json = Readonly<Record<string, unknown>>;

/** A version of a resource. */
export interface ServiceResource {
  readonly properties: Json;
  /** by collection and name: the properties of each rule */
  readonly rules: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** entries of the list that Drawbridge wrote, as canonical ranges */
  readonly ours: readonly string[];
}

export type SavedServices = Readonly<Record<string, ServiceResource>>;

const EVERYBODY = ['0.0.0.0/0', '::/0'];

/** The resources of all services. Each starts closed. */
export class Services {
  readonly locks = new Map<string, LockLevel>();
  private readonly resources: History<ServiceResource>;
  /** by target: the change that its running operation carries out */
  private readonly pending = new Map<string, { readonly endsAt: number; readonly change: () => void }>();

  constructor(world: World) {
    this.resources = new History(world, ledgerRulesOf);
    this.reset();
  }

  reset(): void {
    this.pending.clear();
    this.resources.clear();
    this.locks.clear();
    for (const target of SERVICE_TARGETS) this.resources.init(target, initial(serviceOf(target)!));
  }

  /** @param asOf microseconds since 1970: the version at that time, up to ten minutes back */
  get(target: string, asOf?: number): ServiceResource {
    this.flush(target);
    return this.resources.get(target, asOf) ?? initial(serviceOf(target)!);
  }

  /** Carries out a change when its operation ends. @param endsAt milliseconds since 1970 */
  later(target: string, endsAt: number, change: () => void): void {
    const waitMs = endsAt - Date.now();
    if (waitMs <= 0) return change();
    this.pending.set(target, { endsAt, change });
    setTimeout(() => this.flush(target), waitMs).unref();
  }

  private flush(target: string): void {
    const { endsAt, change } = this.pending.get(target) ?? {};
    if (!change || endsAt === undefined || Date.now() < endsAt) return;
    this.pending.delete(target);
    change();
  }

  /** Replaces a resource. */
  write(target: string, resource: ServiceResource): void {
    this.flush(target);
    this.resources.set(target, resource);
  }

  all(): SavedServices {
    return Object.fromEntries(SERVICE_TARGETS.map((target) => [target, this.get(target)]));
  }

  restore(saved: SavedServices): void {
    for (const [target, resource] of Object.entries(saved))
      if (serviceOf(target)) this.write(target, resource);
  }
}

const initial = (service: Service): ServiceResource => ({
  properties: service.properties,
  rules: service.shape === 'list' ? {} : mapped(service.collections, () => ({})),
  ours: [],
});

const mapped = <T, R>(from: Readonly<Record<string, T>>, to: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]));

/** The spellings of a list's entries. */
export const entriesOf = ({ property }: ListService, { properties }: ServiceResource): Json[] => {
  const { ipRules = [] } = (properties[property] ?? {}) as { ipRules?: Json[] };
  return ipRules;
};

/** What the firewall lets in now. */
function ledgerRulesOf(resource: ServiceResource, target: string): LedgerRule[] {
  const service = serviceOf(target)!;
  const rule = (address: string, providerRuleId: string, ours: boolean): LedgerRule =>
    allTrafficRule('AZURE', target, address, ours, providerRuleId);
  const { properties, rules, ours } = resource;
  const { network = {} } = properties as { network?: Json };
  const access = properties.publicNetworkAccess ?? network.publicNetworkAccess ?? 'Enabled';
  if (access !== 'Enabled') return [];
  if (service.shape === 'children')
    return Object.entries(rules).flatMap(([collection, named]) =>
      Object.entries(named).flatMap(([name, range]) => {
        const [first, last] = service.collections[collection]!.map((field) => String(range[field])) as [
          string,
          string,
        ];
        const id = collection === 'firewallRules' ? name : `${collection}/${name}`;
        // some addresses have no traffic; the switch for Azure is no address
        if (first === '0.0.0.0' && last === first) return [];
        return rangesBetween(first, last).flatMap((cidr, index) =>
          /^(192\.0\.2\.1\/32|100::1\/128)$/.test(cidr)
            ? []
            : [rule(cidr, index === 0 ? id : `${id}#${index + 1}`, name.startsWith('drawbridge-'))],
        );
      }),
    );
  const { defaultAction } = (properties[service.property] ?? {}) as { defaultAction?: string };
  if (defaultAction !== 'Deny') return EVERYBODY.map((cidr) => rule(cidr, cidr, false));
  const cidrs = entriesOf(service, resource).flatMap(
    ({ value }) => readAddressOrCidr(String(value))?.text ?? [],
  );
  return [...new Set(cidrs)].map((cidr) => rule(cidr, cidr, ours.includes(cidr)));
}
