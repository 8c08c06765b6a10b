import { readAddressOrCidr } from '../cidr';
import { invalid, invalidValue } from './gcp-error';

/** A protocol and its ports; no ports: all of them. */
interface Allowed {
  readonly IPProtocol: string;
  readonly ports?: readonly string[];
}

/** A validated Firewall of a request, with Compute's defaults. */
export interface FirewallSpec {
  readonly name: string;
  readonly description: string;
  readonly network: string;
  readonly priority: number;
  readonly direction: 'INGRESS' | 'EGRESS';
  readonly disabled: boolean;
  readonly sourceRanges: readonly string[];
  readonly sourceTags: readonly string[];
  readonly sourceServiceAccounts: readonly string[];
  readonly targetTags: readonly string[];
  readonly targetServiceAccounts: readonly string[];
  readonly allowed: readonly Allowed[];
  readonly denied: readonly Allowed[];
}

const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const NETWORK =
  /^(?:https:\/\/(?:www|compute)\.googleapis\.com\/compute\/v1\/)?(?:projects\/([^/]+)\/)?global\/networks\/([^/]+)$/;
const NAMED_PROTOCOLS = new Set(['tcp', 'udp', 'icmp', 'esp', 'ah', 'sctp', 'ipip', 'all']);
const WITH_PORTS = new Set(['tcp', 'udp', 'sctp', '6', '17', '132']);
const MAX_RANGES = 256;
const MAX_TAGS = 70;
const MAX_ACCOUNTS = 10;
const MAX_DESCRIPTION_LENGTH = 2048;
const ANYWHERE = '0.0.0.0/0';

/** Allowed fields: known to Compute, whether or not they are simulated. */
const FIELDS = new Set(
  (
    'allowed creationTimestamp denied description destinationRanges direction disabled id kind logConfig name ' +
    'network params priority selfLink sourceRanges sourceServiceAccounts sourceTags targetServiceAccounts targetTags'
  ).split(' '),
);

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads a Firewall. An ingress rule without a source is open to everyone, as in Compute.
 * @throws CloudError as Compute does
 */
export function readFirewall(body: Body, project: string): FirewallSpec {
  const unknown = Object.keys(body).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) {
    throw invalid(
      `Invalid JSON payload received. Unknown name "${unknown}" at 'resource': Cannot find field.`,
    );
  }
  const direction = oneOf(body, 'direction', ['INGRESS', 'EGRESS'] as const) ?? 'INGRESS';
  const sourceRanges = texts(body, 'sourceRanges').map(checkRange);
  const sourceTags = texts(body, 'sourceTags').map((tag) => checkName(tag, 'resource.sourceTags'));
  const sourceServiceAccounts = texts(body, 'sourceServiceAccounts');
  const sources = [...sourceRanges, ...sourceTags, ...sourceServiceAccounts];
  checkRanges(sourceRanges);
  const rule = {
    name: checkName(body['name'], 'resource.name'),
    description: checkDescription(body['description']),
    network: checkNetwork(body['network'], project),
    priority: checkPriority(body['priority']),
    direction,
    disabled: body['disabled'] === true,
    sourceRanges: sources.length === 0 ? [ANYWHERE] : sourceRanges,
    sourceTags,
    sourceServiceAccounts,
    targetTags: checkTags(texts(body, 'targetTags')),
    targetServiceAccounts: texts(body, 'targetServiceAccounts'),
    allowed: checkTraffic(body, 'allowed'),
    denied: checkTraffic(body, 'denied'),
  };
  const accounts = [...rule.targetServiceAccounts, ...sourceServiceAccounts];
  if (accounts.length > 0 && rule.targetTags.length + rule.sourceTags.length > 0)
    throw invalid("Invalid value for field 'resource': tags and service accounts cannot be combined.");
  if (rule.targetServiceAccounts.length > MAX_ACCOUNTS) {
    throw invalid(
      `Invalid value for field 'resource.targetServiceAccounts': more than ${MAX_ACCOUNTS} service accounts.`,
    );
  }
  if ((rule.allowed.length === 0) === (rule.denied.length === 0)) {
    throw invalid("Invalid value for field 'resource': exactly one of allowed and denied must be specified.");
  }
  return rule;
}

