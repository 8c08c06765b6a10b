import { canonicalCidr, type Traffic } from '#rules';
import { endOf, fields, readTraffic, type HostState, type DesiredRule } from './host-state';

/** Clocks that are independent of the host's time of day. */
export interface ClockReading {
  readonly bootId: string;
  /** since the machine was started: see `runningMs` */
  readonly runningMs: number;
  /** of the real-time clock, which runs on while the machine is off; null: it has none */
  readonly batterySeconds: number | null;
}

/** What survives restarts of the agent and of the machine. */
export interface PersistedState {
  /** distinguishes this installation from another one under the same name */
  readonly instance: string;
  /** null: no state was ever received */
  readonly state: PersistedHostState | null;
}

interface PersistedHostState extends Pick<HostState, 'version' | 'guarded' | 'rules'> {
  /** the server's last answer, in milliseconds of running time */
  readonly heardAt: number;
}

const FORMAT = 1;

/** The text of the state file. */
export function serializeState({ instance, state }: PersistedState, moment: ClockReading): string {
  const persisted = state && {
    version: state.version,
    guarded: state.guarded,
    heardMsAgo: moment.runningMs - state.heardAt,
    rules: state.rules.map(({ id, cidr, protocol, ports, deadline, maxSilenceMs, holders }) => ({
      id,
      cidr,
      protocol,
      ports,
      leftMs: deadline === Infinity ? null : deadline - moment.runningMs,
      maxSilenceMs: maxSilenceMs === Infinity ? null : maxSilenceMs,
      holders,
    })),
  };
  return `${JSON.stringify({ format: FORMAT, instance, moment, state: persisted })}\n`;
}

/**
 * Reads a state file. Deadlines are recomputed from the running time, or after a restart of the machine from its
 * real-time clock. When neither tells how long ago the file was written, rules with an end are left out.
 * @throws Error when the text is no state file
 */
export function parseState(text: string, now: ClockReading): PersistedState {
  const { format, instance, moment, state } = fields(JSON.parse(text));
  if (format !== FORMAT || typeof instance !== 'string') throw new Error('it is no state file of this agent');
  if (state === null) return { instance, state };
  const { version, guarded, heardMsAgo, rules } = fields(state);
  if (typeof version !== 'string' || !Array.isArray(guarded) || !Array.isArray(rules)) {
    throw new Error('it holds no state');
  }
  const agoMs = elapsedMs(fields(moment), now);
  // files of earlier releases were written with every answer that changed something
  const heardAt = now.runningMs - agoMs - Number(heardMsAgo ?? 0);
  return {
    instance,
    state: {
      version,
      guarded: guarded.map(readGuarded),
      heardAt,
      rules: rules.flatMap((rule: unknown) => readRule(fields(rule), now.runningMs, agoMs, heardAt)),
    },
  };
}

/** @returns Infinity when it is unknown */
function elapsedMs(then: Record<string, unknown>, now: ClockReading): number {
  if (then['bootId'] === now.bootId) {
    const sameBootMs = now.runningMs - Number(then['runningMs']);
    // a running time that decreased is not from this machine
    return sameBootMs >= 0 ? sameBootMs : Infinity;
  }
  if (typeof then['batterySeconds'] !== 'number' || now.batterySeconds === null) return Infinity;
  // one second is added: both readings are truncated to whole seconds
  const agoMs = (now.batterySeconds - then['batterySeconds'] + 1) * 1000;
  return agoMs >= now.runningMs ? agoMs : Infinity;
}

function readGuarded(entry: unknown): Traffic {
  const traffic = readTraffic(fields(entry));
  if (!traffic) throw new Error('it guards traffic that this agent does not know');
  return traffic;
}

function readRule(
  rule: Record<string, unknown>,
  runningMs: number,
  agoMs: number,
  heardAt: number,
): DesiredRule[] {
  const { id, cidr, leftMs, maxSilenceMs, holders } = rule;
  const traffic = readTraffic(rule);
  const address = typeof cidr === 'string' ? canonicalCidr(cidr) : null;
  if (typeof id !== 'string' || !traffic || !address) throw new Error('it holds a rule that cannot be read');
  const read: DesiredRule = {
    id,
    cidr: address.cidr,
    ...traffic,
    deadline: leftMs === null ? Infinity : runningMs + Number(leftMs) - agoMs,
    maxSilenceMs: typeof maxSilenceMs === 'number' ? maxSilenceMs : Infinity,
    holders: Array.isArray(holders) ? holders.filter((holder) => typeof holder === 'string') : [],
    unconfirmed: false,
  };
  // negated, so that NaN counts as expired
  return !(endOf(read, heardAt) > runningMs) ? [] : [read];
}
