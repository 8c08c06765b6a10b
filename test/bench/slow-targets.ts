import { setTimeout as pause } from 'node:timers/promises';
import { simulatedObjects } from '../builders/resources/driver-load';
import { organization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';
import { measureSessions } from './tenant';

const SERVERS = 30;
const OPERATION_MS = 60_000;
const SESSIONS = 40;
const INTERVAL_MS = 1000;
/** The account's budget lets the last of so many changes wait for two minutes. */
const TIMEOUT_MS = 400_000;
const ADDRESS = '203.0.113.77';
/** Whose worker is killed. */
const DOUBTED = 5;
const SAMPLE_MS = 100;

/** One tenant's thirty servers that take a minute for a change, beside another tenant's network group, on one worker. */
export async function slowTargets(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { SIMULATOR_AZURE_SERVER_MS: String(OPERATION_MS) },
  });
  try {
    await drawbridge.startWorker();
    const other = await organization(drawbridge, []);
    const groupId = await resource(other, 'NETWORK_SECURITY_GROUP', 'simulated-nsg', { port: 22 });
    const neighbour = Object.assign(Object.create(other) as Organization, { resourceIds: [groupId] });
    const quiet = await measureSessions(neighbour, 10, INTERVAL_MS);
    const slow = await organization(drawbridge, []);
    const resourceIds: string[] = [];
    for (let index = 1; index <= SERVERS; index += 1)
      resourceIds.push(
        await resource(
          slow,
          'POSTGRESQL_FLEXIBLE_SERVER',
          `simulated-postgresql${index === 1 ? '' : `-${index}`}`,
        ),
      );
    const slots = new HeldSlots(drawbridge);
    const { id } = await slow.started({ resourceIds, ipv4Address: ADDRESS });
    const meanwhile = await measureSessions(neighbour, SESSIONS, INTERVAL_MS);
    const times = async (column: 'applied_at' | 'removed_at'): Promise<Map<string, number>> => {
      const rows = await until(
        `all servers have ${column}`,
        async () => {
          const found = await drawbridge.query<{ target: string; at: number }>(
            `SELECT r.resource_identifier AS target, extract(epoch FROM ip.${column})::float8 * 1000 AS at
             FROM resource_ips ip JOIN resources r ON r.id = ip.resource_id
             WHERE ip.session_id = $1 AND ip.${column} IS NOT NULL`,
            [id],
          );
          return found.length === SERVERS && found;
        },
        TIMEOUT_MS,
      );
      return new Map(rows.map(({ target, at }) => [target, at]));
    };
    const applied = await times('applied_at');
    await slow.admin.posted(`/sessions/${id}/stop`);
    const removed = await times('removed_at');
    const held = await slots.stop();
    const doubts = await doubtsAfterAKill(drawbridge, slow, resourceIds.slice(0, DOUBTED));
    const timeline = await drawbridge.cloud.timeline();
    const lateness = (event: 'opened' | 'closed', seen: ReadonlyMap<string, number>): number[] =>
      timeline
        .filter((entry) => entry.event === event && entry.address === ADDRESS)
        .map(({ target, at }) => seen.get(target)! - at / 1000);
    return [
      figure('a pass over a slow server holds its slot, the longest', 'ms', held, { atMost: 20_000 }, 1),
      figure(
        'a worker killed during operations: from an operation’s end until its outcome is known, the latest',
        'ms',
        doubts,
        { atMost: 60_000 },
        1,
      ),
      figure('POST to ACTIVE of the neighbour, p95, alone', 'ms', quiet.toActive, null, 0.95),
      figure(
        'POST to ACTIVE of the neighbour, p95, beside 30 slow servers',
        'ms',
        meanwhile.toActive,
        { atMost: 2000 },
        0.95,
      ),
      figure(
        'operation’s end to APPLIED, the latest',
        'ms',
        lateness('opened', applied),
        { atMost: 10_000 },
        1,
      ),
      figure(
        'operation’s end to REMOVED, the latest',
        'ms',
        lateness('closed', removed),
        { atMost: 10_000 },
        1,
      ),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** How long passes hold the lease of their target, and with it a slot: sampled. */
class HeldSlots {
  private readonly seen = new Map<string, { from: number; to: number }>();
  private readonly sampling: Promise<void>;
  private isOver = false;

  constructor(private readonly drawbridge: Drawbridge) {
    this.sampling = this.sample();
  }

  /** @returns for each pass, ms */
  async stop(): Promise<number[]> {
    this.isOver = true;
    await this.sampling;
    return [...this.seen.values()].map(({ from, to }) => to - from);
  }

  private async sample(): Promise<void> {
    while (!this.isOver) {
      const rows = await this.drawbridge.query<{ pass: string }>(
        // a group with a change every second is held for as long as that lasts
        `SELECT id || ' ' || lease_generation AS pass FROM targets
         WHERE lease_until > now() AND resource_type = 'POSTGRESQL_FLEXIBLE_SERVER'`,
      );
      const now = performance.now();
      for (const { pass } of rows) this.seen.set(pass, { from: this.seen.get(pass)?.from ?? now, to: now });
      await pause(SAMPLE_MS);
    }
  }
}

/** @returns from the end of each operation whose worker was killed until its outcome is known, ms */
async function doubtsAfterAKill(
  drawbridge: Drawbridge,
  org: Organization,
  resourceIds: readonly string[],
): Promise<number[]> {
  const accepted = async (): Promise<number> =>
    (await drawbridge.cloud.calls()).filter(
      ({ operation, outcome }) => operation === 'PutFirewallRule' && outcome === 'OK',
    ).length;
  const before = await accepted();
  const address = '203.0.113.78';
  const { id } = await org.started({ resourceIds, ipv4Address: address });
  await until('the changes are accepted', async () => (await accepted()) - before >= resourceIds.length);
  await drawbridge.worker.stop('SIGKILL');
  await drawbridge.startWorker();
  /** by target: when its outcome was unknown, the last time */
  const unknown = new Map<string, number>();
  await until(
    'all are applied',
    async () => {
      const rows = await drawbridge.query<{ target: string }>(
        `SELECT t.identifier AS target FROM rules r JOIN targets t ON t.id = r.target_id
         WHERE r.address = $1 AND r.state = 'unknown'`,
        [`${address}/32`],
      );
      for (const { target } of rows) unknown.set(target, Date.now());
      return (await org.session(id)).status === 'ACTIVE';
    },
    TIMEOUT_MS,
  );
  const ends = (await drawbridge.cloud.timeline()).filter(
    (entry) => entry.event === 'opened' && entry.address === address,
  );
  return ends.map(({ target, at }) => {
    const [, name] = target.split('/');
    const [, last] = [...unknown].find(([identifier]) => identifier.endsWith(`/${name}`))!;
    return Math.max(0, last - at / 1000);
  });
}

async function resource(
  { admin, roleId }: Organization,
  resourceType: string,
  name: string,
  config: object = {},
): Promise<string> {
  const credential = await admin.created<{ id: string }>('/credentials', {
    name,
    provider: 'AZURE',
    credentialType: 'SERVICE_PRINCIPAL',
    credentialData: simulatedObjects('').AZURE.credential.data,
  });
  const { id } = await admin.created<{ id: string }>('/resources', {
    name,
    provider: 'AZURE',
    resourceType,
    resourceIdentifier: `simulated-group/${name}`,
    credentialId: credential.id,
    config,
  });
  await admin.posted(`/roles/${roleId}/resources/${id}`);
  await admin.posted(`/resources/${id}/verify`);
  return id;
}
