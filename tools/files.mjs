import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. */
export const ROOT = resolve(fileURLToPath(import.meta.url), '../..');

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
 * @param {string} folder relative to the root, as are the paths returned
 * @returns {string[]}
 */
export const filesBelow = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));

/** @returns {string} the release, as package.json names it */
export const readVersion = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
