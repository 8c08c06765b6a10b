/** Protocols of a rule. `all` and `icmp` have no ports. */
export const PROTOCOLS = ['tcp', 'udp', 'icmp', 'all'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** The traffic a rule allows. `address` is a canonical CIDR; no ports means every port of the protocol. */
export interface RuleSpec {
  readonly address: string;
  readonly protocol: Protocol;
  readonly ports: readonly PortRange[];
}

/** The part of a resource's config that defines the traffic its rules allow. */
export interface TrafficConfig {
  readonly port?: number;
  readonly ports?: readonly number[];
  readonly protocol?: Protocol;
}

/** A resource's config: the traffic, and fields specific to its resourceType. */
export type ResourceConfig = TrafficConfig & Readonly<Record<string, unknown>>;

/**
 * `one`: a rule of the provider has a single port range (AWS), so several ports become several rules. `none`: its rules have
 * no ports and allow all traffic of an address.
 */
export type PortsPerRule = 'none' | 'one' | 'many';

/** Identity of a rule on its target: address, protocol, ports. */
export function ruleKey(spec: RuleSpec): string {
  return `${spec.address} ${spec.protocol} ${portsText(spec.ports)}`;
}

/** Parses a key of `ruleKey`. */
export function parseRuleKey(key: string): RuleSpec {
  const [address = '', protocol = '', ports = '*'] = key.split(' ');
  return { address, protocol: protocol as Protocol, ports: parsePorts(ports) };
}

/** `22`, `80-90`, `22,443`, or `*` for every port. */
export function portsText(ports: readonly PortRange[]): string {
  if (ports.length === 0) return '*';
  return ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/** Parses a text of `portsText`. */
export function parsePorts(text: string): PortRange[] {
  if (text === '*') return [];
  return text.split(',').map((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return { from, to };
  });
}

/**
 * The rules that allow one address on one resource.
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
