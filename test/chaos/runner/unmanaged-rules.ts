import { group } from '../../builders/organization';
import type { SimulatorClient } from '../../harness/simulator-client';

const AT_ONCE = 100;
const PORTS = [21, 22, 23, 80, 443];

/** Plants unmanaged rules over the groups, some on the very port that ours are for. */
export async function plantUnmanagedRules(
  cloud: SimulatorClient,
  count: number,
  groups: number,
): Promise<void> {
  const plant = (index: number): Promise<void> => {
    const number = Math.floor(index / groups);
    const port = PORTS[number % PORTS.length]!;
    return cloud.addUnmanaged({
      target: group(index % groups),
      address: `9.${(number >> 8) & 255}.${number & 255}.${(index % 250) + 1}`,
      protocol: 'tcp',
      fromPort: port,
      toPort: port,
    });
  };
  for (let index = 0; index < count; index += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, more) => plant(index + more));
    await Promise.all(some);
  }
}
