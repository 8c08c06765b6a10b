import type { Organization } from '../builders/accounts/organization';
import { until } from '../harness/until';
import { freshAddress } from './load';

/** Times of one organization's sessions, milliseconds. */
export interface Waits {
  /** from POST /sessions to ACTIVE */
  readonly toActive: number[];
  /** from the stop request until the rule is removed from the cloud */
  readonly toClosed: number[];
}

const TIMEOUT_MS = 180_000;

/** Starts sessions at an interval, on the resources in turn, then stops them at the same interval. */
export async function measureSessions(
  org: Organization,
  sessions: number,
  intervalMs: number,
): Promise<Waits> {
  const startedAt = await paced(sessions, intervalMs, async (index) => {
    const resourceIds = [org.resourceIds[index % org.resourceIds.length]!];
    return (await org.started({ ipv4Address: freshAddress(), resourceIds })).id;
  });
  const active = await activeAfter(org, startedAt);
  return {
    toActive: [...active.values()],
    toClosed: await stopOneByOne(org, [...startedAt.keys()], intervalMs),
  };
}

/** Stops sessions at an interval. @returns for each, milliseconds until the cloud had closed it */
export async function stopOneByOne(
  org: Organization,
  ids: readonly string[],
  intervalMs: number,
): Promise<number[]> {
  const stoppedAt = await paced(ids.length, intervalMs, async (index) => {
    await org.admin.posted(`/sessions/${ids[index]!}/stop`);
    return ids[index]!;
  });
  return closedAfter(org, stoppedAt);
}

/** Starts sessions, one on each resource in turn, and waits until all are ACTIVE. @returns their ids */
export async function activeSessions(org: Organization, count: number): Promise<string[]> {
  const startedAt = await paced(count, 0, async (index) => {
    const resourceIds = [org.resourceIds[index % org.resourceIds.length]!];
    return (await org.started({ ipv4Address: freshAddress(), resourceIds })).id;
  });
  await activeAfter(org, startedAt);
  return [...startedAt.keys()];
}

async function paced(
  count: number,
  intervalMs: number,
  send: (index: number) => Promise<string>,
): Promise<Map<string, number>> {
  const sentAt = new Map<string, number>();
  const sent: Promise<void>[] = [];
  const began = performance.now();
  for (let index = 0; index < count; index += 1) {
    const wait = began + index * intervalMs - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait)));
    const at = performance.timeOrigin + performance.now();
    sent.push(send(index).then((id) => void sentAt.set(id, at)));
  }
  await Promise.all(sent);
  return sentAt;
}

/**
 * Waits until each session was ACTIVE. The database uses this machine's clock.
 * @param since milliseconds since 1970, by session
 * @returns milliseconds from then, by session
 */
export async function activeAfter(
  { drawbridge }: Organization,
  since: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const rows = await until(
    'the sessions are ACTIVE',
    async () => {
      const active = await drawbridge.query<{ id: string; at: number }>(
        `SELECT session_id AS id, extract(epoch FROM max(applied_at))::float8 * 1000 AS at FROM resource_ips
         WHERE session_id = ANY ($1::uuid[]) GROUP BY session_id HAVING bool_and(applied_at IS NOT NULL)`,
        [[...since.keys()]],
      );
      return active.length === since.size && active;
    },
    TIMEOUT_MS,
  );
  return new Map(rows.map(({ id, at }) => [id, at - since.get(id)!]));
}

/** Waits until each session is CANCELLED. @returns milliseconds until the cloud had closed it, of each */
export async function closedAfter(
  org: Organization,
  stoppedAt: ReadonlyMap<string, number>,
): Promise<number[]> {
  const ids = [...stoppedAt.keys()];
  await until(
    'the sessions are CANCELLED',
    async () => {
      const [row] = await org.drawbridge.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM sessions WHERE status = 'CANCELLED' AND id = ANY ($1::uuid[])`,
        [ids],
      );
      return row!.count === ids.length;
    },
    TIMEOUT_MS,
  );
  const addresses = await org.drawbridge.query<{ id: string; address: string; target: string }>(
    `SELECT ip.session_id AS id, ip.ip_address AS address, r.resource_identifier AS target
     FROM resource_ips ip JOIN resources r ON r.id = ip.resource_id WHERE ip.session_id = ANY ($1::uuid[])`,
    [ids],
  );
  const closed = new Map<string, number>();
  // other organizations may close the same address elsewhere
  for (const { event, target, address, at } of await org.drawbridge.cloud.timeline()) {
    if (event === 'closed') closed.set(`${target} ${address}`, at / 1000);
  }
  return addresses.map(({ id, address, target }) => closed.get(`${target} ${address}`)! - stoppedAt.get(id)!);
}
