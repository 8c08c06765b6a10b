import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** @returns null when there is no such file. @throws Error of the disk */
export function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Replaces a file atomically: after a power cut it is the old one or the new one. Only the agent's user may read it.
 * @throws Error of the disk
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    chmodSync(draft, 0o600);
    // an operator runs commands as root, and the agent has to read what they wrote
    const { uid, gid } = statSync(folder);
    if (process.getuid?.() === 0) await file.chown(uid, gid);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  // the rename has to survive a power cut too
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
