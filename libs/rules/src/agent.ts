import type { PortRange, Protocol } from './rule-spec';

/** An agent that was not heard of for this long is away: nothing new can be opened on its host. */
export const AGENT_AWAY_SECONDS = 60;

/** Ports of a host that its agent keeps closed but for the addresses it is told. No ports: all of the protocol. */
export interface GuardedTraffic {
  readonly protocol: Protocol;
  readonly ports: readonly PortRange[];
}
