import { canonicalCidr, PROTOCOLS, type Protocol } from '#rules';

/** No ports: every port of the protocol. */
export interface Traffic {
  readonly protocol: Protocol;
  readonly ports: readonly number[];
}

/** An opening that is to stand. */
export interface DesiredRule extends Traffic {
  readonly id: string;
  /** canonical, a host with /32 or /128 */
  readonly cidr: string;
  /** when it ends, in milliseconds of the time that this machine has run; Infinity: no end is planned */
  readonly deadline: number;
  /** somebody waits for a report that it stands */
  readonly unconfirmed: boolean;
}

/** All that the host is to be. */
export interface HostState {
  readonly version: string;
  readonly guarded: readonly Traffic[];
  readonly rules: readonly DesiredRule[];
  /** rules that this agent cannot read, by their ids */
  readonly unreadable: readonly string[];
}

/** What was received is not what the agent channel says. */
export class UnreadableState extends Error {}

/**
 * Reads an answer of the agent channel. Nothing of it reaches nft that was not understood here.
 * @param receivedAt the running time, in milliseconds, from which the seconds left count
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
  if (!traffic) throw new UnreadableState('The state guards traffic that this agent does not know: renew it');
  return traffic;
}

/** @returns null when it is none that this agent knows */
export function readTraffic({ protocol, ports }: Record<string, unknown>): Traffic | null {
  const known = PROTOCOLS.find((name) => name === protocol);
  if (!known || !Array.isArray(ports) || !ports.every(isPort)) return null;
  const hasPorts = known === 'tcp' || known === 'udp';
  return hasPorts || ports.length === 0 ? { protocol: known, ports } : null;
}

export const isPort = (port: unknown): port is number =>
  typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;

/** The fields of what should be an object; of anything else there are none. */
export const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
