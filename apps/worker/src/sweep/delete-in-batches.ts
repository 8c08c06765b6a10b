const BATCH_SIZE = 1000;
/** then the other tasks of this process get a turn, and a stop is answered */
const MAX_BATCHES = 20;

/**
 * Deletes until nothing is left, in batches short enough to stop between them. One run is bounded; a backlog goes on in
 * the next one, which follows at once.
 * @param deleteBatch deletes `limit` rows at most, and returns how many it deleted
 * @returns for `RepeatedTask`: 0 when more is left, null when nothing is
 */
export async function deleteInBatches(
  deleteBatch: (limit: number) => Promise<number>,
  stopping: AbortSignal,
): Promise<number | null> {
  for (let batches = 0; batches < MAX_BATCHES && !stopping.aborted; batches += 1) {
    if ((await deleteBatch(BATCH_SIZE)) < BATCH_SIZE) return null;
  }
  return 0;
}
