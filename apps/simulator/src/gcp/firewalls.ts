import { randomInt } from 'node:crypto';
import { bareAddress } from '../cidr';
import { carriesMark, isSameTraffic, type Opening } from '../ground-truth/ledger';
import type { World } from '../provider';
import type { FirewallSpec } from './firewall-input';
import { alreadyExists, notFound, quotaExceeded } from './gcp-error';
import { PROJECT } from './service-account';

export interface Firewall extends FirewallSpec {
  /** a number, as text: it has more digits than a double */
  readonly id: string;
  readonly creationTimestamp: string;
  /** microseconds since 1970 */
  readonly openedAt: number;
  readonly closedAt: number | null;
}

export const NETWORKS: readonly string[] = [
  'default',
  ...Array.from({ length: 4 }, (_, index) => `simulated-network-${index + 1}`),
];

/** How long a removed rule can still show up in a stale read. */
const HISTORY_US = 600_000_000;

export const networkPath = (network: string): string => `projects/${PROJECT}/global/networks/${network}`;
export const firewallPath = (name: string): string => `projects/${PROJECT}/global/firewalls/${name}`;

/** Nineteen digits, as Compute's numbers have. */
export const newId = (): string =>
  `${randomInt(1_000_000_000, 9_000_000_000)}${String(randomInt(0, 1_000_000_000)).padStart(9, '0')}`;

/** The firewall rules of the simulated project, and those it had a while ago. */
export class Firewalls {
  private rules = new Map<string, Firewall>();
  private removed: Firewall[] = [];

  /** @param room how many the project may have */
  constructor(
    private readonly world: World,
    private readonly room: number,
  ) {}

  reset(): void {
    this.rules = new Map();
    this.removed = [];
  }

  /** Opens rules of an earlier run again. */
  recall(rules: readonly Firewall[]): void {
    for (const rule of rules) {
      this.rules.set(rule.name, rule);
      for (const opening of openingsOf(rule)) this.world.ledger.open(opening);
    }
  }

  /** By name. @param asOf microseconds since 1970; as they were then, up to ten minutes back */
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

  /** @param nameOrId Compute takes both */
  find(nameOrId: string): Firewall | undefined {
    return this.rules.get(nameOrId) ?? [...this.rules.values()].find(({ id }) => id === nameOrId);
  }

  /** @param coming rules that operations under way will make @throws GcpError */
  checkAddition(spec: FirewallSpec, coming: readonly string[]): void {
    if (!NETWORKS.includes(spec.network)) throw notFound(networkPath(spec.network));
    if (this.rules.has(spec.name) || coming.includes(spec.name)) throw alreadyExists(firewallPath(spec.name));
    if (this.rules.size + coming.length >= this.room) throw quotaExceeded(this.room);
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
    for (const opening of openingsOf(rule)) this.world.ledger.open(opening);
    return rule;
  }

  /** Puts a rule in the place of one of the same name. */
  change(spec: FirewallSpec): void {
    const old = this.rules.get(spec.name);
    if (!old) return;
    const rule = { ...old, ...spec };
    const before = openingsOf(old);
    const after = openingsOf(rule);
    this.rules.set(rule.name, rule);
    if (isSameTraffic(before, after)) {
      for (const opening of after) this.world.ledger.relabel(opening, opening.ours);
      return;
    }
    for (const opening of before) this.world.ledger.close(opening);
    for (const opening of after) this.world.ledger.open(opening);
  }

  remove(rule: Firewall): void {
    this.rules.delete(rule.name);
    for (const opening of openingsOf(rule)) this.world.ledger.close(opening);
    const closedAt = this.world.clock.now();
    this.removed.push({ ...rule, closedAt });
    while ((this.removed[0]?.closedAt ?? closedAt) < closedAt - HISTORY_US) this.removed.shift();
  }
}

/** What a rule lets in, the way the ground truth tells it: one opening for each range, protocol and port range. */
export function openingsOf(rule: Firewall): Opening[] {
  const isOpen = rule.direction === 'INGRESS' && !rule.disabled;
  if (!isOpen) return [];
  const openings = rule.sourceRanges.flatMap((range) =>
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
  return openings.map((opening, index) => ({
    ...opening,
    providerRuleId: `${rule.name}#${rule.id}${index === 0 ? '' : `/${index}`}`,
  }));
}

type Span = Pick<Opening, 'fromPort' | 'toPort'>;

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
