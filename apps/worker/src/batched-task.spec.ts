import { runInBatches } from './batched-task';

/** @returns how many rows are left, and when the next run is asked for */
async function run(
  rows: number,
  afterBatch = (_: AbortController): void => undefined,
): Promise<(number | null)[]> {
  const stopping = new AbortController();
  let left = rows;
  const nextInMs = await runInBatches((limit) => {
    const deleted = Math.min(limit, left);
    left -= deleted;
    afterBatch(stopping);
    return Promise.resolve(deleted);
  }, stopping.signal);
  return [left, nextInMs];
}

describe('runInBatches', () => {
  it('deletes until nothing is left and requests no early run', async () => {
    expect(await run(7_500)).toEqual([0, null]);
  });

  it('ends a run after 20 batches and requests the next one immediately', async () => {
    expect(await run(1_000_000)).toEqual([980_000, 0]);
  });

  it('stops between two batches when aborted', async () => {
    expect(await run(1_000_000, (stopping) => stopping.abort())).toEqual([999_000, 0]);
  });
});
