/** What may pass a rule: `all` has no ports, `icmp` neither. */
export const PROTOCOLS = ['tcp', 'udp', 'icmp', 'all'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** One opening in one target. `address` is a canonical CIDR; no ports means every port of the protocol. */
export interface RuleSpec {
  readonly address: string;
  readonly protocol: Protocol;
  readonly ports: readonly PortRange[];
}

/** The part of a resource's config that says which traffic its rules let in. */
export interface TrafficConfig {
  readonly port?: number;
  readonly ports?: readonly number[];
  readonly protocol?: Protocol;
}

/** A resource's config: which traffic, and what its resourceType knows besides. */
export type ResourceConfig = TrafficConfig & Readonly<Record<string, unknown>>;

/**
 * `one`: the provider's rule holds a single port range (AWS), so several ports become several rules. `none`: its rules
 * let an address in whatever it wants, and know no ports.
 */
export type PortsPerRule = 'none' | 'one' | 'many';

/** Two openings are the same exactly when their keys are: address, protocol, ports. */
export function ruleKey(spec: RuleSpec): string {
  return `${spec.address} ${spec.protocol} ${portsText(spec.ports)}`;
}

/** Reads what `ruleKey` wrote. */
export function parseRuleKey(key: string): RuleSpec {
  const [address = '', protocol = '', ports = '*'] = key.split(' ');
  return { address, protocol: protocol as Protocol, ports: parsePorts(ports) };
}

/** `22`, `80-90`, `22,443`, or `*` for every port. */
export function portsText(ports: readonly PortRange[]): string {
  if (ports.length === 0) return '*';
  return ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/** Reads what `portsText` wrote. */
export function parsePorts(text: string): PortRange[] {
  if (text === '*') return [];
  return text.split(',').map((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return { from, to };
  });
}

/**
 * The cloud rules that let one address reach one resource.
 * @param cidr canonical CIDR
 */
export function ruleSpecs(cidr: string, config: TrafficConfig, portsPerRule: PortsPerRule): RuleSpec[] {
  if (portsPerRule === 'none') return [{ address: cidr, protocol: 'all', ports: [] }];
  const protocol = config.protocol ?? 'tcp';
  const given = config.ports ?? (config.port === undefined ? [] : [config.port]);
  const hasPorts = protocol === 'tcp' || protocol === 'udp';
  const ports = hasPorts
    ? [...new Set(given)].sort((a, b) => a - b).map((port) => ({ from: port, to: port }))
    : [];
  if (ports.length === 0 || portsPerRule === 'many') return [{ address: cidr, protocol, ports }];
  return ports.map((range) => ({ address: cidr, protocol, ports: [range] }));
}
