import type { DriverErrorKind } from './provider';
import type { PortRange, Protocol } from './rule-spec';

/** An agent that was not heard of for this long is away: nothing new can be opened on its host. */
export const AGENT_AWAY_SECONDS = 60;

/** Ports of a host that its agent keeps closed but for the addresses it is told. No ports: all of the protocol. */
export interface GuardedTraffic {
  readonly protocol: Protocol;
  readonly ports: readonly PortRange[];
}

/** Why nothing can be opened on a host now. The kind is what a driver would say of a cloud. */
export interface AgentAbsence {
  readonly kind: DriverErrorKind;
  readonly message: string;
}

/**
 * What is to be said of a host by when its agent was heard of.
 * @param secondsAway null: no agent ever connected under the name
 * @returns null when it is connected
 */
export function agentAbsence(name: string, secondsAway: number | null): AgentAbsence | null {
  if (secondsAway === null) {
    return { kind: 'target-missing', message: `No agent has connected under the name ${name} yet` };
  }
  if (secondsAway < AGENT_AWAY_SECONDS) return null;
  return {
    kind: 'denied',
    message: `The agent ${name} has not been heard of for ${formatSpan(secondsAway)}: until it is back nothing opens on its host, and what is open there closes at its planned end`,
  };
}

function formatSpan(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} seconds`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} minutes`;
  return `${Math.floor(seconds / 3600)} hours`;
}
