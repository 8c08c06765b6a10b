import { ACCOUNT_ID } from './credentials';
import type { SecurityGroupRule } from './security-groups';
import type { XmlStructure } from './xml';

export const VPC_ID = 'vpc-0123456789abcdef0';

/** A rule as DescribeSecurityGroupRules shows it. */
export const ruleXml = (rule: SecurityGroupRule): XmlStructure => ({
  securityGroupRuleId: rule.id,
  groupId: rule.groupId,
  groupOwnerId: ACCOUNT_ID,
  isEgress: rule.isEgress,
  ipProtocol: rule.protocol,
  fromPort: rule.fromPort,
  toPort: rule.toPort,
  ...sourceXml(rule),
  description: rule.description,
  tagSet: rule.tags.map(({ key, value }) => ({ key, value })),
});

function sourceXml({ version, source }: SecurityGroupRule): XmlStructure {
  if (version !== null) return version === 4 ? { cidrIpv4: source } : { cidrIpv6: source };
  if (source.startsWith('pl-')) return { prefixListId: source };
  return { referencedGroupInfo: { groupId: source, userId: ACCOUNT_ID, vpcId: VPC_ID } };
}

/** A group as DescribeSecurityGroups shows it: rules grouped by protocol and port range. */
export const groupXml = (groupId: string, rules: readonly SecurityGroupRule[]): XmlStructure => ({
  ownerId: ACCOUNT_ID,
  groupId,
  groupName: `simulated-${groupId.slice(-1)}`,
  groupDescription: 'Simulated security group',
  vpcId: VPC_ID,
  ipPermissions: permissionsXml(rules.filter((rule) => !rule.isEgress)),
  ipPermissionsEgress: permissionsXml(rules.filter((rule) => rule.isEgress)),
  tagSet: [],
});

function permissionsXml(rules: readonly SecurityGroupRule[]): XmlStructure[] {
  const byTraffic = new Map<string, SecurityGroupRule[]>();
  for (const rule of rules) {
    const traffic = `${rule.protocol} ${rule.fromPort} ${rule.toPort}`;
    byTraffic.set(traffic, [...(byTraffic.get(traffic) ?? []), rule]);
  }
  return [...byTraffic.values()].map((same) => permissionXml(same[0]!, same));
}

const permissionXml = (traffic: SecurityGroupRule, rules: readonly SecurityGroupRule[]): XmlStructure => ({
  ipProtocol: traffic.protocol,
  ...(traffic.protocol === '-1' ? {} : { fromPort: traffic.fromPort, toPort: traffic.toPort }),
  groups: rules
    .filter(({ source }) => source.startsWith('sg-'))
    .map(({ source, description }) => ({ groupId: source, userId: ACCOUNT_ID, description })),
  ipRanges: rules
    .filter((rule) => rule.version === 4)
    .map((rule) => ({ cidrIp: rule.source, description: rule.description })),
  ipv6Ranges: rules
    .filter((rule) => rule.version === 6)
    .map((rule) => ({ cidrIpv6: rule.source, description: rule.description })),
  prefixListIds: rules
    .filter(({ source }) => source.startsWith('pl-'))
    .map(({ source, description }) => ({ prefixListId: source, description })),
});
