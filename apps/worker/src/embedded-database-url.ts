import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In DATA_DIR, created by the launcher. */
const SIGNING_KEY_FILE = 'audit-signing-key.pem';

/**
 * The database an operator's command uses: DATABASE_URL, else the embedded one of `npm start`.
 * @param env DATA_DIR defaults to `.data`
 * @returns null when there is neither
 */
export const commandDatabaseUrl = (env: NodeJS.ProcessEnv): string | null =>
  env['DATABASE_URL'] || embeddedDatabaseUrl(env['DATA_DIR'] || '.data');

/**
 * The embedded database of a running `npm start`.
 * @param dataDir its DATA_DIR
 * @returns null when none was ever started there, or its files belong to another user
 */
export function embeddedDatabaseUrl(dataDir: string): string | null {
  const desired = join(dataDir, 'postgres');
  try {
    const folder = readDataLocation(desired) ?? desired;
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8').trim();
    return `postgresql://postgres:${read('password')}@127.0.0.1:${read('port')}/drawbridge`;
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
}

/** The folder the launcher recorded when PostgreSQL could not use the desired one. */
function readDataLocation(desired: string): string | null {
  try {
    const location = JSON.parse(readFileSync(join(desired, 'data-location.json'), 'utf8')) as {
      data?: string;
    };
    return location.data ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Path of the key that `npm start` signs audit checkpoints with; null: there is none. */
export function embeddedSigningKey(env: NodeJS.ProcessEnv): string | null {
  const path = join(env['DATA_DIR'] || '.data', SIGNING_KEY_FILE);
  return existsSync(path) ? path : null;
}
