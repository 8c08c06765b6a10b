import type { IpPermission, SecurityGroupRule } from '@aws-sdk/client-ec2';
import {
  canonicalCidr,
  formatMark,
  parseMark,
  ruleKey,
  type ObservedRule,
  type PortRange,
  type Protocol,
  type RuleSpec,
} from '#rules';
import { protocolOf } from '../ip-protocol';
import type { AddChange } from '../provider-driver';
import type { writtenKeys } from '../written-keys';

/** The traffic of a rule in EC2's notation. `-1` is any protocol, and any ICMP type and code. */
interface Traffic {
  readonly IpProtocol: string;
  readonly FromPort: number;
  readonly ToPort: number;
}

const ANY = -1;
const LAST_PORT = 65_535;

/** Whether a canonical CIDR is IPv6. */
export const isIpv6 = (cidr: string): boolean => cidr.includes(':');

/**
 * The permissions for these rules: one for each protocol and port range, with all its addresses. EC2 creates one rule
 * for each address.
 */
export function permissionsOf(adds: readonly AddChange[]): IpPermission[] {
  const groups = new Map<string, { traffic: Traffic; adds: AddChange[] }>();
  for (const add of adds) {
    const traffic = trafficOf(add.spec);
    const name = Object.values(traffic).join(' ');
    const group = groups.get(name) ?? { traffic, adds: [] };
    group.adds.push(add);
    groups.set(name, group);
  }
  return [...groups.values()].map(({ traffic, adds: members }) => ({ ...traffic, ...sourcesOf(members) }));
}

function sourcesOf(adds: readonly AddChange[]): Pick<IpPermission, 'IpRanges' | 'Ipv6Ranges'> {
  const sources = adds.map(({ spec, mark }) => ({ address: spec.address, Description: formatMark(mark) }));
  const v4 = sources.filter(({ address }) => !isIpv6(address));
  const v6 = sources.filter(({ address }) => isIpv6(address));
  return {
    ...(v4.length > 0 && {
      IpRanges: v4.map(({ address, Description }) => ({ CidrIp: address, Description })),
    }),
    ...(v6.length > 0 && {
      Ipv6Ranges: v6.map(({ address, Description }) => ({ CidrIpv6: address, Description })),
    }),
  };
}

function trafficOf({ address, protocol, ports: [range] }: RuleSpec): Traffic {
  if (protocol === 'all') return { IpProtocol: '-1', FromPort: ANY, ToPort: ANY };
  if (protocol === 'icmp') {
    return { IpProtocol: isIpv6(address) ? 'icmpv6' : 'icmp', FromPort: ANY, ToPort: ANY };
  }
  return { IpProtocol: protocol, FromPort: range?.from ?? 0, ToPort: range?.to ?? LAST_PORT };
}

/**
 * Maps a rule of a security group.
 * @param deployment name of this deployment: marks with this name are ours
 * @param writtenKey see `writtenKeys`
 * @returns null when Drawbridge does not write rules of this kind, and has not written this one: outbound, without an address, of
 *   another protocol, or of single ICMP types
 */
export function observedRule(
  rule: SecurityGroupRule,
  deployment: string,
  writtenKey: ReturnType<typeof writtenKeys> = () => undefined,
): ObservedRule | null {
  const { SecurityGroupRuleId: providerRuleId } = rule;
  if (providerRuleId === undefined) return null;
  const mark = parseMark(rule.Description);
  const ownRuleId = mark?.deployment === deployment ? mark.ruleId : null;
  const key = ruleKeyOfEc2(rule);
  if (key !== null) return { key, providerRuleId, ownRuleId };
  const written = writtenKey(providerRuleId, ownRuleId);
  if (written === undefined) return null;
  const source = rule.ReferencedGroupInfo?.GroupId ?? rule.PrefixListId ?? 'other traffic';
  const difference = `it lets in ${source}`;
  return { key: written, providerRuleId, ownRuleId, inForce: false, difference };
}

/** `ruleKey` of an inbound rule; null when Drawbridge does not write rules of this kind. */
export function ruleKeyOfEc2(rule: SecurityGroupRule): string | null {
  const cidr = canonicalCidr(rule.CidrIpv4 ?? rule.CidrIpv6 ?? '');
  if (rule.IsEgress || !cidr) return null;
  const { IpProtocol = '' } = rule;
  const protocol = IpProtocol === '-1' ? 'all' : protocolOf(IpProtocol, cidr.version);
  const ports = protocol && portsOf(protocol, rule);
  return ports ? ruleKey({ address: cidr.cidr, protocol, ports }) : null;
}

function portsOf(protocol: Protocol, rule: SecurityGroupRule): PortRange[] | null {
  const { FromPort: from = ANY, ToPort: to = ANY } = rule;
  if (protocol === 'all') return [];
  if (protocol === 'icmp') return from === ANY && to === ANY ? [] : null;
  if (from === 0 && to === LAST_PORT) return [];
  return from < 0 || to < from ? null : [{ from, to }];
}
