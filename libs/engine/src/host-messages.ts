import type { WatchedHost } from '#engine-store';
import { agentAbsence } from '#rules';

/** What the health events of a host's resources tell. @returns null: all is as it should be */
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
  const words = host.failing === 1 ? 'One rule does' : `${host.failing} rules do`;
  return `${words} not stand on the host: ${host.failure ?? 'the agent has not said why'}`;
}
