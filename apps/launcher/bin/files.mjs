import { readFileSync } from 'node:fs';

/**
 * @param {unknown} error
 * @returns {string} the system code of an error, such as ENOENT; empty for anything else
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

/**
 * The message for a checkout that cannot be written.
 * @param {unknown} error
 * @param {string} root
 * @returns {string | undefined} undefined for any other error
 */
export function unwritableMessage(error, root) {
  const code = codeOf(error);
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return undefined;
  return `The folder ${root} cannot be written (${code}): Drawbridge installs its packages and builds into it.\nMake it writable for this user, or copy it to a folder that is.`;
}
