import type { Evidence } from '../oracles/evidence';
import { Watch } from '../oracles/watch';
import { Bed } from './bed';
import { faultsFor, sequence, type Area, type Fault, type Lengths } from './faults';
import { plantUnmanagedRules } from './unmanaged-rules';
import { Load } from './load';
import { Random } from './random';
import { Tenant } from './tenant';
import { setTimeout as pause } from 'node:timers/promises';

export interface RunOptions {
  readonly seed: number;
  /** processes to kill with SIGKILL; the run ends when they are, or its time is over */
  readonly kills: number;
  /** faults to play, whether they kill or not; as many as it takes when absent */
  readonly strikes?: number;
  /** what is broken; everything when absent */
  readonly areas?: readonly Area[];
  readonly redis: boolean;
  readonly minutes: number;
  readonly unmanagedRules: number;
  readonly lengths: Lengths;
  /** of every cloud call */
  readonly latencyMs: number;
  readonly say: (words: string) => void;
}

/** One fault as it was played. */
export interface Strike {
  readonly fault: Fault;
  /** ms since 1970 */
  readonly at: number;
  readonly kills: number;
}

export interface Outcome {
  readonly strikes: readonly Strike[];
  readonly evidence: Evidence;
  /** requests of the load */
  readonly deeds: number;
  readonly minutes: number;
  /** the same run with right clocks, to compare with */
  readonly unskewed?: Outcome;
  /** what was to be killed or struck, and was not: the time was over */
  readonly shortOf?: string;
}

const TENANTS = 2;
/** few, so that a cloud account may write as much as its people ask for */
const GROUPS = 4;
/** of other hands; a group holds a thousand, and ours have to fit in */
const MAX_UNMANAGED_PER_GROUP = 800;
/** access reports that the run is judged by */
const REPORTS = 200;
const QUIET_TIMEOUT_MS = 180_000;
const REPORT_INTERVAL_MS = 15_000;
const MAX_PAUSE_MS = 400;

/**
 * Lets people work on a Drawbridge whose parts are killed one after another, then waits for quiet and asks every
 * oracle.
 * @throws Error with every broken promise
 */
export async function chaosRun(options: RunOptions): Promise<Outcome> {
  const began = performance.now();
  const random = new Random(options.seed);
  const bed = await Bed.start(options.redis, options.latencyMs);
  let load: Load | null = null;
  try {
    let watch: Watch | null = null;
    const tenants: Tenant[] = [];
    const groups = Math.max(GROUPS, Math.ceil(options.unmanagedRules / MAX_UNMANAGED_PER_GROUP));
    for (let index = 0; index < TENANTS; index += 1)
      tenants.push(await Tenant.register(bed, groups, () => watch!, random));
    await plantUnmanagedRules(bed.cloud, options.unmanagedRules, groups);
    watch = await Watch.begin(bed, { seed: options.seed, reports: REPORTS });
    load = Load.begin(bed, tenants, random);
    const strikes = await strikeOn(bed, watch, load, random, options);
    options.say('The last fault is mended; waiting for quiet.');
    const deeds = load.done;
    await load.end();
    await watch.holds({ withinMs: QUIET_TIMEOUT_MS });
    await nothingForgotten(bed);
    const evidence = await watch.evidence(true);
    const shortOf = missing(options, strikes);
    return {
      strikes,
      evidence,
      deeds,
      minutes: (performance.now() - began) / 60_000,
      ...(shortOf === null ? {} : { shortOf }),
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${bed.complaints()}`, { cause: error });
  } finally {
    load?.abandon();
    await bed.stop();
  }
}

function missing({ kills, strikes: most }: RunOptions, strikes: readonly Strike[]): string | null {
  const killed = strikes.reduce((sum, strike) => sum + strike.kills, 0);
  if (most !== undefined) return strikes.length < most ? `${strikes.length} of ${most} faults` : null;
  return killed < kills ? `${killed} of ${kills} kills` : null;
}

async function strikeOn(
  bed: Bed,
  watch: Watch,
  load: Load,
  random: Random,
  { kills, strikes: most = Infinity, areas, redis, minutes, lengths, say }: RunOptions,
): Promise<Strike[]> {
  const strikes: Strike[] = [];
  const until = performance.now() + minutes * 60_000;
  let told = performance.now();
  let count = 0;
  for (const fault of sequence(faultsFor(redis, areas), random)) {
    if (count >= kills || strikes.length >= most || performance.now() > until) break;
    await pause(random.between(0, MAX_PAUSE_MS));
    const strike = await struck(bed, watch, random, fault, lengths).catch((error: unknown) => {
      // without people at work no point is ever reached: what stopped them comes first
      void load.done;
      throw error;
    });
    strikes.push(strike);
    count += strike.kills;
    await nothingForgotten(bed);
    if (performance.now() - told > REPORT_INTERVAL_MS) {
      told = performance.now();
      await watch.collect();
      say(`${count} killed in ${strikes.length} faults, ${load.done} requests; last: ${fault.name}`);
    }
  }
  return strikes;
}

/** @throws Error that names the fault that could not be played */
async function struck(
  bed: Bed,
  watch: Watch,
  random: Random,
  fault: Fault,
  lengths: Lengths,
): Promise<Strike> {
  const window = watch.fault(fault.name);
  const at = Date.now();
  try {
    const kills = await fault.strike(bed, random, lengths);
    await bed.isWell();
    return { fault, at, kills };
  } catch (error) {
    throw new Error(`"${fault.name}" could not be played: ${(error as Error).message}`, { cause: error });
  } finally {
    window.end();
  }
}

/**
 * No rule that may stand and that nobody wants is ever without a date: it is tried until it is gone.
 * @throws Error naming one
 */
async function nothingForgotten(bed: Bed): Promise<void> {
  const forgotten = await bed.query<{ key: string }>(
    `SELECT r.key FROM rules r WHERE r.state <> 'absent' AND NOT r.is_unmanaged AND r.due_at IS NULL AND NOT EXISTS (
       SELECT FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
       WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.status IN ('PENDING', 'APPLIED'))`,
  );
  if (forgotten.length > 0)
    throw new Error(`O1: ${forgotten[0]!.key} may stand, and nobody will try to remove it`);
}
