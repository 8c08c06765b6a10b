import { randomInt } from 'node:crypto';
import { bareAddress } from '../cidr';
import { History } from '../ground-truth/history';
import { carriesMark, type LedgerRule } from '../ground-truth/ledger';
import type { World } from '../provider';
import type { FirewallSpec } from './firewall-input';
import { alreadyExists, notFound, quotaExceeded } from './gcp-error';
import { PROJECT } from './service-account';

export interface Firewall extends FirewallSpec {
  /** a number as text, because it exceeds a double's precision */
  readonly id: string;
  readonly creationTimestamp: string;
}

/** Firewall policies that apply to a network, as `networks.getEffectiveFirewalls` returns them. They are not enforced. */
export interface NetworkPolicies {
  readonly policies: readonly object[];
  /** whether the network's own policies come before its rules */
  readonly order: 'AFTER_CLASSIC_FIREWALL' | 'BEFORE_CLASSIC_FIREWALL';
}

const NO_POLICIES: NetworkPolicies = { policies: [], order: 'AFTER_CLASSIC_FIREWALL' };

export const NETWORKS: readonly string[] = [
  'default',
  ...Array.from({ length: 4 }, (_, index) => `simulated-network-${index + 1}`),
];

export const networkPath = (network: string): string => `projects/${PROJECT}/global/networks/${network}`;
export const firewallPath = (name: string): string => `projects/${PROJECT}/global/firewalls/${name}`;

/** Nineteen digits, like Compute's ids. */
export const newId = (): string =>
  `${randomInt(1_000_000_000, 9_000_000_000)}${String(randomInt(0, 1_000_000_000)).padStart(9, '0')}`;

/** Firewall rules of the simulated project. */
export class Firewalls {
  private readonly rules: History<Firewall>;
  private readonly policies = new Map<string, NetworkPolicies>();

  constructor(private readonly world: World) {
    this.rules = new History(world, ledgerRulesOf);
  }

  reset(): void {
    this.rules.clear();
    this.policies.clear();
  }

  setPolicies(network: string, policies: NetworkPolicies): void {
    this.policies.set(network, policies);
  }

  policiesOf(network: string): NetworkPolicies {
    return this.policies.get(network) ?? NO_POLICIES;
  }

  /** Restores the rules of an earlier run. */
  restore(rules: readonly Firewall[]): void {
    for (const rule of rules) this.rules.set(rule.name, rule);
  }

  /** Ordered by name. @param asOf microseconds since 1970: the state at that time, up to ten minutes back */
  list(asOf?: number): Firewall[] {
    return this.rules.values(asOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @param nameOrId Compute accepts both */
  find(nameOrId: string): Firewall | undefined {
    return this.rules.get(nameOrId) ?? this.rules.values().find(({ id }) => id === nameOrId);
  }

  /** @param pendingNames rules that operations in progress will add @throws CloudError */
  checkAddition(spec: FirewallSpec, pendingNames: readonly string[]): void {
    if (!NETWORKS.includes(spec.network)) throw notFound(networkPath(spec.network));
    if (this.rules.get(spec.name) || pendingNames.includes(spec.name))
      throw alreadyExists(firewallPath(spec.name));
    const { firewallsPerProject: limit } = this.world.sizes;
    if (this.rules.values().length + pendingNames.length >= limit) throw quotaExceeded(limit);
  }

  add(spec: FirewallSpec, id: string): void {
    this.rules.set(spec.name, { ...spec, id, creationTimestamp: new Date().toISOString() });
  }

  /** Replaces the rule of the same name. */
  change(spec: FirewallSpec): void {
    const old = this.rules.get(spec.name);
    if (old) this.rules.set(spec.name, { ...old, ...spec });
  }

  remove(rule: Firewall): void {
    this.rules.delete(rule.name);
  }
}

/** A rule in the ledger's form: one entry for each range, protocol and port range. */
function ledgerRulesOf(rule: Firewall): LedgerRule[] {
  const isOpen = rule.direction === 'INGRESS' && !rule.disabled;
  if (!isOpen) return [];
  const ledgerRules = rule.sourceRanges.flatMap((range) =>
    rule.allowed.flatMap(({ IPProtocol, ports }) =>
      rangesOf(IPProtocol, ports).map((span) => ({
        provider: 'GCP' as const,
        target: rule.network,
        address: bareAddress(range),
        protocol: IPProtocol === '58' ? 'icmpv6' : IPProtocol,
        ...span,
        ours: carriesMark([rule.description]),
      })),
    ),
  );
  return ledgerRules.map((ledgerRule, index) => ({
    ...ledgerRule,
    providerRuleId: `${rule.name}#${rule.id}${index === 0 ? '' : `/${index}`}`,
  }));
}

type Span = Pick<LedgerRule, 'fromPort' | 'toPort'>;

function rangesOf(protocol: string, ports: readonly string[] | undefined): Span[] {
  if (ports !== undefined) {
    return ports.map((text) => {
      const [from = 0, to = from] = text.split('-').map(Number);
      return { fromPort: from, toPort: to };
    });
  }
  const isTransport = protocol === 'tcp' || protocol === 'udp';
  return [isTransport ? { fromPort: 0, toPort: 65_535 } : { fromPort: null, toPort: null }];
}
