import type { DriverRegistry } from '#drivers';
import type { AgentConverger } from './agent-converger';
import type { Convergence } from './convergence-runner';
import type { Converger } from './converger';

/**
 * Selects the convergence of a target: through the provider's driver, or for a host with an agent.
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
