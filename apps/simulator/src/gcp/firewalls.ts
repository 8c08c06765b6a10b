import { randomInt } from 'node:crypto';
import { bareAddress } from '../cidr';
import { carriesMark, isSameTraffic, type LedgerRule } from '../ground-truth/ledger';
import type { World } from '../provider';
import type { FirewallSpec } from './firewall-input';
import { alreadyExists, notFound, quotaExceeded } from './gcp-error';
import { PROJECT } from './service-account';

export interface Firewall extends FirewallSpec {
  /** a number as text, because it exceeds a double's precision */
  readonly id: string;
  readonly creationTimestamp: string;
  /** microseconds since 1970 */
  readonly openedAt: number;
  readonly closedAt: number | null;
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

/** Fields that saved rules may lack. */
const OF_EARLIER_RELEASES: Pick<FirewallSpec, 'targetServiceAccounts'> = { targetServiceAccounts: [] };

/** How long removed rules are kept for stale reads. */
const HISTORY_US = 600_000_000;

export const networkPath = (network: string): string => `projects/${PROJECT}/global/networks/${network}`;
export const firewallPath = (name: string): string => `projects/${PROJECT}/global/firewalls/${name}`;

/** Nineteen digits, like Compute's ids. */
export const newId = (): string =>
  `${randomInt(1_000_000_000, 9_000_000_000)}${String(randomInt(0, 1_000_000_000)).padStart(9, '0')}`;

/** Firewall rules of the simulated project, and recently removed ones. */
export class Firewalls {
  private rules = new Map<string, Firewall>();
  private removed: Firewall[] = [];
  private readonly policies = new Map<string, NetworkPolicies>();

  /** @param maxRules limit of the project */
  constructor(
    private readonly world: World,
    private readonly maxRules: number,
  ) {}

  reset(): void {
    this.rules = new Map();
    this.removed = [];
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
    for (const saved of rules) {
      const rule = { ...OF_EARLIER_RELEASES, ...saved };
      this.rules.set(rule.name, rule);
      for (const ledgerRule of ledgerRulesOf(rule)) this.world.ledger.open(ledgerRule);
    }
  }

  /** Ordered by name. @param asOf microseconds since 1970: the state at that time, up to ten minutes back */
  list(asOf?: number): Firewall[] {
    const present = [...this.rules.values()];
    const shown =
      asOf === undefined
        ? present
        : [...present, ...this.removed].filter(
            (rule) => rule.openedAt <= asOf && (rule.closedAt === null || rule.closedAt > asOf),
          );
    return shown.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @param nameOrId Compute accepts both */
  find(nameOrId: string): Firewall | undefined {
    return this.rules.get(nameOrId) ?? [...this.rules.values()].find(({ id }) => id === nameOrId);
  }

  /** @param pendingNames rules that operations in progress will add @throws GcpError */
  checkAddition(spec: FirewallSpec, pendingNames: readonly string[]): void {
    if (!NETWORKS.includes(spec.network)) throw notFound(networkPath(spec.network));
    if (this.rules.has(spec.name) || pendingNames.includes(spec.name))
      throw alreadyExists(firewallPath(spec.name));
    if (this.rules.size + pendingNames.length >= this.maxRules) throw quotaExceeded(this.maxRules);
  }

  add(spec: FirewallSpec, id: string): Firewall {
    const rule = {
      ...spec,
      id,
      creationTimestamp: new Date().toISOString(),
      openedAt: this.world.clock.now(),
      closedAt: null,
    };
    this.rules.set(rule.name, rule);
    for (const ledgerRule of ledgerRulesOf(rule)) this.world.ledger.open(ledgerRule);
    return rule;
  }

  /** Replaces the rule of the same name. */
  change(spec: FirewallSpec): void {
    const old = this.rules.get(spec.name);
    if (!old) return;
    const rule = { ...old, ...spec };
    const before = ledgerRulesOf(old);
    const after = ledgerRulesOf(rule);
    this.rules.set(rule.name, rule);
    if (isSameTraffic(before, after)) {
      for (const ledgerRule of after) this.world.ledger.relabel(ledgerRule, ledgerRule.ours);
      return;
    }
    for (const ledgerRule of before) this.world.ledger.close(ledgerRule);
    for (const ledgerRule of after) this.world.ledger.open(ledgerRule);
  }

  remove(rule: Firewall): void {
    this.rules.delete(rule.name);
    for (const ledgerRule of ledgerRulesOf(rule)) this.world.ledger.close(ledgerRule);
    const closedAt = this.world.clock.now();
    this.removed.push({ ...rule, closedAt });
    while ((this.removed[0]?.closedAt ?? closedAt) < closedAt - HISTORY_US) this.removed.shift();
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
