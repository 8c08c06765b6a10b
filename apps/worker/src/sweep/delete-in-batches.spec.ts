import { deleteInBatches } from './delete-in-batches';

/** A table with so many rows to delete. */
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

describe('deleting in batches', () => {
  it('deletes until nothing is left, and asks for no run out of turn', async () => {
    const rows = table(7_500);
    await expect(deleteInBatches(rows.delete, new AbortController().signal)).resolves.toBeNull();
    expect(rows.left()).toBe(0);
  });

  it('ends a run while more is left, and asks for the next one at once', async () => {
    const rows = table(1_000_000);
    await expect(deleteInBatches(rows.delete, new AbortController().signal)).resolves.toBe(0);
    expect(rows.left()).toBe(980_000);
  });

  it('stops between two batches', async () => {
    const rows = table(1_000_000);
    const stopping = new AbortController();
    await deleteInBatches((limit) => {
      stopping.abort();
      return rows.delete(limit);
    }, stopping.signal);
    expect(rows.left()).toBe(999_000);
  });
});
