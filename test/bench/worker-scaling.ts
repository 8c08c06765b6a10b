import { organization } from '../builders/accounts/organization';
import type { SeededRule } from '../builders/sessions/seeded-sessions';
import { Drawbridge } from '../harness/product/drawbridge';
import { allClosed, seedOpenSessions } from './backlog';
import { figure, type Figure } from './figure';

/** Each has call limits of its own, so that they do not limit the workers. */
const REGIONS = [
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
  'ca-central-1',
  'sa-east-1',
  'eu-west-1',
  'eu-west-2',
  'eu-west-3',
  'eu-north-1',
];
const GROUPS_PER_REGION = 40;
const LATENCY_MS = 500;
/** So few that the calls of four workers leave the two cores of a small machine idle. */
const CONCURRENCY = 10;
const MIN_GAIN: Readonly<Record<number, number>> = { 2: 1.8, 4: 3.2 };
const WITHIN_MS = 180_000;

/**
 * How much faster more workers are where the cloud is the limit: 400 targets with one overdue rule each, 500 ms for each
 * call, ten calls at once for each worker.
 */
export async function workerScaling(): Promise<Figure[]> {
  const alone = await secondsWith(1);
  const figures = [figure('400 targets, 500 ms a call: 1 worker', 's', [alone])];
  for (const workers of [2, 4]) {
    const seconds = await secondsWith(workers);
    figures.push(
      figure(`400 targets, 500 ms a call: ${workers} workers`, 's', [seconds]),
      figure(`  times as fast as one`, '', [alone / seconds], { atLeast: MIN_GAIN[workers]! }),
    );
  }
  return figures;
}

/** @returns seconds until every overdue rule is closed */
async function secondsWith(workers: number): Promise<number> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: {
      SIMULATOR_GROUPS: String(REGIONS.length * GROUPS_PER_REGION),
      SIMULATOR_WRITE_BURST: '5000',
      SIMULATOR_READ_BURST: '5000',
    },
  });
  try {
    const org = await organization(drawbridge, []);
    const rules: SeededRule[] = [];
    for (const [index, region] of REGIONS.entries()) {
      const plan = { region, firstGroup: index * GROUPS_PER_REGION, groups: GROUPS_PER_REGION };
      const before = index * GROUPS_PER_REGION;
      rules.push(
        ...(await seedOpenSessions(org, {
          ...plan,
          sessions: GROUPS_PER_REGION,
          before,
          expiresInSeconds: 3600,
        })),
      );
    }
    await drawbridge.cloud.fault({ provider: 'AWS', kind: 'slow', delayMs: LATENCY_MS });
    const settings = { WORKER_CONCURRENCY: String(CONCURRENCY) };
    await Promise.all(Array.from({ length: workers }, () => drawbridge.startWorker(settings)));
    const began = Date.now();
    await drawbridge.query('UPDATE sessions SET expires_at = now()');
    const closed = await allClosed(drawbridge, rules, WITHIN_MS);
    return (Math.max(...closed) - began) / 1000;
  } finally {
    await drawbridge.stop();
  }
}
