/**
 * Versions of an agent's state, such as `7-3f9a…`: a counter of offered states and a content hash. The counter gives a
 * recurring state a new version, so that reports on the earlier one do not apply to it. The hash detects an agent that is
 * ahead of a restored database.
 */
const NONE = '0-';

const countOf = (version: string): number => Number(version.split('-')[0]);

/**
 * @param served the last offered version; null: none
 * @param content hash of the state
 */
export function versionOf(served: string | null, content: string): string {
  const last = served ?? NONE;
  return last.endsWith(`-${content}`) ? last : `${countOf(last) + 1}-${content}`;
}

/** Invalidates the last offered version: reports on it no longer apply. */
export const withoutContent = (served: string | null): string => `${countOf(served ?? NONE) + 1}-`;
