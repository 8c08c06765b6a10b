/**
 * Versions of an agent's state: `7-3f9a…`, how many different states it was told, and what the state holds. The first
 * part makes a state that comes again another one: what was reported about the earlier one is not about this. The
 * second shows an agent that knows more than a restored database that it does.
 */
const NONE = '0-';

const countOf = (version: string): number => Number(version.split('-')[0]);

/**
 * @param served the version that was told last; null: none was
 * @param content of the state, as a hash
 */
export function versionOf(served: string | null, content: string): string {
  const last = served ?? NONE;
  return last.endsWith(`-${content}`) ? last : `${countOf(last) + 1}-${content}`;
}

/** As if another state had been told: what is reported about the last one counts no more. */
export const withoutContent = (served: string | null): string => `${countOf(served ?? NONE) + 1}-`;
