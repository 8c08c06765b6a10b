import { organization, sshTo } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, type Figure } from './figure';
import { EC2_LIMITS, freshAddress } from './load';
import { activeAfter, closedAfter } from './tenant';

const ROUNDS = 60;
const CALL_MS = 50;
/** a write and a read that proves it */
const OPEN_LIMIT_MS = 2 * CALL_MS;

/** One grant at a time on a target that is idle, stopped as soon as it is ACTIVE; each cloud call takes 50 ms. */
export async function oneGrant(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { ...EC2_LIMITS, SIMULATOR_LATENCY_MS: String(CALL_MS) },
  });
  try {
    await drawbridge.startWorker();
    const owner = await organization(drawbridge, sshTo(10));
    const [startedAt, stoppedAt] = [new Map<string, number>(), new Map<string, number>()];
    // the first round of each target warms up
    for (let round = 0; round < ROUNDS + owner.resourceIds.length; round += 1) {
      const began = now();
      const body = {
        ipv4Address: freshAddress(),
        resourceIds: [owner.resourceIds[round % owner.resourceIds.length]!],
      };
      const { id } = await owner.admin.posted<{ id: string }>('/sessions?waitSeconds=10', body);
      const stopped = now();
      await owner.admin.posted(`/sessions/${id}/stop`);
      await owner.reaches(id, 'CANCELLED');
      if (round < owner.resourceIds.length) continue;
      startedAt.set(id, began);
      stoppedAt.set(id, stopped);
    }
    const opened = [...(await activeAfter(owner, startedAt)).values()];
    const closed = await closedAfter(owner, stoppedAt);
    return [
      figure('one grant, POST to ACTIVE, p50', 'ms', opened, { atMost: 1.5 * OPEN_LIMIT_MS }),
      figure('one grant, POST to ACTIVE, p99', 'ms', opened, null, 0.99),
      figure('stopped at once, stop to closed, p50', 'ms', closed, { atMost: 3 * CALL_MS }),
      figure('stopped at once, stop to closed, p99', 'ms', closed, null, 0.99),
    ];
  } finally {
    await drawbridge.stop();
  }
}

const now = (): number => performance.timeOrigin + performance.now();
