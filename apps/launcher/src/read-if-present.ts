import { readFileSync } from 'node:fs';
import { codeOf } from './processes';

/** @returns undefined when there is no such file */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
