import { parentPort, workerData } from 'node:worker_threads';
import type { Violation } from './oracles';
import { World } from './world';

/** What a thread is to do. */
export interface SeedsTask {
  /** shared: the next seed that nobody has taken, and whether to stop */
  readonly shared: SharedArrayBuffer;
  readonly end: number;
  /** at the first violation nobody goes on */
  readonly stopAtFirst: boolean;
}

/** What a thread tells of a seed. */
export interface FoundViolation {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

const AT_ONCE = 16;

const tell = (found: FoundViolation): void => {
  // a thread has no origin: the rule is about windows
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort!.postMessage(found);
};

async function runSeeds({ shared, end, stopAtFirst }: SeedsTask): Promise<void> {
  const [next, stop] = [0, 1];
  const counters = new Int32Array(shared);
  for (;;) {
    const first = Atomics.add(counters, next, AT_ONCE);
    if (first >= end) return;
    for (let seed = first; seed < Math.min(end, first + AT_ONCE); seed += 1) {
      if (Atomics.load(counters, stop) === 1) return;
      const violations = await new World(seed, null).run();
      if (violations.length === 0) continue;
      tell({ seed, violations });
      if (stopAtFirst) Atomics.store(counters, stop, 1);
    }
  }
}

void runSeeds(workerData as SeedsTask);
