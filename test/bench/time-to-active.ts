import { group, organization, type Organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';
import { freshAddress } from './load';

const SESSIONS = 200;
const INTERVAL_MS = 200;
const GROUPS = 10;

/** From POST /sessions to ACTIVE, with a latency of 50 ms for each cloud call and EC2's call limits. */
export async function timeToActive(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { ...EC2_LIMITS, SIMULATOR_LATENCY_MS: '50' },
  });
  try {
    await drawbridge.startWorker();
    const owner = await organization(drawbridge, groups());
    const sentAt = await startOneByOne(owner);
    const durations = await activeAfter(drawbridge, sentAt);
    return [
      figure('POST to ACTIVE, p50', 'ms', durations, { atMost: 600 }),
      figure('POST to ACTIVE, p99', 'ms', durations, { atMost: 2000 }, 0.99),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** The call limits of EC2, instead of the tests' generous ones. */
export const EC2_LIMITS = { SIMULATOR_WRITE_BURST: '50', SIMULATOR_READ_BURST: '100' } as const;

/** Ten security groups, one port each. */
export const groups = (): { group: string; config: { port: number } }[] =>
  Array.from({ length: GROUPS }, (_, index) => ({ group: group(index), config: { port: 22 } }));

/** One session every 200 ms, on the groups in turn. @returns when each was sent, by its id */
async function startOneByOne(owner: Organization): Promise<Map<string, number>> {
  const sentAt = new Map<string, number>();
  const started: Promise<void>[] = [];
  const began = performance.now();
  for (let index = 0; index < SESSIONS; index += 1) {
    const due = began + index * INTERVAL_MS;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    const at = performance.timeOrigin + performance.now();
    const resourceIds = [owner.resourceIds[index % GROUPS]!];
    const start = owner.started({ ipv4Address: freshAddress(), resourceIds });
    started.push(start.then(({ id }) => void sentAt.set(id, at)));
  }
  await Promise.all(started);
  return sentAt;
}

/** The database uses this machine's clock. A session is ACTIVE when its last address is applied. */
async function activeAfter(drawbridge: Drawbridge, sentAt: ReadonlyMap<string, number>): Promise<number[]> {
  const rows = await until('every session is ACTIVE', async () => {
    const active = await drawbridge.query<{ id: string; at: number }>(
      `SELECT s.id, extract(epoch FROM max(ip.applied_at))::float8 * 1000 AS at
       FROM sessions s JOIN resource_ips ip ON ip.session_id = s.id WHERE s.status = 'ACTIVE' GROUP BY s.id`,
    );
    return active.length === SESSIONS && active;
  });
  return rows.map(({ id, at }) => at - sentAt.get(id)!);
}
