import { ActionBench } from '../builders/programs/action-bench';
import { sshTo } from '../builders/accounts/organization';
import { node24 } from '../harness/machines/node-24';
import type { TimelineEntry } from '../harness/product/simulator-client';
import { until } from '../harness/until';
import { CiWays, type CiJob, type Way } from './ci-jobs';
import { figure, type Figure } from './figure';
import { EC2_LIMITS, freshAddress } from './load';

const ROUNDS = 9;
const CANCELLED_AT_WORK = 5;
const CANCELLED_AT_START = 10;
const CRASHES = 3;
const PARALLEL = 20;
/** Between the ends of parallel jobs. */
const END_INTERVAL_MS = 500;
/** A rule that is left for longer than the lease of a job and this is left for good. */
const LATENESS_MS = 5_000;
const LEASE_MS = 60_000;

/** Four ways to give CI jobs access, side by side on one simulated cloud with a latency of 50 ms for each call. */
export async function ciComparison(): Promise<Figure[]> {
  const node = node24();
  if (node === null) throw new Error('Node.js 24 is missing');
  const groups = sshTo(2);
  const simulator = { ...EC2_LIMITS, SIMULATOR_LATENCY_MS: '50' };
  const bench = await ActionBench.start(node, groups, { simulator });
  const ways = new CiWays(bench, await bench.apiKey());
  const comparison = new Comparison(bench, ways);
  try {
    const figures: Figure[] = [];
    for (const [way, durations] of await comparison.durations()) {
      figures.push(...durations);
      figures.push(...(await comparison.cancels(way)));
      figures.push(...(await comparison.parallel(way)));
    }
    // all at once: what counts is how long the rules stay
    for (const crashed of await Promise.all(ways.all.map((way) => comparison.crashes(way))))
      figures.push(...crashed);
    return figures;
  } finally {
    await ways.close();
    await bench.stop();
  }
}

interface Sample {
  readonly usableMs: number;
  readonly closedMs: number;
  /** those of the job's environment that still work when it is over */
  readonly secrets: number;
}

class Comparison {
  /** milliseconds from the start of a job until its work may begin, by way */
  private readonly startMs = new Map<string, number>();

  constructor(
    private readonly bench: ActionBench,
    private readonly ways: CiWays,
  ) {}

