import { invalidValue, missingParameter } from './aws-error';
import { bareAddress, readCidr } from '../cidr';
import type { QueryForm } from './query-form';

/** A rule as AWS counts them: one protocol, one port range, one source. */
export interface RuleSpec {
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `-1` or a protocol number */
  readonly protocol: string;
  readonly fromPort: number;
  readonly toPort: number;
  /** null: the source is a group or a prefix list */
  readonly version: 4 | 6 | null;
  /** the range, or the id of the group or prefix list */
  readonly source: string;
  readonly description: string | undefined;
}

const NAMED_PROTOCOLS: Readonly<Record<string, string>> = {
  '6': 'tcp',
  '17': 'udp',
  '1': 'icmp',
  '58': 'icmpv6',
  all: '-1',
};
const PROTOCOL = /^(tcp|udp|icmp|icmpv6|-1|\d{1,3})$/;
const DESCRIPTION = /^[a-zA-Z0-9 ._\-:/()#,@[\]+=&;{}!$*]{0,255}$/;

/** Rules with the same identity are duplicates; description and tags do not count. */
export const identityOf = (spec: Omit<RuleSpec, 'description' | 'version'>): string =>
  [spec.protocol, spec.fromPort, spec.toPort, spec.source].join(' ');

/** A rule in AWS's messages. */
export function describeSpec(spec: RuleSpec): string {
  const protocol = spec.protocol === '-1' ? 'ALL' : spec.protocol.toUpperCase();
  const ports = /^(tcp|udp)$/.test(spec.protocol)
    ? `, from port: ${spec.fromPort}, to port: ${spec.toPort}`
    : '';
  return `"peer: ${spec.source}, ${protocol}${ports}, ALLOW"`;
}

/** Reads the rules of a request, from `IpPermissions` or from the flat parameters. @throws CloudError */
export function readPermissions(form: QueryForm): RuleSpec[] {
  const permissions = form.list('IpPermissions').flatMap(readPermission);
  const cidr = form.text('CidrIp');
  const flat = cidr === undefined ? [] : [readSource(form, readTraffic(form), cidr, 4)];
  return [...permissions, ...flat];
}

/** Addresses in a request, not validated, a single one bare. */
export const addressesIn = (form: QueryForm): string[] =>
  form
    .list('IpPermissions')
    .flatMap((entry) => [
      ...entry.list('IpRanges').map((range) => range.text('CidrIp')),
      ...entry.list('Ipv6Ranges').map((range) => range.text('CidrIpv6')),
    ])
    .map((text) => bareAddress(readCidr(text ?? '')?.text ?? ''));

/** @throws CloudError when a rule is named twice */
export function checkDuplicates(specs: readonly RuleSpec[]): void {
  if (new Set(specs.map(identityOf)).size < specs.length) {
    throw invalidValue('The same permission must not appear multiple times');
  }
}

/** @throws CloudError when it has a character that AWS does not accept, or more than 255 */
export function checkDescription(description: string | undefined): void {
  if (description !== undefined && !DESCRIPTION.test(description)) {
    throw invalidValue(
      'Invalid rule description. Valid descriptions are strings less than 256 characters from the following set: ' +
        ' a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*',
    );
  }
}

type Traffic = Pick<RuleSpec, 'protocol' | 'fromPort' | 'toPort'>;

function readPermission(permission: QueryForm): RuleSpec[] {
  const traffic = readTraffic(permission);
  const named = (name: string, member: string, id: RegExp): RuleSpec[] =>
    permission
      .list(name)
      .map((source) => readNamed(source, traffic, source.text(member) ?? missing(member), id));
  const read = (name: string, member: string, version: 4 | 6): RuleSpec[] =>
    permission
      .list(name)
      .map((range) => readSource(range, traffic, range.text(member) ?? missing(member), version));
  const specs = [
    ...read('IpRanges', 'CidrIp', 4),
    ...read('Ipv6Ranges', 'CidrIpv6', 6),
    // `Groups` is the name of the SDKs' member on the wire
    ...named('Groups', 'GroupId', /^sg-([0-9a-f]{8}|[0-9a-f]{17})$/),
    ...named('PrefixListIds', 'PrefixListId', /^pl-([0-9a-f]{8}|[0-9a-f]{17})$/),
  ];
  if (specs.length === 0) throw missingParameter('ipRanges or ipv6Ranges');
  return specs;
}

/** A source that is named by its id. Whether it exists is not checked: groups of other accounts are allowed, too. */
function readNamed(form: QueryForm, traffic: Traffic, source: string, id: RegExp): RuleSpec {
  if (!id.test(source)) throw invalidValue(`Invalid id: "${source}"`);
  const description = form.text('Description');
  checkDescription(description);
  return { ...traffic, version: null, source, description };
}

function readSource(form: QueryForm, traffic: Traffic, text: string, version: 4 | 6): RuleSpec {
  const cidr = readCidr(text);
  if (cidr?.version !== version) throw invalidValue(`CIDR block ${text} is malformed`);
  const description = form.text('Description');
  checkDescription(description);
  return { ...traffic, version, source: cidr.text, description };
}

function readTraffic(form: QueryForm): Traffic {
  const given = (form.text('IpProtocol') ?? missing('ipProtocol')).toLowerCase();
  const protocol = NAMED_PROTOCOLS[given] ?? given;
  if (!PROTOCOL.test(protocol) || Number(protocol) > 255) {
    throw invalidValue(`Invalid value '${given}' for IP protocol. Unknown protocol.`);
  }
  return checkPorts({ protocol, from: readPort(form, 'FromPort'), to: readPort(form, 'ToPort') });
}

function checkPorts(given: { protocol: string; from: number | undefined; to: number | undefined }): Traffic {
  const { protocol, from, to } = given;
  const isTransport = protocol === 'tcp' || protocol === 'udp';
  if (!isTransport && !protocol.startsWith('icmp')) return { protocol, fromPort: -1, toPort: -1 };
  if (protocol === 'icmpv6' && from === undefined && to === undefined) {
    return { protocol, fromPort: -1, toPort: -1 };
  }
  if (from === undefined || to === undefined) {
    const kind = isTransport ? 'TCP/UDP' : 'ICMP';
    throw invalidValue(`Invalid value 'Must specify both from and to ports with ${kind}.' for portRange.`);
  }
  const [lowest, highest, label] = isTransport ? [0, 65535, 'TCP/UDP port'] : [-1, 255, 'ICMP type or code'];
  for (const port of [from, to]) {
    if (port < lowest || port > highest) throw invalidValue(`${label} (${port}) out of range`);
  }
  if (isTransport && from > to) throw invalidValue(`Invalid TCP/UDP port range (${from}:${to})`);
  if (!isTransport && from === -1 && to !== -1)
    throw invalidValue('ICMP code must be -1 when the type is -1');
  return { protocol, fromPort: from, toPort: to };
}

function readPort(form: QueryForm, name: string): number | undefined {
  const text = form.text(name);
  if (text === undefined) return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw invalidValue(`Invalid integer value ${text}`);
  return Number(text);
}

const missing = (name: string): never => {
  throw missingParameter(`${name.charAt(0).toLowerCase()}${name.slice(1)}`);
};
