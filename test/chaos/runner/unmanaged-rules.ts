import { group } from '../../builders/accounts/organization';
import type { SimulatorClient } from '../../harness/product/simulator-client';

const BATCH_SIZE = 100;
const PORTS = [21, 22, 23, 80, 443];

/** Plants unmanaged rules over the groups, some with the port that ours have. */
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
  for (let index = 0; index < count; index += BATCH_SIZE) {
    const some = Array.from({ length: Math.min(BATCH_SIZE, count - index) }, (_, more) =>
      plant(index + more),
    );
    await Promise.all(some);
  }
}
