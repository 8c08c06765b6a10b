import { organization, sshTo, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';
import { EC2_LIMITS, freshAddress } from './load';

const ROUNDS = 60;
const CALL_MS = 50;
/** a write and a read that proves it */
const OPEN_LIMIT_MS = 2 * CALL_MS;

interface Grant {
  readonly sessionId: string;
  readonly address: string;
  /** milliseconds since 1970 */
  readonly startedAt: number;
  readonly stoppedAt: number;
}

/** One grant at a time on a target that is idle, stopped as soon as it is ACTIVE; each cloud call takes 50 ms. */
export async function oneGrant(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { ...EC2_LIMITS, SIMULATOR_LATENCY_MS: String(CALL_MS) },
  });
  try {
    await drawbridge.startWorker();
    const owner = await organization(drawbridge, sshTo(10));
    const grants: Grant[] = [];
    // the first round of each target warms up
    for (let round = 0; round < ROUNDS + owner.resourceIds.length; round += 1) {
      const grant = await openAndStop(owner, owner.resourceIds[round % owner.resourceIds.length]!);
      if (round >= owner.resourceIds.length) grants.push(grant);
    }
    const [opened, closed] = await Promise.all([
      activeAfter(drawbridge, grants),
      closedAfter(drawbridge, grants),
    ]);
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

async function openAndStop(owner: Organization, resourceId: string): Promise<Grant> {
  const { admin } = owner;
  const address = freshAddress();
  const startedAt = now();
  const body = { ipv4Address: address, resourceIds: [resourceId] };
  const { id } = await admin.posted<{ id: string }>('/sessions?waitSeconds=10', body);
  const stoppedAt = now();
  await admin.posted(`/sessions/${id}/stop`);
  await owner.reaches(id, 'CANCELLED');
  return { sessionId: id, address, startedAt, stoppedAt };
}

/** Milliseconds until each session was ACTIVE. The database uses this machine's clock. */
async function activeAfter(drawbridge: Drawbridge, grants: readonly Grant[]): Promise<number[]> {
  const rows = await drawbridge.query<{ id: string; at: number }>(
    `SELECT session_id AS id, extract(epoch FROM applied_at)::float8 * 1000 AS at FROM resource_ips
     WHERE session_id = ANY ($1::uuid[])`,
    [grants.map(({ sessionId }) => sessionId)],
  );
  const at = new Map(rows.map((row) => [row.id, row.at]));
  return grants.map(({ sessionId, startedAt }) => at.get(sessionId)! - startedAt);
}

/** Milliseconds from the stop until the cloud had closed the address. */
async function closedAfter(drawbridge: Drawbridge, grants: readonly Grant[]): Promise<number[]> {
  const closed = await until('the cloud has closed every address', async () => {
    const found = new Map<string, number>();
    for (const { event, address, at } of await drawbridge.cloud.timeline())
      if (event === 'closed') found.set(address, at / 1000);
    return grants.every(({ address }) => found.has(address)) && found;
  });
  return grants.map(({ address, stoppedAt }) => closed.get(address)! - stoppedAt);
}

const now = (): number => performance.timeOrigin + performance.now();
