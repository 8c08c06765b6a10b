import type { Logger } from 'pino';
import { RepeatedTask } from './repeated-task';

const BATCH_SIZE = 1000;
/** per run: other tasks of the process get a turn */
const MAX_BATCHES = 20;

/**
 * Works until nothing is left, in batches short enough to stop between them. One run is bounded; a backlog continues in the
 * next one, which follows immediately.
 * @param runBatch works on at most `limit` rows and returns how many there were
 * @returns for `RepeatedTask`: 0 when more is left, else null
 */
export async function runInBatches(
  runBatch: (limit: number) => Promise<number>,
  stopping: AbortSignal,
  batchSize = BATCH_SIZE,
): Promise<number | null> {
  for (let batches = 0; batches < MAX_BATCHES && !stopping.aborted; batches += 1) {
    if ((await runBatch(batchSize)) < batchSize) return null;
  }
  return 0;
}

/** A task that runs such batches. */
export const batchedTask = (
  name: string,
  intervalMs: number,
  runBatch: (limit: number) => Promise<number>,
  log: Logger,
  batchSize = BATCH_SIZE,
): RepeatedTask =>
  new RepeatedTask(name, intervalMs, (stopping) => runInBatches(runBatch, stopping, batchSize), log);
