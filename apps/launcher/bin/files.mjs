import { readFileSync } from 'node:fs';

/**
 * @param {unknown} error
 * @returns {string} the system's code of an error, such as ENOENT; empty for anything else
 */
export const codeOf = (error) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/**
 * @param {string} path
 * @returns {string | undefined} the text of a file, undefined when there is none
 */
export function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
