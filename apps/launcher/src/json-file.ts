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

/** Writes a file that only its owner reads; after a crash it holds the old object or the new one, never half of one. */
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

/** A text field of an object read from outside; undefined when it is absent or of another type. */
export function textIn(value: unknown, field: string): string | undefined {
  const found = isObject(value) ? value[field] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** True for anything with named fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
