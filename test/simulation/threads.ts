import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SourceEdit } from './planted-bugs';
import type { FoundViolations, SeedsTask } from './seeds';

/** The result of a run of many seeds. */
export interface SeedsRun {
  readonly found: readonly FoundViolations[];
  readonly seconds: number;
}

export interface SeedsPlan {
  readonly seeds: readonly number[];
  readonly stopAtFirst: boolean;
  readonly edits: readonly SourceEdit[];
}

/** `count` seeds from the first one on. */
export const seedsFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index);

/** Runs seeds on all cores. @throws Error when a thread fails */
export async function runSeeds({ seeds, stopAtFirst, edits }: SeedsPlan): Promise<SeedsRun> {
  const began = performance.now();
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const task: SeedsTask = { shared, seeds, stopAtFirst };
  // a thread loads all sources anew
  const length = Math.min(availableParallelism(), seeds.length);
  const threads = Array.from({ length }, () => startThread({ ...task, edits }));
  const found = (await Promise.all(threads)).flat().sort((a, b) => a.seed - b.seed);
  return { found, seconds: (performance.now() - began) / 1000 };
}

function startThread(workerData: SeedsTask & { edits: readonly SourceEdit[] }): Promise<FoundViolations[]> {
  return new Promise((resolve, reject) => {
    const found: FoundViolations[] = [];
    const worker = new Worker(join(__dirname, 'seeds-worker.cjs'), { workerData });
    worker.on('message', (message: FoundViolations) => found.push(message));
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (code === 0) resolve(found);
      else reject(new Error(`A thread of the simulation ended with ${code}`));
    });
  });
}
