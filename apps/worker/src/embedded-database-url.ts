import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In DATA_DIR, made by the launcher. */
const SIGNING_KEY_FILE = 'audit-signing-key.pem';

/**
 * The database an operator's command works on: DATABASE_URL's, else the one `npm start` runs.
 * @param env may hold DATA_DIR, `.data` without it
 * @returns null when neither is there
 */
export const commandDatabaseUrl = (env: NodeJS.ProcessEnv): string | null =>
  env['DATABASE_URL'] || embeddedDatabaseUrl(env['DATA_DIR'] || '.data');

/** What to tell an operator when there is none. */
export const NO_DATABASE =
  'There is no database: start the service with npm start, or set DATABASE_URL to the address of its PostgreSQL database.';

/**
 * The database `npm start` runs, while it runs.
 * @param dataDir its DATA_DIR
 * @returns null when none was ever started there, or its files are another user's
 */
export function embeddedDatabaseUrl(dataDir: string): string | null {
  const desired = join(dataDir, 'postgres');
  try {
    const folder = movedTo(desired) ?? desired;
    const kept = (name: string): string => readFileSync(join(folder, name), 'utf8').trim();
    return `postgresql://postgres:${kept('password')}@127.0.0.1:${kept('port')}/drawbridge`;
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
}

/** Where the launcher noted the data to be when PostgreSQL could not reach the desired folder. */
function movedTo(desired: string): string | null {
  try {
    const note = JSON.parse(readFileSync(join(desired, 'data-location.json'), 'utf8')) as { data?: string };
    return note.data ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The file of the key that `npm start` signs audit checkpoints with; null: there is none. */
export function embeddedSigningKey(env: NodeJS.ProcessEnv): string | null {
  const path = join(env['DATA_DIR'] || '.data', SIGNING_KEY_FILE);
  return existsSync(path) ? path : null;
}
