import { runInBatches } from './batched-task';

/** A table with `rows` rows to delete. */
const table = (rows: number): { delete: (limit: number) => Promise<number>; left: () => number } => {
  let left = rows;
  return {
    delete: (limit) => {
      const deleted = Math.min(limit, left);
      left -= deleted;
      return Promise.resolve(deleted);
    },
    left: () => left,
  };
};

describe('runInBatches', () => {
  it('deletes until nothing is left and requests no early run', async () => {
    const rows = table(7_500);
    await expect(runInBatches(rows.delete, new AbortController().signal)).resolves.toBeNull();
    expect(rows.left()).toBe(0);
  });

  it('ends a run after 20 batches and requests the next one immediately', async () => {
    const rows = table(1_000_000);
    await expect(runInBatches(rows.delete, new AbortController().signal)).resolves.toBe(0);
    expect(rows.left()).toBe(980_000);
  });

  it('stops between two batches when aborted', async () => {
    const rows = table(1_000_000);
    const stopping = new AbortController();
    await runInBatches((limit) => {
      stopping.abort();
      return rows.delete(limit);
    }, stopping.signal);
    expect(rows.left()).toBe(999_000);
  });
});
