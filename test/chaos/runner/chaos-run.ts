import type { Figure } from '../../bench/figure';
import type { Evidence } from '../oracles/evidence';
import { Watch } from '../oracles/watch';
import { Testbed } from './testbed';
import { faultsFor, NAMED_POINTS, sequence, type Area, type Fault, type Lengths } from './faults';
import { plantUnmanagedRules } from './unmanaged-rules';
import { Load } from './load';
import { Random } from './random';
import { Tenant } from './tenant';
import { setTimeout as pause } from 'node:timers/promises';

export interface RunOptions {
  readonly seed: number;
  /** number of processes to kill with SIGKILL; the run ends then, or when its time is over */
  readonly kills: number;
  /** number of faults to inject, whether they kill or not; default: no limit */
  readonly faults?: number;
  /** areas of the faults; default: all */
  readonly areas?: readonly Area[];
  /** default: yes, and these first */
  readonly atNamedPoints?: boolean;
  readonly redis: boolean;
  readonly minutes: number;
  readonly unmanagedRules: number;
  readonly lengths: Lengths;
  /** of every cloud call */
  readonly latencyMs: number;
  readonly log: (message: string) => void;
}

/** One injected fault. */
export interface InjectedFault {
  readonly fault: Fault;
  /** ms since 1970 */
  readonly at: number;
  readonly kills: number;
}

export interface Outcome {
  readonly injected: readonly InjectedFault[];
  readonly evidence: Evidence;
  /** requests sent */
  readonly requests: number;
  readonly minutes: number;
  /** the same run with correct clocks, for comparison */
  readonly unskewed?: Outcome;
  /** what is missing because the time was over, as text */
  readonly shortOf?: string;
  /** what this run measures instead of the lateness of removals */
  readonly figures?: readonly Figure[];
}

const TENANTS = 2;
/** few, so that the load stays within the call limits of the cloud account */
const GROUPS = 4;
/** a group holds 1,000 rules, and needs room for ours */
const MAX_UNMANAGED_PER_GROUP = 800;
/** number of access reports that are checked */
const REPORTS = 200;
const IDLE_TIMEOUT_MS = 180_000;
const REPORT_INTERVAL_MS = 15_000;
const MAX_PAUSE_MS = 400;

/**
 * Runs load against a deployment, injects faults one after another, waits until the deployment is idle, and checks the
 * guarantees.
 * @throws Error with all violations
 */
export async function chaosRun(options: RunOptions): Promise<Outcome> {
  const began = performance.now();
  const random = new Random(options.seed);
  const testbed = await Testbed.start(options.redis, options.latencyMs);
  let load: Load | null = null;
  try {
    let watch: Watch | null = null;
    const tenants: Tenant[] = [];
    const groups = Math.max(GROUPS, Math.ceil(options.unmanagedRules / MAX_UNMANAGED_PER_GROUP));
    for (let index = 0; index < TENANTS; index += 1)
      tenants.push(await Tenant.register(testbed, groups, () => watch!, random));
    await plantUnmanagedRules(testbed.cloud, options.unmanagedRules, groups);
    watch = await Watch.begin(testbed, { seed: options.seed, reports: REPORTS, patienceMs: 0 });
    load = Load.begin(testbed, tenants, random);
    const injected = await injectFaults(testbed, watch, load, random, options);
    options.log('All faults have ended; waiting until the deployment is idle.');
    const requests = load.requestCount;
    await load.end();
    await watch.verify({ withinMs: IDLE_TIMEOUT_MS });
    await assertNothingForgotten(testbed);
    const evidence = await watch.evidence(true);
    const shortOf = missing(options, injected);
    return {
      injected,
      evidence,
      requests,
      minutes: (performance.now() - began) / 60_000,
      ...(shortOf === null ? {} : { shortOf }),
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${testbed.unexpectedFailures()}`, { cause: error });
  } finally {
    load?.abandon();
    await testbed.stop();
  }
}

function missing(
  { kills, faults: maxFaults }: RunOptions,
  injected: readonly InjectedFault[],
): string | null {
  const killed = injected.reduce((sum, fault) => sum + fault.kills, 0);
  if (maxFaults !== undefined)
    return injected.length < maxFaults ? `${injected.length} of ${maxFaults} faults` : null;
  return killed < kills ? `${killed} of ${kills} kills` : null;
}

async function injectFaults(
  testbed: Testbed,
  watch: Watch,
  load: Load,
  random: Random,
  {
    kills,
    faults: maxFaults = Infinity,
    areas,
    atNamedPoints = true,
    redis,
    minutes,
    lengths,
    log,
  }: RunOptions,
): Promise<InjectedFault[]> {
  const injected: InjectedFault[] = [];
  const until = performance.now() + minutes * 60_000;
  let reportedAt = performance.now();
  let count = 0;
  const faults = faultsFor(redis, areas).filter((fault) => atNamedPoints || !NAMED_POINTS.includes(fault));
  for (const fault of sequence(faults, random)) {
    if (count >= kills || injected.length >= maxFaults || performance.now() > until) break;
    await pause(random.between(0, MAX_PAUSE_MS));
    const one = await injectFault(testbed, watch, random, fault, lengths).catch((error: unknown) => {
      // without load no point is reached: a failure of the load is reported first
      void load.requestCount;
      throw error;
    });
    injected.push(one);
    count += one.kills;
    await assertNothingForgotten(testbed);
    if (performance.now() - reportedAt > REPORT_INTERVAL_MS) {
      reportedAt = performance.now();
      await watch.collect();
      log(`${count} killed in ${injected.length} faults, ${load.requestCount} requests; last: ${fault.name}`);
    }
  }
  return injected;
}

/** @throws Error that names a fault that could not be injected */
async function injectFault(
  testbed: Testbed,
  watch: Watch,
  random: Random,
  fault: Fault,
  lengths: Lengths,
): Promise<InjectedFault> {
  const window = watch.fault(fault.name);
  const at = Date.now();
  try {
    const kills = await fault.inject(testbed, random, lengths);
    await testbed.untilHealthy();
    return { fault, at, kills };
  } catch (error) {
    throw new Error(`"${fault.name}" could not be injected: ${(error as Error).message}`, { cause: error });
  } finally {
    window.end();
  }
}

/**
 * Every rule that may be present and is not desired has a due time: its removal is retried.
 * @throws Error naming a rule without one
 */
async function assertNothingForgotten(testbed: Testbed): Promise<void> {
  const forgotten = await testbed.query<{ key: string }>(
    `SELECT r.key FROM rules r WHERE r.state <> 'absent' AND NOT r.is_unmanaged AND r.due_at IS NULL AND NOT EXISTS (
       SELECT FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
       WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.status IN ('PENDING', 'APPLIED'))`,
  );
  if (forgotten.length > 0)
    throw new Error(`O1: ${forgotten[0]!.key} may be present, is not desired, and is not due`);
}