/** The last part of a network's URL. */
export const networkName = (url: string): string => url.split('/').at(-1) ?? '';

function checkName(value: unknown, field: string): string {
  if (typeof value === 'string' && NAME.test(value)) return value;
  throw invalid(
    `Invalid value for field '${field}': '${String(value)}'. Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'`,
  );
}

function checkDescription(value: unknown = ''): string {
  if (typeof value === 'string' && value.length <= MAX_DESCRIPTION_LENGTH) return value;
  throw invalidValue('resource.description', value, `must be at most ${MAX_DESCRIPTION_LENGTH} characters`);
}

function checkNetwork(value: unknown = 'global/networks/default', project: string): string {
  const [, named = project, network] = NETWORK.exec(typeof value === 'string' ? value : '') ?? [];
  if (!network || named !== project) {
    throw invalidValue('resource.network', value, 'is no network of this project');
  }
  return network;
}

function checkPriority(value: unknown = 1000): number {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535) return Number(value);
  throw invalidValue('resource.priority', value, 'must be between 0 and 65535');
}

function checkRange(text: string): string {
  const cidr = readAddressOrCidr(text);
  if (!cidr) throw invalidValue('resource.sourceRanges[0]', text, 'must be a valid IP address range');
  return cidr.text;
}

function checkRanges(ranges: readonly string[]): void {
  if (ranges.length > MAX_RANGES) {
    throw invalid(`Invalid value for field 'resource.sourceRanges': more than ${MAX_RANGES} ranges.`);
  }
  if (ranges.some((range) => range.includes(':')) && ranges.some((range) => !range.includes(':'))) {
    throw invalid(
      "Invalid value for field 'resource.sourceRanges': a firewall cannot have both IPv4 and IPv6 ranges.",
    );
  }
}

function checkTags(tags: readonly string[]): string[] {
  if (tags.length > MAX_TAGS) {
    throw invalid(`Invalid value for field 'resource.targetTags': more than ${MAX_TAGS} tags.`);
  }
  return tags.map((tag) => checkName(tag, 'resource.targetTags'));
}

function checkTraffic(body: Body, field: 'allowed' | 'denied'): Allowed[] {
  const entries = body[field] ?? [];
  if (!Array.isArray(entries)) throw invalidValue(`resource.${field}`, entries);
  return (entries as Body[]).map((entry, index) => {
    const path = `resource.${field}[${index}]`;
    const protocol = typeof entry['IPProtocol'] === 'string' ? entry['IPProtocol'].toLowerCase() : '';
    const isNumber = /^(0|[1-9]\d{0,2})$/.test(protocol) && Number(protocol) <= 255;
    if (!NAMED_PROTOCOLS.has(protocol) && !isNumber) {
      throw invalidValue(`${path}.IPProtocol`, entry['IPProtocol'], 'is no protocol');
    }
    const ports = texts(entry, 'ports');
    if (ports.length > 0 && !WITH_PORTS.has(protocol)) {
      throw invalidValue(`${path}.ports[0]`, ports[0], 'is not allowed for this protocol');
    }
    for (const port of ports) checkPort(port, `${path}.ports`);
    return { IPProtocol: protocol, ...(ports.length > 0 && { ports }) };
  });
}

function checkPort(text: string, field: string): void {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  if (from !== '' && Number(from) <= Number(to) && Number(to) <= 65_535) return;
  throw invalidValue(field, text, 'must be an integer or a range from 0 to 65535');
}

function texts(body: Body, field: string): string[] {
  const list = body[field] ?? [];
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw invalidValue(field, JSON.stringify(list), 'must be a list of strings');
}

function oneOf<T extends string>(body: Body, field: string, values: readonly T[]): T | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  const known = values.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw invalidValue(`resource.${field}`, value, `must be one of ${values.join(', ')}`);
}
