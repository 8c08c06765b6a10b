import { organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { allClosed, seedOpenSessions } from './backlog';
import { figure, type Figure } from './figure';
import type { SeededRule } from '../builders/seeded-sessions';

const WORKERS = [1, 2, 4];
const TARGETS = 400;
const CALL_MS = 500;
/** few enough that two cores are not the limit */
const SLOTS = 8;
/** 50 targets each: EC2 allows 50 writes at once per account and region */
const REGIONS = [
  'us-east-1',
  'us-east-2',
  'us-west-2',
  'eu-west-1',
  'eu-west-2',
  'eu-central-1',
  'eu-north-1',
  'ap-south-1',
];
const LEAST: Readonly<Record<number, number>> = { 2: 1.8, 4: 3.2 };
const WITHIN_MS = 300_000;

/** One overdue rule on each of 400 targets, 500 ms per cloud call: how much sooner do more workers close them? */
export async function workerScaling(): Promise<Figure[]> {
  const seconds = new Map<number, number>();
  for (const workers of WORKERS) seconds.set(workers, await secondsToClose(workers));
  const one = seconds.get(1)!;
  return WORKERS.flatMap((workers) => [
    figure(`400 targets, 500 ms per call, ${workers} workers: all closed`, 's', [seconds.get(workers)!]),
    ...(workers === 1
      ? []
      : [
          figure(`400 targets: ${workers} workers, times one`, '', [one / seconds.get(workers)!], {
            atLeast: LEAST[workers]!,
          }),
        ]),
  ]);
}

async function secondsToClose(workers: number): Promise<number> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { SIMULATOR_GROUPS: String(TARGETS), SIMULATOR_LATENCY_MS: String(CALL_MS) },
  });
  try {
    const org = await organization(drawbridge, []);
    const each = TARGETS / REGIONS.length;
    const rules: SeededRule[] = [];
    for (const [index, region] of REGIONS.entries()) {
      const plan = { region, firstGroup: index * each, groups: each, sessions: each, before: rules.length };
      rules.push(...(await seedOpenSessions(org, { ...plan, expiresInSeconds: 3600 })));
    }
    for (let started = 0; started < workers; started += 1)
      await drawbridge.startWorker({ WORKER_CONCURRENCY: String(SLOTS) });
    const began = Date.now();
    await drawbridge.query('UPDATE sessions SET expires_at = now()');
    const closed = await allClosed(drawbridge, rules, WITHIN_MS);
    return (Math.max(...closed) - began) / 1000;
  } finally {
    await drawbridge.stop();
  }
}
