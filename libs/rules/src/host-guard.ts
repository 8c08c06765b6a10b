import type { Protocol } from './rule-spec';
import type { Traffic } from './traffic';

/** Traffic that bounds in the host's own configuration forbid to guard. */
export interface RefusedTraffic extends Traffic {
  readonly reason: string;
}

/** An established connection from an address without access. */
export interface HostConnection {
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/** What a host guards, as its agent reports it. */
export interface HostGuard {
  readonly guarded: readonly Traffic[];
  /** newly named; not guarded yet, because the host waits for a confirmation to cut established connections */
  readonly waiting: readonly Traffic[];
  /** the wait ended without a confirmation: it stays open */
  readonly leftAlone: readonly Traffic[];
  readonly refused: readonly RefusedTraffic[];
  /** on proposed, waiting or left-alone ports */
  readonly connections: readonly HostConnection[];
  /** `inet filter input`: chains of other programs that may drop what the guard lets in; left out when there are none */
  readonly otherChains?: readonly string[];
}

/** A rule ends on a host after this long without an answer of the server, unless its resources say otherwise. */
export const DEFAULT_MAX_SILENCE_SECONDS = 600;
