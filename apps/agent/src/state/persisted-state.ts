import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { messageOf } from '../log';
import { readIfPresent, replaceFile } from './durable-file';
import { endOf, fields, readState, type HostState } from './host-state';

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
  /** null: none was ever received; `heardAt`: the server's last answer, in milliseconds of running time */
  readonly state: (Pick<HostState, 'version' | 'guarded' | 'rules'> & { readonly heardAt: number }) | null;
}

/** The agent's state on disk. Only its user may read the file: it lists the addresses that may reach the host. */
export class StateFile {
  constructor(
    readonly path: string,
    private readonly readClocks: () => ClockReading,
    private readonly warn: (message: string) => void,
  ) {}

  /** The persisted state; a new installation without a usable file. Never throws. */
  read(): PersistedState {
    try {
      const text = readIfPresent(this.path);
      if (text !== null) return parseState(text, this.readClocks());
    } catch (error) {
      this.warn(`${this.path} cannot be used, its rules are not restored: ${messageOf(error)}`);
    }
    return { instance: randomUUID(), state: null };
  }

  /** @throws Error of the disk */
  write(state: PersistedState): Promise<void> {
    return replaceFile(this.path, serializeState(state, this.readClocks()));
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

const FORMAT = 1;

/** The text of the state file. */
export function serializeState({ instance, state }: PersistedState, moment: ClockReading): string {
  const persisted = state && {
    version: state.version,
    guarded: state.guarded,
    heardMsAgo: moment.runningMs - state.heardAt,
    // as the server sends them
    rules: state.rules.map(({ cidr, deadline, maxSilenceMs, ...rule }) => ({
      ...rule,
      ipAddress: cidr,
      secondsLeft: deadline === Infinity ? null : (deadline - moment.runningMs) / 1000,
      maxSilenceSeconds: maxSilenceMs === Infinity ? null : maxSilenceMs / 1000,
      unconfirmed: false,
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
  const agoMs = elapsedMs(fields(moment), now);
  const heardAt = now.runningMs - agoMs - Number(fields(state)['heardMsAgo']);
  const unkept = { confirmed: [], proposed: [], released: [], restored: false };
  const { version, guarded, rules, unreadable } = readState(
    { ...fields(state), ...unkept },
    now.runningMs - agoMs,
  );
  if (unreadable.length > 0) throw new Error('it holds a rule that cannot be read');
  const left = rules.filter((rule) => endOf(rule, heardAt) > now.runningMs);
  return { instance, state: { version, guarded, heardAt, rules: left } };
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
