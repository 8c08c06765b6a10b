import { canonicalCidr } from '#rules';
import { fields, readTraffic, type HostState, type Traffic, type DesiredRule } from './host-state';

/** The clocks of the moment: both go on by themselves, whatever the time of day is set to. */
export interface Moment {
  readonly bootId: string;
  /** since the machine was started */
  readonly runningMs: number;
  /** of the clock that goes on while the machine is off; null: it has none */
  readonly batterySeconds: number | null;
}

/** What the agent knows across its restarts and the machine's. */
export interface KeptState {
  /** tells this installation from another one under the same name */
  readonly instance: string;
  /** null: nothing was ever told */
  readonly state: Pick<HostState, 'version' | 'guarded' | 'rules'> | null;
}

const FORMAT = 1;

/** The text of the state file. */
export function writeKept({ instance, state }: KeptState, moment: Moment): string {
  const told = state && {
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
  return `${JSON.stringify({ format: FORMAT, instance, moment, state: told })}\n`;
}

/**
 * Reads a state file. What had an end gets it from the clocks that nobody sets: the running time, or after a restart of
 * the machine its battery's. Where neither says how long ago the file was written, what had an end is left out.
 * @throws Error when the text is no state file
 */
export function readKept(text: string, now: Moment): KeptState {
  const { format, instance, moment, state } = fields(JSON.parse(text));
  if (format !== FORMAT || typeof instance !== 'string') throw new Error('it is no state file of this agent');
  if (state === null) return { instance, state };
  const { version, guarded, rules } = fields(state);
  if (typeof version !== 'string' || !Array.isArray(guarded) || !Array.isArray(rules)) {
    throw new Error('it holds no state');
  }
  const agoMs = millisecondsSince(fields(moment), now);
  return {
    instance,
    state: {
      version,
      guarded: guarded.map(readGuarded),
      rules: rules.flatMap((rule: unknown) => readRule(fields(rule), now.runningMs, agoMs)),
    },
  };
}

/** @returns Infinity when nobody can tell */
function millisecondsSince(then: Record<string, unknown>, now: Moment): number {
  if (then['bootId'] === now.bootId) {
    const ranMs = now.runningMs - Number(then['runningMs']);
    // a running time that went back is not the machine's
    return ranMs >= 0 ? ranMs : Infinity;
  }
  if (typeof then['batterySeconds'] !== 'number' || now.batterySeconds === null) return Infinity;
  // a second more: both were cut off at whole ones
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
  // NaN, too, is not later
  if (!(deadline > runningMs)) return [];
  return [{ id, cidr: address.cidr, ...traffic, deadline, unconfirmed: false }];
}
