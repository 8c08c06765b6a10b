import type { WatchedHost } from '#engine-store';
import { agentAbsence } from '#rules';

/** The problem that the health events of a host's resources report. @returns null when there is none */
export function hostProblem(host: WatchedHost): string | null {
  const absence = agentAbsence(host.name, host.secondsAway);
  if (absence) return absence.message;
  if (host.rival) {
    const [serving, other] = [host.address, host.rival.address].map(
      (address) => address ?? 'an unknown address',
    );
    return `Two agents call themselves ${host.name}: the one at ${serving} serves, the one at ${other} is refused. Give each host a name of its own; if its API key was replaced, revoke the old key or release the name`;
  }
  if (host.failing === 0) return null;
  const rules = host.failing === 1 ? 'One rule does' : `${host.failing} rules do`;
  return `${rules} not stand on the host: ${host.failure ?? 'the agent has not said why'}`;
}
