import { organization, sshTo, type Organization } from '../builders/accounts/organization';
import {
  openInCloud,
  seedSessions,
  type SeededRule,
  type SeedPlan,
} from '../builders/sessions/seeded-sessions';
import { Drawbridge } from '../harness/product/drawbridge';
import type { CloudCall } from '../harness/product/simulator-client';
import { until } from '../harness/until';
import { activeSessions, stopOneByOne } from './tenant';
import { figure, type Figure } from './figure';
import { EC2_LIMITS } from './load';

const GROUPS = 200;
/** the first ten belong to the other organization */
const FIRST_GROUP = 10;
const WRITES = { burst: 50, refillPerSecond: 5 };

const SIMULATOR = {
  ...EC2_LIMITS,
  SIMULATOR_GROUPS: String(FIRST_GROUP + GROUPS),
  SIMULATOR_RULES_PER_GROUP: '1000',
  SIMULATOR_LATENCY_MS: '50',
};

/** When each address was last closed, milliseconds since 1970. */
async function closings(drawbridge: Drawbridge): Promise<Map<string, number>> {
  const closed = new Map<string, number>();
  for (const { event, address, at } of await drawbridge.cloud.timeline()) {
    if (event === 'closed') closed.set(address, at / 1000);
  }
  return closed;
}

/** Waits until all rules are closed. @returns when each was closed in the cloud, milliseconds since 1970 */
export async function allClosed(
  drawbridge: Drawbridge,
  rules: readonly SeededRule[],
  withinMs: number,
): Promise<number[]> {
  await until(
    'every rule is absent in the database, or deleted',
    async () => {
      const [row] = await drawbridge.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM rules WHERE state <> 'absent' AND id = ANY ($1::uuid[])`,
        [rules.map(({ ruleId }) => ruleId)],
      );
      return row!.count === 0;
    },
    withinMs,
  );
  const closed = await closings(drawbridge);
  return rules.map(({ address }) => closed.get(address)!);
}

/** Seeds sessions in the database, with their rules in the cloud. */
export async function seedOpenSessions(org: Organization, plan: SeedPlan): Promise<SeededRule[]> {
  const rules = await seedSessions(org, plan);
  await openInCloud(org, rules);
  return rules;
}

/** 10,000 rules on 200 targets of one account are overdue when the first worker starts. */
export async function backlog(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false, simulator: SIMULATOR });
  try {
    const org = await organization(drawbridge, []);
    const plan = { firstGroup: FIRST_GROUP, groups: GROUPS, sessions: 10_000 };
    const rules = await seedOpenSessions(org, { ...plan, expiresInSeconds: 0 });
    const began = Date.now();
    await drawbridge.startWorker();
    const closed = await allClosed(drawbridge, rules, 600_000);
    const seconds = closed.map((at) => (at - began) / 1000);
    const minSeconds = (GROUPS - WRITES.burst) / WRITES.refillPerSecond;
    const calls = await drawbridge.cloud.calls();
    return [
      figure('10,000 overdue rules, 200 targets: first closed', 's', [Math.min(...seconds)], { atMost: 5 }),
      figure('10,000 overdue rules, 200 targets: all closed', 's', [Math.max(...seconds)]),
      figure('share of the rate EC2 allows', '', [minSeconds / Math.max(...seconds)], { atLeast: 0.75 }),
      figure('calls EC2 refused as too many', '', [count(calls, 'RequestLimitExceeded')]),
    ];
  } finally {
    await drawbridge.stop();
  }
}

const count = (calls: readonly CloudCall[], outcome: string): number =>
  calls.filter((call) => call.outcome === outcome).length;

/** The burst is spread over regions, as in production: EC2 allows 50 writes at once per account and region. */
const REGIONS = ['us-east-1', 'us-east-2', 'eu-west-1', 'eu-west-2'];
const BURST_SESSIONS = 1000;
const LEAD_SECONDS = 20;

/** 1,000 sessions on 200 targets expire in the same second, while another organization stops its own. */
export async function burst(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false, simulator: SIMULATOR });
  try {
    await drawbridge.startWorker();
    const other = await organization(drawbridge, sshTo(10));
    const org = await organization(drawbridge, []);
    const ids = await activeSessions(other, 40);
    const each = GROUPS / REGIONS.length;
    const rules: SeededRule[] = [];
    for (const [index, region] of REGIONS.entries()) {
      const sessions = BURST_SESSIONS / REGIONS.length;
      const plan = { region, firstGroup: FIRST_GROUP + index * each, groups: each, sessions };
      rules.push(...(await seedOpenSessions(org, { ...plan, before: rules.length, expiresInSeconds: 3600 })));
    }
    const [end] = await drawbridge.query<{ at: number }>(
      `UPDATE sessions SET expires_at = $2 WHERE organization_id = $1
       RETURNING extract(epoch FROM expires_at)::float8 * 1000 AS at`,
      [org.organizationId, new Date(Date.now() + LEAD_SECONDS * 1000)],
    );
    await until('the sessions expire', () => Promise.resolve(Date.now() >= end!.at), LEAD_SECONDS * 2000);
    const stops = stopOneByOne(other, ids, 250);
    const late = (await allClosed(drawbridge, rules, 120_000)).map((at) => (at - end!.at) / 1000);
    return [
      figure('1,000 ends at once: lateness, p50', 's', late),
      figure('1,000 ends at once: lateness, p99', 's', late, { atMost: 10 }, 0.99),
      figure('1,000 ends at once: lateness, most', 's', late, { atMost: 20 }, 1),
      figure("another's stop meanwhile, p99", 'ms', await stops, { atMost: 3000 }, 0.99),
    ];
  } finally {
    await drawbridge.stop();
  }
}
