import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The database `npm start` runs, while it runs.
 * @param dataDir its DATA_DIR
 * @returns null when none was ever started there, or its files are another user's
 */
export function embeddedDatabaseUrl(dataDir: string): string | null {
  const kept = (name: string): string => readFileSync(join(dataDir, 'postgres', name), 'utf8').trim();
  try {
    return `postgresql://postgres:${kept('password')}@127.0.0.1:${kept('port')}/drawbridge`;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'EACCES') return null;
    throw error;
  }
}
