/**
 * Isolates the items that make a batch fail: runs its halves, and the halves of those that fail.
 * @param failure why the whole batch failed
 * @param run null: the part needs no further attempt
 * @param settle handles a failed part as a whole; false: split it. It must settle a part of one item.
 */
export async function bisect<Item, Failure>(
  batch: readonly Item[],
  failure: Failure,
  run: (part: readonly Item[]) => Promise<Failure | null>,
  settle: (part: readonly Item[], failure: Failure) => boolean | Promise<boolean>,
): Promise<void> {
  if (await settle(batch, failure)) return;
  const middle = Math.ceil(batch.length / 2);
  for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
    const halfFailure = await run(half);
    if (halfFailure !== null) await bisect(half, halfFailure, run, settle);
  }
}
