import { setTimeout as pause } from 'node:timers/promises';
import { Watch } from '../oracles/watch';
import { Testbed } from './testbed';
import type { Outcome, RunOptions } from './chaos-run';
import { plantUnmanagedRules } from './unmanaged-rules';
import { Random } from './random';
import { skewedClock } from '../../harness/machines/skewed-clock';
import { Tenant } from './tenant';

const GROUPS = 10;
/** number of access reports that are checked */
const REPORTS = 200;
const IDLE_TIMEOUT_MS = 120_000;
const REPORT_INTERVAL = 100;
/** how long a session lasts */
const MIN_MS = 4000;
const MAX_MS = 9000;

export interface HealthyOptions extends RunOptions {
  readonly count: number;
  readonly perSecond: number;
  /** the share of sessions that expire; the others are stopped */
  readonly expiries: number;
  /** the clock of every process is wrong by this many minutes, in either direction */
  readonly skewMinutes?: number;
}

/**
 * Starts and ends sessions at a constant rate, without faults.
 * @throws Error with all violations
 */
export async function healthyRun(options: HealthyOptions): Promise<Outcome> {
  const began = performance.now();
  const random = new Random(options.seed);
  const testbed = await Testbed.start(options.redis, options.latencyMs);
  try {
    if (options.skewMinutes) await skewClocks(testbed, options.skewMinutes);
    let watch: Watch | null = null;
    const tenant = await Tenant.register(testbed, GROUPS, () => watch!, random);
    await plantUnmanagedRules(testbed.cloud, options.unmanagedRules, GROUPS);
    watch = await Watch.begin(testbed, { seed: options.seed, reports: REPORTS, patienceMs: 0 });
    const ends: Promise<void>[] = [];
    const start = performance.now();
    for (let index = 0; index < options.count; index += 1) {
      await pause(Math.max(0, start + (index * 1000) / options.perSecond - performance.now()));
      ends.push(startAndEnd(tenant, index, random.between(MIN_MS, MAX_MS), options.expiries));
      if (index % REPORT_INTERVAL === 0) {
        await watch.collect();
        options.log(`${index} of ${options.count} sessions started`);
      }
    }
    await Promise.all(ends);
    await watch.verify({ withinMs: IDLE_TIMEOUT_MS });
    const evidence = await watch.evidence(true);
    return {
      injected: [],
      evidence,
      requests: 2 * options.count,
      minutes: (performance.now() - began) / 60_000,
    };
  } finally {
    await testbed.stop();
  }
}

/** One API and one worker are fast, the others slow. */
async function skewClocks(testbed: Testbed, minutes: number): Promise<void> {
  for (const processes of [testbed.apis, testbed.workers]) {
    for (const [index, process] of processes.entries()) {
      process.addEnvironment(skewedClock((index % 2 === 0 ? 60 : -60) * minutes));
      await process.kill();
    }
  }
  await testbed.untilHealthy();
}

async function startAndEnd(
  tenant: Tenant,
  index: number,
  durationMs: number,
  expiries: number,
): Promise<void> {
  await tenant.start(`5.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`, 1);
  await pause(durationMs);
  await tenant.end(expiries);
}
