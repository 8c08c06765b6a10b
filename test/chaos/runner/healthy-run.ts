import { setTimeout as pause } from 'node:timers/promises';
import { Watch } from '../oracles/watch';
import { Bed } from './bed';
import type { Outcome, RunOptions } from './chaos-run';
import { plantUnmanagedRules } from './unmanaged-rules';
import { Random } from './random';
import { skewedClock } from './skewed-clock';
import { Tenant } from './tenant';

const GROUPS = 10;
/** access reports that the run is judged by */
const REPORTS = 200;
const QUIET_TIMEOUT_MS = 120_000;
const REPORT_INTERVAL = 100;
/** how long a session is open before it is ended */
const MIN_MS = 4000;
const MAX_MS = 9000;

export interface HealthyOptions extends RunOptions {
  readonly count: number;
  readonly perSecond: number;
  /** the share of sessions whose time runs out; the others are stopped */
  readonly expiries: number;
  /** every process runs with a clock that is wrong by so many minutes, in one direction or the other */
  readonly skewMinutes?: number;
}

/**
 * Nothing fails: sessions start at an even rate, and end.
 * @throws Error with every broken promise
 */
export async function healthyRun(options: HealthyOptions): Promise<Outcome> {
  const began = performance.now();
  const random = new Random(options.seed);
  const bed = await Bed.start(options.redis, options.latencyMs);
  try {
    if (options.skewMinutes) await skewClocks(bed, options.skewMinutes);
    let watch: Watch | null = null;
    const tenant = await Tenant.register(bed, GROUPS, () => watch!, random);
    await plantUnmanagedRules(bed.cloud, options.unmanagedRules, GROUPS);
    watch = await Watch.begin(bed, { seed: options.seed, reports: REPORTS });
    const ends: Promise<void>[] = [];
    const start = performance.now();
    for (let index = 0; index < options.count; index += 1) {
      await pause(Math.max(0, start + (index * 1000) / options.perSecond - performance.now()));
      ends.push(fromStartToEnd(tenant, index, random.between(MIN_MS, MAX_MS), options.expiries));
      if (index % REPORT_INTERVAL === 0) {
        await watch.collect();
        options.say(`${index} of ${options.count} sessions started`);
      }
    }
    await Promise.all(ends);
    await watch.holds({ withinMs: QUIET_TIMEOUT_MS });
    const evidence = await watch.evidence(true);
    return { strikes: [], evidence, deeds: 2 * options.count, minutes: (performance.now() - began) / 60_000 };
  } finally {
    await bed.stop();
  }
}

/** One API and one worker are early, the others late. */
async function skewClocks(bed: Bed, minutes: number): Promise<void> {
  for (const processes of [bed.apis, bed.workers]) {
    for (const [index, process] of processes.entries()) {
      process.with(skewedClock(index % 2 === 0 ? minutes : -minutes));
      await process.kill();
    }
  }
  await bed.isWell();
}

async function fromStartToEnd(
  tenant: Tenant,
  index: number,
  openForMs: number,
  expiries: number,
): Promise<void> {
  await tenant.start(`5.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`, 1);
  await pause(openForMs);
  await tenant.end(expiries);
}
