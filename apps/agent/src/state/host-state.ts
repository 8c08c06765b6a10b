import { canonicalCidr, PROTOCOLS, type Traffic } from '#rules';

/** A rule that the host is to have. */
export interface DesiredRule extends Traffic {
  readonly id: string;
  /** canonical, a host with /32 or /128 */
  readonly cidr: string;
  /** in milliseconds of the machine's running time; Infinity: no planned end */
  readonly deadline: number;
  /** it ends this long after the server's last answer, in milliseconds; Infinity: it does not */
  readonly maxSilenceMs: number;
  /** whose access it is, for the log */
  readonly holders: readonly string[];
  /** the server waits for a report that it is present */
  readonly unconfirmed: boolean;
}

/** The desired state of the host. */
export interface HostState {
  readonly version: string;
  /** what resources protect that were verified */
  readonly guarded: readonly Traffic[];
  /** what of it an administrator confirmed: connections are cut without a question */
  readonly confirmed: readonly Traffic[];
  /** what resources would protect once they are verified */
  readonly proposed: readonly Traffic[];
  /** what an administrator released */
  readonly released: readonly Traffic[];
  readonly rules: readonly DesiredRule[];
  /** the server's database was restored from a backup: a rule that the host does not have may have ended since */
  readonly restored: boolean;
  /** ids of rules that this agent cannot read */
  readonly unreadable: readonly string[];
}

/** It does not follow the agent channel's protocol. */
export class UnreadableState extends Error {}

/**
 * Reads and validates an answer of the agent channel, or what was kept of one: only validated values reach nft.
 * @param receivedAt the running time, in milliseconds, that `secondsLeft` counts from
 * @throws UnreadableState
 */
export function readState(body: unknown, receivedAt: number): HostState {
  const { version, guarded, confirmed, proposed, released, rules, restored } = fields(body);
  const lists = [guarded, confirmed, proposed, released, rules];
  if (typeof version !== 'string' || !lists.every(Array.isArray)) {
    throw new UnreadableState('It is no state of a host: does the address lead to Drawbridge?');
  }
  const read = (rules as unknown[]).map((rule) => readRule(fields(rule), receivedAt));
  return {
    version,
    guarded: readTrafficList(guarded),
    confirmed: readTrafficList(confirmed),
    proposed: readTrafficList(proposed),
    released: readTrafficList(released),
    rules: read.filter((rule) => typeof rule !== 'string'),
    restored: restored === true,
    unreadable: read.filter((rule) => typeof rule === 'string'),
  };
}

/**
 * The state as this host may apply it: with a restored database nothing is opened until an operator confirms.
 * @param held what the host has
 * @returns `heldBack`: ids of rules that it does not get
 */
export function withoutAdditions(
  state: HostState,
  held: HostState['rules'],
): { state: HostState; heldBack: readonly string[] } {
  const known = new Set(held.map(({ id }) => id));
  const isHeldBack = ({ id }: DesiredRule): boolean => state.restored && !known.has(id);
  return {
    state: { ...state, rules: state.rules.filter((rule) => !isHeldBack(rule)) },
    heldBack: state.rules.filter(isHeldBack).map(({ id }) => id),
  };
}

/** @returns the rule, or the id of one that cannot be read */
function readRule(rule: Record<string, unknown>, receivedAt: number): DesiredRule | string {
  const { id, ipAddress, secondsLeft, maxSilenceSeconds, holders, unconfirmed } = rule;
  if (typeof id !== 'string') throw new UnreadableState('A rule of the state has no id');
  const traffic = readTraffic(rule);
  const address = typeof ipAddress === 'string' ? canonicalCidr(ipAddress) : null;
  const deadline = secondsLeft === null ? Infinity : receivedAt + Number(secondsLeft) * 1000;
  if (!traffic || !address || Number.isNaN(deadline)) return id;
  return {
    id,
    cidr: address.cidr,
    ...traffic,
    deadline,
    maxSilenceMs: typeof maxSilenceSeconds === 'number' ? maxSilenceSeconds * 1000 : Infinity,
    holders: Array.isArray(holders) ? holders.map(formatHolder) : [],
    unconfirmed: unconfirmed === true,
  };
}

const MAX_HOLDER_LENGTH = 200;

/** `ann@example.com, session 3f2a…`, on one line whatever the names contain. @param holder formatted already, or not */
function formatHolder(holder: unknown): string {
  if (typeof holder === 'string') return holder;
  const { sessionId, user, label } = fields(holder);
  const parts = [
    typeof user === 'string' ? user : null,
    typeof sessionId === 'string' ? `session ${sessionId}` : null,
    typeof label === 'string' ? `static IP rule ${label}` : null,
  ];
  return parts
    .filter((part) => part !== null)
    .join(', ')
    .replace(/[^\P{C}]/gu, '?')
    .slice(0, MAX_HOLDER_LENGTH);
}

/** @throws UnreadableState when it is no list, or one entry is unknown to this agent */
export function readTrafficList(list: unknown): Traffic[] {
  const read = Array.isArray(list) ? list.map((entry: unknown) => readTraffic(fields(entry))) : [null];
  if (read.every((entry) => entry !== null)) return read;
  throw new UnreadableState('It guards traffic that this agent does not know: upgrade it');
}

/**
 * When the host ends the rule by itself: at its planned end, or earlier when the server is silent for longer than the rule
 * allows.
 * @param heardAt the server's last answer, in milliseconds of running time
 */
export const endOf = ({ deadline, maxSilenceMs }: DesiredRule, heardAt: number): number =>
  maxSilenceMs === Infinity ? deadline : Math.min(deadline, heardAt + maxSilenceMs);

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