  /**
   * From the start of a job until its work may begin, and from the end of the work until the rule is gone. The ways take
   * turns: other work on the machine meets them all.
   */
  async durations(): Promise<Map<Way, Figure[]>> {
    const samples = new Map(this.ways.all.map((way) => [way, [] as Sample[]]));
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [way, taken] of samples) {
        const sample = await this.sample(way);
        // the first one warms up
        if (round > 0) taken.push(sample);
      }
    }
    return new Map([...samples].map(([way, taken]) => [way, this.durationFigures(way, taken)]));
  }

  private async sample(way: Way): Promise<Sample> {
    const address = freshAddress();
    const began = performance.now();
    const job = await way.start(address);
    await job.usable;
    const usableMs = performance.now() - began;
    const environment = job.environments();
    const endedAt = Date.now();
    await job.end();
    const { at } = await until('the rule is closed', async () => (await this.closings(way, address)).at(-1));
    const secrets = this.ways.secrets.filter((secret) => environment.includes(secret)).length;
    return { usableMs, closedMs: at / 1000 - endedAt, secrets };
  }

  private durationFigures(way: Way, taken: readonly Sample[]): Figure[] {
    const usable = taken.map(({ usableMs }) => usableMs);
    const closed = taken.map(({ closedMs }) => closedMs);
    const secrets = taken.map((sample) => sample.secrets);
    const start = figure(`${way.name}: start to usable, p50`, 'ms', usable);
    this.startMs.set(way.name, start.value);
    return [
      start,
      figure(`${way.name}: end of the work to closed, p50`, 'ms', closed),
      figure(`${way.name}: stored secrets on the runner`, '', secrets),
    ];
  }

  /** Rules that are left by jobs that are cancelled while they work, and at different moments of their start. */
  async cancels(way: Way): Promise<Figure[]> {
    const atWork = await this.leftAfter(way, CANCELLED_AT_WORK, async (job) => {
      await job.usable;
      await job.cancel();
    });
    const step = this.startMs.get(way.name)! / CANCELLED_AT_START;
    const atStart = await this.leftAfter(way, CANCELLED_AT_START, async (job, index) => {
      await new Promise((resolve) => setTimeout(resolve, step * (index + 0.5)));
      await job.cancel();
    });
    return [
      figure(`${way.name}: rules left by ${CANCELLED_AT_WORK} jobs cancelled at work`, '', [atWork]),
      figure(`${way.name}: rules left by ${CANCELLED_AT_START} jobs cancelled at their start`, '', [atStart]),
    ];
  }

  /** Rules that are left by machines that are gone, and when the last one went. */
  async crashes(way: Way): Promise<Figure[]> {
    const addresses = Array.from({ length: CRASHES }, freshAddress);
    const jobs = await Promise.all(addresses.map((address) => way.start(address)));
    await Promise.all(jobs.map((job) => job.usable));
    const crashedAt = Date.now();
    for (const job of jobs) job.crash();
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS + LATENESS_MS));
    const left = await this.removeLeft(way, addresses);
    const name = `${way.name}: rules left by ${CRASHES} crashed machines`;
    const last = (await this.timeline(way)).filter(
      ({ event, address }) => event === 'closed' && addresses.includes(address),
    );
    const seconds = last.map(({ at }) => (at / 1000 - crashedAt) / 1000);
    const closed = left === 0 ? [figure(`${way.name}: crash to closed`, 's', seconds)] : [];
    return [figure(name, '', [left]), ...closed];
  }

  /** Jobs behind one address that end one after the other: those that lost their access before, and rules left. */
  async parallel(way: Way): Promise<Figure[]> {
    const address = freshAddress();
    const jobs = await Promise.all(Array.from({ length: PARALLEL }, () => way.start(address)));
    const usable = await Promise.all(jobs.map((job) => job.usable.then(() => Date.now())));
    const began = Math.max(...usable);
    const work = await Promise.all(
      jobs.map(async (job, index) => {
        await new Promise((resolve) => setTimeout(resolve, END_INTERVAL_MS * index));
        const endedAt = Date.now();
        await job.end();
        return { endedAt };
      }),
    );
    const gaps = (await this.closings(way, address)).map(({ at }) => at / 1000);
    // one closing at the end is every way's; what counts is access that ends before the work
    const lost = work.filter(({ endedAt }) => gaps.some((at) => at > began && at < endedAt)).length;
    const left = await this.leftOver(way, [address]);
    return [
      figure(`${way.name}: of ${PARALLEL} parallel jobs behind one address, lost their access`, '', [lost]),
      figure(`${way.name}: rules left by them`, '', [left]),
    ];
  }

  private async leftAfter(
    way: Way,
    count: number,
    cancel: (job: CiJob, index: number) => Promise<void>,
  ): Promise<number> {
    const addresses = Array.from({ length: count }, freshAddress);
    for (const [index, address] of addresses.entries()) await cancel(await way.start(address), index);
    return this.leftOver(way, addresses);
  }

  /** Rules of these addresses that stay, waited for no longer than Drawbridge may take. */
  private async leftOver(way: Way, addresses: readonly string[]): Promise<number> {
    const deadline = Date.now() + LATENESS_MS;
    while (Date.now() < deadline && (await this.open(way, addresses)).length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return this.removeLeft(way, addresses);
  }

  private async removeLeft(way: Way, addresses: readonly string[]): Promise<number> {
    const left = await this.open(way, addresses);
    for (const address of left) await this.bench.drawbridge.cloud.removeByHand(way.group, address);
    return left.length;
  }

  private async open(way: Way, addresses: readonly string[]): Promise<string[]> {
    const rules = await this.bench.drawbridge.cloud.rules(way.group);
    return rules.map(({ address }) => address).filter((address) => addresses.includes(address));
  }

  private async closings(way: Way, of: string): Promise<TimelineEntry[]> {
    return (await this.timeline(way)).filter(({ event, address }) => event === 'closed' && address === of);
  }

  private async timeline(way: Way): Promise<TimelineEntry[]> {
    return (await this.bench.drawbridge.cloud.timeline()).filter(({ target }) => target === way.group);
  }
}
