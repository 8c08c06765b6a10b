import { AGENT_AWAY_SECONDS } from '#rules';
import { DriverError } from '../driver-error';

/**
 * What is to be said of a host by when its agent was heard of.
 * @param secondsAway null: no agent ever connected under the name
 * @returns null when it is connected
 */
export function agentAbsence(name: string, secondsAway: number | null): DriverError | null {
  if (secondsAway === null) {
    return new DriverError('target-missing', `No agent has connected under the name ${name} yet`);
  }
  if (secondsAway < AGENT_AWAY_SECONDS) return null;
  return new DriverError(
    'denied',
    `The agent ${name} has not been heard of for ${spanWords(secondsAway)}: until it is back nothing opens on its host, and what is open there closes at its planned end`,
  );
}

function spanWords(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} seconds`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} minutes`;
  return `${Math.floor(seconds / 3600)} hours`;
}
