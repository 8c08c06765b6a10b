import type { DriverRegistry } from '#drivers';
import type { AgentConverger } from './agent-converger';
import type { Convergence } from './convergence-runner';
import type { Converger } from './converger';

/**
 * Clouds are converged through their drivers; what has none is kept by agents.
 * @param isDriven see `DriverRegistry.isDriven`
 */
export function convergenceByProvider(
  isDriven: (typeof DriverRegistry)['isDriven'],
  converger: Converger,
  agents: AgentConverger,
): Convergence {
  return {
    converge: ({ targetId, provider }, stopping) =>
      (isDriven(provider) ? converger : agents).converge(targetId, stopping),
    handOver: () => converger.handOver(),
  };
}
