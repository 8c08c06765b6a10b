import { canonicalCidr } from '#rules';
import { fields, readTraffic, type HostState, type Traffic, type DesiredRule } from './host-state';

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
  readonly state: Pick<HostState, 'version' | 'guarded' | 'rules'> | null;
}

const FORMAT = 1;

/** The text of the state file. */
export function serializeState({ instance, state }: PersistedState, moment: ClockReading): string {
  const persisted = state && {
    version: state.version,
    guarded: state.guarded,
    rules: state.rules.map(({ id, cidr, protocol, ports, deadline }) => ({
      id,
      cidr,
      protocol,
      ports,
      leftMs: deadline === Infinity ? null : deadline - moment.runningMs,
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
  const { version, guarded, rules } = fields(state);
  if (typeof version !== 'string' || !Array.isArray(guarded) || !Array.isArray(rules)) {
    throw new Error('it holds no state');
  }
  const agoMs = elapsedMs(fields(moment), now);
  return {
    instance,
    state: {
      version,
      guarded: guarded.map(readGuarded),
      rules: rules.flatMap((rule: unknown) => readRule(fields(rule), now.runningMs, agoMs)),
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

function readRule(rule: Record<string, unknown>, runningMs: number, agoMs: number): DesiredRule[] {
  const { id, cidr, leftMs } = rule;
  const traffic = readTraffic(rule);
  const address = typeof cidr === 'string' ? canonicalCidr(cidr) : null;
  if (typeof id !== 'string' || !traffic || !address) throw new Error('it holds a rule that cannot be read');
  const deadline = leftMs === null ? Infinity : runningMs + Number(leftMs) - agoMs;
  // negated, so that NaN counts as expired
  if (!(deadline > runningMs)) return [];
  return [{ id, cidr: address.cidr, ...traffic, deadline, unconfirmed: false }];
}
