import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { codeOf } from './processes';

/**
 * Reads a file that holds one JSON object.
 * @returns undefined when there is no such file
 * @throws Error naming the file when it holds anything else
 */
export function readJsonObject(path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isObject(value)) throw new Error('it holds no object');
    return value;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Atomically writes a file that only its owner can read: after a crash it has the old or the new content. */
export function writeJsonObject(path: string, value: object): void {
  const partial = `${path}.${process.pid}.partial`;
  const file = openSync(partial, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
}

/** A text field of untrusted JSON; undefined when it is missing or of another type. */
export function textIn(value: unknown, field: string): string | undefined {
  const found = isObject(value) ? value[field] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
