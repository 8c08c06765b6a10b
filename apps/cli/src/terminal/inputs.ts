import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { usageFailure } from '../exit-codes';
import { systemCode } from '../profiles/system-error';

/** Reads a file, or standard input for `-`. @param option that names it, for the error @throws CommandFailure */
export async function textFrom(path: string, option: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === '') throw error;
    throw usageFailure(`${option}: ${path} cannot be read (${systemCode(error)})`);
  }
}
