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
  readonly first: number;
  readonly count: number;
  readonly stopAtFirst: boolean;
  readonly edits: readonly SourceEdit[];
}

/** Runs seeds on all cores. @throws Error when a thread fails */
export async function runSeeds({ first, count, stopAtFirst, edits }: SeedsPlan): Promise<SeedsRun> {
  const began = performance.now();
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(shared)[0] = first;
  const task: SeedsTask = { shared, end: first + count, stopAtFirst };
  const threads = Array.from({ length: availableParallelism() }, () => startThread({ ...task, edits }));
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
