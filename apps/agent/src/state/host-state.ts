import { canonicalCidr, PROTOCOLS, type Protocol } from '#rules';

/** A protocol and its ports; no ports: all of them. */
export interface Traffic {
  readonly protocol: Protocol;
  readonly ports: readonly number[];
}

/** A rule that the host is to have. */
export interface DesiredRule extends Traffic {
  readonly id: string;
  /** canonical, a host with /32 or /128 */
  readonly cidr: string;
  /** in milliseconds of the machine's running time; Infinity: no planned end */
  readonly deadline: number;
  /** the server waits for a report that it is present */
  readonly unconfirmed: boolean;
}

/** The desired state of the host. */
export interface HostState {
  readonly version: string;
  readonly guarded: readonly Traffic[];
  readonly rules: readonly DesiredRule[];
  /** ids of rules that this agent cannot read */
  readonly unreadable: readonly string[];
}

/** The answer does not follow the agent channel's protocol. */
export class UnreadableState extends Error {}

/**
 * Reads and validates an answer of the agent channel: only validated values reach nft.
 * @param receivedAt the running time, in milliseconds, that `secondsLeft` counts from
 * @throws UnreadableState
 */
export function readState(body: unknown, receivedAt: number): HostState {
  const { version, guarded, rules } = fields(body);
  if (typeof version !== 'string' || !Array.isArray(guarded) || !Array.isArray(rules)) {
    throw new UnreadableState('The answer is no state of a host: does the address lead to Drawbridge?');
  }
  const read = rules.map((rule: unknown) => readRule(fields(rule), receivedAt));
  return {
    version,
    guarded: guarded.map(readGuarded),
    rules: read.filter((rule) => typeof rule !== 'string'),
    unreadable: read.filter((rule) => typeof rule === 'string'),
  };
}

/** @returns the rule, or the id of one that cannot be read */
function readRule(rule: Record<string, unknown>, receivedAt: number): DesiredRule | string {
  const { id, ipAddress, secondsLeft, unconfirmed } = rule;
  if (typeof id !== 'string') throw new UnreadableState('A rule of the state has no id');
  const traffic = readTraffic(rule);
  const address = typeof ipAddress === 'string' ? canonicalCidr(ipAddress) : null;
  const deadline = secondsLeft === null ? Infinity : receivedAt + Number(secondsLeft) * 1000;
  if (!traffic || !address || Number.isNaN(deadline)) return id;
  return { id, cidr: address.cidr, ...traffic, deadline, unconfirmed: unconfirmed === true };
}

function readGuarded(entry: unknown): Traffic {
  const traffic = readTraffic(fields(entry));
  if (!traffic)
    throw new UnreadableState('The state guards traffic that this agent does not know: upgrade it');
  return traffic;
}

/** @returns null when it is invalid or unknown to this agent */
export function readTraffic({ protocol, ports }: Record<string, unknown>): Traffic | null {
  const known = PROTOCOLS.find((name) => name === protocol);
  if (!known || !Array.isArray(ports) || !ports.every(isPort)) return null;
  const hasPorts = known === 'tcp' || known === 'udp';
  return hasPorts || ports.length === 0 ? { protocol: known, ports } : null;
}

export const isPort = (port: unknown): port is number =>
  typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;

/** The fields of an object; none for any other value. */
export const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
