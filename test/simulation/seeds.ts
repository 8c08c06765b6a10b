import { parentPort, workerData } from 'node:worker_threads';
import type { Violation } from './oracle-state';
import { World } from './world';

/** The work of one thread. */
export interface SeedsTask {
  /** two counters: how many seeds are taken, and 1 to stop */
  readonly shared: SharedArrayBuffer;
  readonly seeds: readonly number[];
  /** all threads stop at the first violation */
  readonly stopAtFirst: boolean;
}

/** The message of a thread about a seed with violations. */
export interface FoundViolations {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

const BATCH_SIZE = 16;

const report = (found: FoundViolations): void => {
  // worker threads have no origin: the rule is about windows
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort!.postMessage(found);
};

async function runSeeds({ shared, seeds, stopAtFirst }: SeedsTask): Promise<void> {
  const [taken, stop] = [0, 1];
  const counters = new Int32Array(shared);
  for (;;) {
    const first = Atomics.add(counters, taken, BATCH_SIZE);
    if (first >= seeds.length) return;
    for (const seed of seeds.slice(first, first + BATCH_SIZE)) {
      if (Atomics.load(counters, stop) === 1) return;
      const violations = await new World(seed, null).run();
      if (violations.length === 0) continue;
      report({ seed, violations });
      if (stopAtFirst) Atomics.store(counters, stop, 1);
    }
  }
}

void runSeeds(workerData as SeedsTask);
