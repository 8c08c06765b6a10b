import { group } from '../../builders/organization';
import type { SimulatorClient } from '../../harness/simulator-client';

const PORTS = [21, 22, 23, 80, 443];

/** Plants rules of other hands over the groups, some on the very port that ours are for. */
export async function plantForeignRules(
  cloud: SimulatorClient,
  count: number,
  groups: number,
): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const number = Math.floor(index / groups);
    const port = PORTS[number % PORTS.length]!;
    await cloud.addForeign({
      target: group(index % groups),
      address: `9.${(number >> 8) & 255}.${number & 255}.${(index % 250) + 1}`,
      protocol: 'tcp',
      fromPort: port,
      toPort: port,
    });
  }
}
