import type { WatchedHost, WatchedResource } from '#engine-store';
import {
  agentAbsence,
  intersection,
  trafficOf,
  trafficText,
  withoutCovered,
  type HostGuard,
  type Traffic,
} from '#rules';

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
  return `${rules} not stand on the host: ${host.failure ?? 'the agent gave no reason'}`;
}

/**
 * Why the host does not guard traffic of a resource, and what to do.
 * @param guard null: the agent has reported none
 * @returns null when it guards everything, or gave no reason why it does not
 */
export function guardProblem(
  { id, config, isVerified }: Pick<WatchedResource, 'id' | 'config' | 'isVerified'>,
  guard: HostGuard | null,
): string | null {
  if (!guard || !isVerified) return null;
  const missing = withoutCovered(trafficOf(config), guard.guarded);
  const confirm = `To guard it and cut them, run drawbridge-agent confirm on the host or call POST /resources/${id}/confirm-guard; GET /resources/${id}/guard lists them`;
  const sentences = [
    sentence(
      missing,
      guard.waiting,
      `not guarded yet: addresses without access have established connections, and the host waits for a confirmation. ${confirm}`,
    ),
    sentence(
      missing,
      guard.leftAlone,
      `not guarded: addresses without access have established connections, it was not confirmed that they may be cut, and it stays open. ${confirm}`,
    ),
    ...guard.refused.map(({ reason, ...traffic }) =>
      sentence(
        missing,
        [traffic],
        `not guarded: the host's own configuration forbids it (${reason}). Change the limits on the host, or the ports of the resource`,
      ),
    ),
  ];
  const problems = sentences.filter((text) => text !== null);
  return problems.length === 0 ? null : problems.join('. ');
}

const sentence = (missing: readonly Traffic[], listed: readonly Traffic[], reason: string): string | null => {
  const concerned = intersection(missing, listed);
  return concerned.length === 0 ? null : `${trafficText(concerned)} is ${reason}`;
};
