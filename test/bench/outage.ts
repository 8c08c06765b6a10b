import { organization, type Organization } from '../builders/accounts/organization';
import { metricOf } from '../builders/sessions/rule-ledger';
import type { SeededRule } from '../builders/sessions/seeded-sessions';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { allClosed, seedOpenSessions } from './backlog';
import { figure, type Figure } from './figure';
import { EC2_LIMITS } from './load';

const RULES = 500;
const GROUPS = 50;
/** OUTAGE_SECONDS=1200 is twenty minutes */
const SECONDS = Number(process.env['OUTAGE_SECONDS'] ?? 90);
/** what EC2 allows in one region in this time */
const allowedCalls = (seconds: number): number => 100 + 20 * seconds + (50 + 5 * seconds);

/** The provider fails for a while, and 500 rules become due at its start. */
export const outage = (): Promise<Figure[]> => during('error', 'an outage');

/** The provider throttles every call for a while. */
export const throttled = (): Promise<Figure[]> => during('throttle', 'throttling');

async function during(kind: string, label: string): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { ...EC2_LIMITS, SIMULATOR_GROUPS: String(GROUPS) },
  });
  try {
    const worker = await drawbridge.startWorker({ METRICS_PORT: '0' });
    const org = await organization(drawbridge, []);
    const rules = await seedOpenSessions(org, {
      firstGroup: 0,
      groups: GROUPS,
      sessions: RULES,
      expiresInSeconds: 3600,
    });
    await drawbridge.cloud.fault({ kind });
    const due = await endNow(org);
    const alarm = await secondsToAlarm(org, due);
    const overdue = await metricOf(worker, 'drawbridge_overdue_rules');
    const oldest = await metricOf(worker, 'drawbridge_oldest_overdue_seconds');
    await until(
      'the fault is over',
      () => Promise.resolve(Date.now() > due + SECONDS * 1000),
      SECONDS * 2000,
    );
    await drawbridge.cloud.clearFaults();
    const over = Date.now();
    const closed = (await allClosed(drawbridge, rules, 600_000)).map((at) => (at - over) / 1000);
    return [
      figure(`500 overdue rules, ${SECONDS} s of ${label}: closed after it`, 's', closed, null, 0.5),
      figure(
        `500 overdue rules, ${SECONDS} s of ${label}: all closed after it`,
        's',
        closed,
        { atMost: 60 },
        1,
      ),
      figure(`given up`, '', [await openRules(org, rules)], { atMost: 0 }),
      figure(`calls during ${label}, times what EC2 allows`, '', [await callsShare(drawbridge, due, over)], {
        atMost: 1.1,
      }),
      figure('alarm: health events of all, from due', 's', [alarm], { atMost: 60 }),
      figure('metric overdue_rules at the alarm', '', [overdue], { atLeast: RULES }),
      figure('metric oldest_overdue_seconds at the alarm', 's', [oldest], { atLeast: 50 }),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** @returns when, milliseconds since 1970 */
async function endNow({ drawbridge, organizationId }: Organization): Promise<number> {
  const [row] = await drawbridge.query<{ at: number }>(
    `UPDATE sessions SET expires_at = now() WHERE organization_id = $1
     RETURNING extract(epoch FROM expires_at)::float8 * 1000 AS at`,
    [organizationId],
  );
  return row!.at;
}

/** @returns seconds until there is a health event for every rule that cannot be closed */
async function secondsToAlarm({ drawbridge, organizationId }: Organization, due: number): Promise<number> {
  return until(
    'all overdue rules are reported',
    async () => {
      const [row] = await drawbridge.query<{ count: number; at: number }>(
        `SELECT count(*)::int AS count, extract(epoch FROM max(created_at))::float8 * 1000 AS at
         FROM resource_health_events WHERE organization_id = $1 AND event_type = 'RECONCILE_FAILED'`,
        [organizationId],
      );
      return row!.count >= RULES && (row!.at - due) / 1000;
    },
    180_000,
  );
}

async function openRules({ drawbridge }: Organization, rules: readonly SeededRule[]): Promise<number> {
  const open = new Set((await drawbridge.cloud.rules()).map(({ address }) => address));
  return rules.filter(({ address }) => open.has(address)).length;
}

async function callsShare(drawbridge: Drawbridge, from: number, to: number): Promise<number> {
  const calls = await drawbridge.cloud.calls();
  const within = calls.filter(({ at }) => at / 1000 >= from && at / 1000 <= to);
  return within.length / allowedCalls((to - from) / 1000);
}
