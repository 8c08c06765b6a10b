import { bisect } from './bisect';

/** Runs a batch in which some items fail. @returns the parts that ran, and the items that were settled */
async function isolate(
  batch: readonly number[],
  failing: readonly number[],
): Promise<{ parts: (readonly number[])[]; settled: (readonly [number, string])[] }> {
  const parts: (readonly number[])[] = [];
  const settled: (readonly [number, string])[] = [];
  await bisect(
    batch,
    'whole batch',
    (part) => {
      parts.push(part);
      return Promise.resolve(part.some((item) => failing.includes(item)) ? `part of ${part.length}` : null);
    },
    ([first, ...more], failure) => {
      if (more.length > 0) return false;
      if (first !== undefined) settled.push([first, failure]);
      return true;
    },
  );
  return { parts, settled };
}

describe('bisect', () => {
  it('isolates each failing item and runs the halves in order', async () => {
    const { parts, settled } = await isolate([1, 2, 3, 4, 5], [2, 5]);
    expect(parts).toEqual([[1, 2, 3], [1, 2], [1], [2], [3], [4, 5], [4], [5]]);
    expect(settled).toEqual([
      [2, 'part of 1'],
      [5, 'part of 1'],
    ]);
  });

  it('settles a batch of one item with the failure of the whole batch', async () => {
    expect(await isolate([1], [1])).toEqual({ parts: [], settled: [[1, 'whole batch']] });
  });

  it('runs nothing for an empty batch that is settled', async () => {
    expect(await isolate([], [])).toEqual({ parts: [], settled: [] });
  });

  it('does not split a part that is settled as a whole', async () => {
    const run = vi.fn<() => Promise<null>>();
    await bisect([1, 2], 'full', run, () => Promise.resolve(true));
    expect(run).not.toHaveBeenCalled();
  });
});
