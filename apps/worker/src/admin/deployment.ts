import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseUrlSettings, loadSettings } from '#config';
import { IdentityStores } from '#credentials';
import { EngineStore } from '#engine-store';
import { Database, type DatabaseSettings } from '#entities';
import { MasterKeys } from '#secrets';
import { TenantStores } from '#tenant-store';

type Connection = Partial<Pick<DatabaseSettings, 'url' | 'hasTimeouts'>>;

/** What the verbs read and write. */
export const stores = new TenantStores();
export const engineStore = new EngineStore();
export const identityStores = new IdentityStores();

/**
 * Connects a verb to the deployment's database for as long as it works.
 * @throws Error when there is none, or it cannot be reached
 */
export async function withDatabase<Result>(
  work: (database: Database) => Promise<Result>,
  { url = databaseUrl(), hasTimeouts = true }: Connection = {},
): Promise<Result> {
  const database = new Database({ url, hasTimeouts, applicationName: 'drawbridge-admin', poolSize: 2 });
  try {
    await database.connect();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw new Error(`The database cannot be reached (is it running?): ${message || code}`, { cause: error });
  }
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The master keys as the services have them. @throws Error naming MASTER_KEYS and its form */
export const masterKeys = (): MasterKeys => MasterKeys.parse(process.env['MASTER_KEYS'] ?? '');

/** Path of the key that audit checkpoints are signed with; null: the deployment's is not known here. */
export function signingKeyFile(): string | null {
  const { AUDIT_SIGNING_KEY_FILE, DATABASE_URL } = process.env;
  if (AUDIT_SIGNING_KEY_FILE) return AUDIT_SIGNING_KEY_FILE;
  const own = join(dataDir(), 'audit-signing-key.pem');
  return !DATABASE_URL && existsSync(own) ? own : null;
}

const dataDir = (): string => process.env['DATA_DIR'] || '.data';

function databaseUrl(): string {
  if (process.env['DATABASE_URL']) return loadSettings(DatabaseUrlSettings, process.env).DATABASE_URL;
  const url = embeddedDatabaseUrl(dataDir());
  if (url !== null) return url;
  throw new Error(
    'There is no database: start the service with npm start, or set DATABASE_URL to the address of its PostgreSQL database.',
  );
}

/**
 * The database of a running `npm start`.
 * @param folder its DATA_DIR
 * @returns null when none was ever started there, or its files belong to another user
 */
export function embeddedDatabaseUrl(folder: string): string | null {
  const desired = join(folder, 'postgres');
  // recorded by the launcher when PostgreSQL could not use the desired folder
  const location = textOf(join(desired, 'data-location.json'));
  const { data = desired } = location === null ? {} : (JSON.parse(location) as { data?: string });
  const [password, port] = [textOf(join(data, 'password')), textOf(join(data, 'port'))];
  return password && port ? `postgresql://postgres:${password}@127.0.0.1:${port}/drawbridge` : null;
}

/** @returns null when there is no such file, or it belongs to another user */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
}
