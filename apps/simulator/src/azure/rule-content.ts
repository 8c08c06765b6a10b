import { readAddressOrCidr } from '../cidr';
import type { CloudError } from '../cloud-error';
import { readJson } from '../read-json';
import { badRequest, invalidContent } from './azure-error';

/** A security rule's properties, as in requests and answers. */
export interface RuleProperties {
  readonly description?: string;
  readonly protocol: string;
  readonly access: string;
  readonly direction: string;
  readonly priority: number;
  readonly sourcePortRange?: string;
  readonly sourcePortRanges?: readonly string[];
  readonly destinationPortRange?: string;
  readonly destinationPortRanges?: readonly string[];
  readonly sourceAddressPrefix?: string;
  readonly sourceAddressPrefixes?: readonly string[];
  readonly destinationAddressPrefix?: string;
  readonly destinationAddressPrefixes?: readonly string[];
  readonly sourceApplicationSecurityGroups?: readonly { readonly id: string }[];
  readonly destinationApplicationSecurityGroups?: readonly { readonly id: string }[];
}

const PROTOCOLS = ['Tcp', 'Udp', 'Icmp', 'Icmpv6', 'Esp', 'Ah', '*'];
const NAME = /^[a-z0-9](?:[\w.-]{0,78}\w)?$/i;
/** `*`, or a name like `AzureLoadBalancer` or `Storage.WestEurope`. Azure's list is not checked: it changes weekly. */
const SERVICE_TAG = /^(\*|[A-Z][A-Za-z0-9]+(\.[A-Za-z0-9]+)?)$/;
const MAX_DESCRIPTION_LENGTH = 140;
const TEXTS = ['description', 'protocol', 'access', 'direction', 'sourcePortRange', 'destinationPortRange'];
const PREFIXES = ['sourceAddressPrefix', 'destinationAddressPrefix'];

/** @throws CloudError */
export function checkRuleName(name: string): void {
  if (NAME.test(name)) return;
  throw badRequest('InvalidResourceName', `Resource name ${name} is invalid.`);
}

/** Reads the body of a write. @throws CloudError as Azure's network service does */
export function readRuleProperties(body: string, name: string): RuleProperties {
  const properties = propertiesOf(body);
  for (const field of [...TEXTS, ...PREFIXES]) {
    if (!['undefined', 'string'].includes(typeof properties[field]))
      throw invalidContent(`${field} must be a string`);
  }
  const rule = properties as unknown as RuleProperties;
  oneOf('protocol', rule.protocol, PROTOCOLS);
  oneOf('access', rule.access, ['Allow', 'Deny']);
  oneOf('direction', rule.direction, ['Inbound', 'Outbound']);
  if (!Number.isInteger(rule.priority) || rule.priority < 100 || rule.priority > 4096) {
    throw badRequest(
      'SecurityRuleInvalidPriority',
      `Security rule ${name} has invalid priority. Priority must be between 100 and 4096.`,
    );
  }
  if ((rule.description ?? '').length > MAX_DESCRIPTION_LENGTH) {
    throw badRequest(
      'InvalidDescriptionLength',
      `The description of security rule ${name} is longer than ${MAX_DESCRIPTION_LENGTH} characters.`,
    );
  }
  checkAddresses(rule, name);
  checkPorts(rule, name);
  return rule;
}

function propertiesOf(body: string): Record<string, unknown> {
  const content = readJson(body) as { properties?: unknown } | null | undefined;
  if (content === undefined) throw invalidContent('it is not JSON');
  const properties = content?.properties;
  if (typeof properties !== 'object' || properties === null) throw invalidContent('properties is missing');
  return properties as Record<string, unknown>;
}

function oneOf(field: string, value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && allowed.includes(value)) return;
  throw badRequest(
    'InvalidRequestFormat',
    `Value '${value}' of ${field} is not one of ${allowed.join(', ')}.`,
  );
}

function checkAddresses(rule: RuleProperties, name: string): void {
  const sides = [
    sourcesOf(rule),
    [rule.destinationAddressPrefix, ...(rule.destinationAddressPrefixes ?? [])].filter(
      (text) => text !== undefined,
    ),
  ];
  const groups = [rule.sourceApplicationSecurityGroups, rule.destinationApplicationSecurityGroups];
  for (const [side, prefixes] of sides.entries()) {
    if (prefixes.length + (groups[side]?.length ?? 0) === 0) throw parameterMissing(name, 'address prefix');
    const wrong = prefixes.find((prefix) => !SERVICE_TAG.test(prefix) && !readAddressOrCidr(prefix));
    if (wrong !== undefined || new Set(prefixes).size < prefixes.length)
      throw invalidPrefix(name, wrong ?? prefixes[0]!);
  }
  const versions = sides.flat().flatMap((prefix) => readAddressOrCidr(prefix)?.version ?? []);
  const icmpVersion = rule.protocol === 'Icmp' ? 4 : rule.protocol === 'Icmpv6' ? 6 : null;
  if (icmpVersion !== null && versions.some((version) => version !== icmpVersion)) {
    throw badRequest(
      'SecurityRuleInvalidProtocol',
      `Security rule ${name} has protocol ${rule.protocol}, which does not exist for its address prefixes.`,
    );
  }
  if (new Set(versions).size > 1) {
    throw badRequest(
      'SecurityRuleAddressPrefixesMixedIpVersions',
      `Security rule ${name} may not hold both IPv4 and IPv6 address prefixes.`,
    );
  }
}

function checkPorts(rule: RuleProperties, name: string): void {
  const sides = [
    [rule.sourcePortRange, ...(rule.sourcePortRanges ?? [])].filter((text) => text !== undefined),
    destinationPortsOf(rule),
  ];
  for (const ranges of sides) {
    if (ranges.length === 0) throw parameterMissing(name, 'port range');
    const wrong = ranges.find((range) => !isPortRange(range));
    if (wrong === undefined) continue;
    throw badRequest(
      'SecurityRuleInvalidPortRange',
      `Security rule has invalid Port range. Value provided: ${wrong}. Value should be an integer OR integer range with '-' delimiter. Valid range 0-65535.`,
    );
  }
}

const isPortRange = (text: string): boolean => {
  if (text === '*') return true;
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  return from !== undefined && Number(from) <= Number(to) && Number(to) <= 65_535;
};

const parameterMissing = (name: string, what: string): CloudError =>
  badRequest(
    'SecurityRuleParameterMissing',
    `Required security rule parameter is missing for rule ${name}: ${what}.`,
  );

const invalidPrefix = (name: string, prefix: string): CloudError =>
  badRequest(
    'SecurityRuleInvalidAddressPrefix',
    `Security rule ${name} has invalid Address prefix. Value provided: ${prefix}`,
  );

export const sourcesOf = (rule: RuleProperties): string[] =>
  [rule.sourceAddressPrefix, ...(rule.sourceAddressPrefixes ?? [])].filter((text) => text !== undefined);

export const destinationPortsOf = (rule: RuleProperties): string[] =>
  [rule.destinationPortRange, ...(rule.destinationPortRanges ?? [])].filter((text) => text !== undefined);
