import { until } from '../harness/until';
import { figure, quantile, type Figure } from './figure';
import { MAX_RATIO, SCALE, scaled, startSide, type Side } from './history-scale';
import { seedEndedSessions, seedPastAddresses, vacuum, CROWDED_ADDRESS } from './history-seeds';
import { sweepFigures } from './history-sweep';

const ENDED_SESSIONS = scaled(1_000_000);
const PAST_ADDRESSES = scaled(100_000);
const ROUNDS = SCALE < 1 ? 2 : 12;

/** One of two resources, each with its own target. */
interface Scenario {
  readonly label: string;
  readonly resource: number;
  /** of the next session */
  readonly address: (round: number) => string;
}

const CROWDED: Scenario = {
  label: `${ENDED_SESSIONS.toLocaleString('en')} ended sessions of one address`,
  resource: 0,
  address: () => CROWDED_ADDRESS,
};
const SPREAD: Scenario = {
  label: `${PAST_ADDRESSES.toLocaleString('en')} past addresses`,
  resource: 1,
  address: (round) => `203.0.113.${round + 1}`,
};

interface Times {
  readonly open: number[];
  readonly close: number[];
  readonly reconcile: number[];
}

/** Cost of a session and of a comparison with a long history, compared to none. */
export async function history(): Promise<Figure[]> {
  return [...(await sweepFigures()), ...(await productFigures())];
}

async function productFigures(): Promise<Figure[]> {
  const sides: Side[] = [];
  try {
    const [quiet, seeded] = [await startSide(sides), await startSide(sides)];
    await seedEndedSessions(seeded, ENDED_SESSIONS);
    await seedPastAddresses(seeded, PAST_ADDRESSES);
    for (const { drawbridge } of sides) await vacuum(drawbridge);
    for (const { drawbridge } of sides) await drawbridge.startWorker();
    const figures: Figure[] = [];
    for (const scenario of [CROWDED, SPREAD]) {
      const [without, withHistory] = await interleaved(quiet, seeded, scenario);
      figures.push(...ratios(scenario.label, without, withHistory));
    }
    return figures;
  } finally {
    for (const { drawbridge } of sides) await drawbridge.stop();
  }
}

/** Alternates between the sides: other load on the machine affects both. */
async function interleaved(quiet: Side, seeded: Side, scenario: Scenario): Promise<[Times, Times]> {
  const times: [Times, Times] = [
    { open: [], close: [], reconcile: [] },
    { open: [], close: [], reconcile: [] },
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, one] of [quiet, seeded].entries()) {
      const { open, close } = await openAndClose(one, scenario, round);
      times[index]!.open.push(open);
      times[index]!.close.push(close);
      times[index]!.reconcile.push(await reconcile(one, scenario));
    }
  }
  return times;
}

const nowMs = (): number => performance.timeOrigin + performance.now();

async function openAndClose(
  { drawbridge, org }: Side,
  scenario: Scenario,
  round: number,
): Promise<{ open: number; close: number }> {
  const resourceIds = [org.resourceIds[scenario.resource]!];
  const sentAt = nowMs();
  const { id } = await org.started({ ipv4Address: scenario.address(round), resourceIds });
  const appliedAt = await until(
    'the session is ACTIVE',
    async () => {
      const [row] = await drawbridge.query<{ at: number }>(
        `SELECT extract(epoch FROM ip.applied_at)::float8 * 1000 AS at
         FROM sessions s JOIN resource_ips ip ON ip.session_id = s.id WHERE s.id = $1 AND s.status = 'ACTIVE'`,
        [id],
      );
      return row?.at;
    },
    120_000,
  );
  const stoppedAt = nowMs();
  await org.admin.posted(`/sessions/${id}/stop`);
  const closedAt = await until(
    'the rule is closed',
    async () => {
      const timeline = await drawbridge.cloud.timeline(Math.floor(stoppedAt * 1000));
      return timeline.find(({ event }) => event === 'closed')?.at;
    },
    120_000,
  );
  await until(
    'the session is CANCELLED',
    async () =>
      (await drawbridge.query(`SELECT 1 FROM sessions WHERE id = $1 AND status = 'CANCELLED'`, [id])).length >
      0,
    120_000,
  );
  return { open: appliedAt - sentAt, close: closedAt / 1000 - stoppedAt };
}

/** @returns ms from the request to its outcome */
async function reconcile({ drawbridge, org }: Side, scenario: Scenario): Promise<number> {
  const resourceId = org.resourceIds[scenario.resource]!;
  const sentAt = nowMs();
  await org.admin.posted(`/resources/${resourceId}/reconcile`);
  const doneAt = await until(
    'the comparison is done',
    async () => {
      const [row] = await drawbridge.query<{ at: number | null }>(
        `SELECT extract(epoch FROM max(created_at))::float8 * 1000 AS at FROM resource_health_events
         WHERE resource_id = $1 AND event_type = 'RECONCILE_OK'`,
        [resourceId],
      );
      return row?.at && row.at > sentAt ? row.at : null;
    },
    120_000,
  );
  return doneAt - sentAt;
}

function ratios(label: string, without: Times, withHistory: Times): Figure[] {
  return (['open', 'close', 'reconcile'] as const).flatMap((what) => [
    figure(`${what}, no history beside ${label}`, 'ms', without[what]),
    figure(`${what}, ${label}`, 'ms', withHistory[what]),
    figure(
      `${what}, ${label}: times`,
      '',
      [quantile(withHistory[what], 0.5) / quantile(without[what], 0.5)],
      { atMost: MAX_RATIO },
    ),
  ]);
}
