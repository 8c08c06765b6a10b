import type { DriverErrorKind } from './provider';

/** An agent without a request for this long is away: no rules can be added on its host. */
export const AGENT_AWAY_SECONDS = 60;

/** Why no rules can be added on a host. The kind is the equivalent driver error kind. */
export interface AgentAbsence {
  readonly kind: DriverErrorKind;
  readonly message: string;
}

/**
 * Describes the absence of a host's agent.
 * @param secondsAway since its last request; null: no agent ever connected under the name
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
