/** A page, and the token of the next one when there is one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/**
 * Cuts a page of items in ascending order of their keys. A token holds the last key of its page, so that pages neither repeat
 * nor skip items while others are added and removed.
 * @param token of the page; empty: the first one
 * @returns null when the token is invalid
 */
export function cutPage<T>(
  items: readonly T[],
  keyOf: (item: T) => string | number,
  token: string,
  size: number,
): Page<T> | null {
  const [, after] = /^after (.+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (token !== '' && after === undefined) return null;
  const isLater = (key: string | number): boolean =>
    after === undefined || (typeof key === 'number' ? key > Number(after) : key > after);
  const rest = items.filter((item) => isLater(keyOf(item)));
  const page = rest.slice(0, size);
  const last = page.at(-1);
  const isLast = last === undefined || rest.length === page.length;
  return {
    items: page,
    next: isLast ? undefined : Buffer.from(`after ${keyOf(last)}`).toString('base64url'),
  };
}
