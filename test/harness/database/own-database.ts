import { Database } from '#entities';
import { cloneDatabase } from './database';

export type OwnDatabase = Database & { readonly url: string };

/**
 * A database for the tests of a file or of a `describe`: it is connected before them, and dropped after them; or before and
 * after each of them. Its statements take as long as they take: a busy machine may need a minute for a test's many rows.
 */
export function ownDatabase(poolSize: number, { forEachTest = false } = {}): OwnDatabase {
  const database = Object.create(Database.prototype) as OwnDatabase;
  let drop: () => Promise<void>;
  (forEachTest ? beforeEach : beforeAll)(async () => {
    const clone = await cloneDatabase();
    ({ drop } = clone);
    const settings = { url: clone.url, applicationName: 'test', poolSize, hasTimeouts: false };
    Object.assign(database, await new Database(settings).connect(), { url: clone.url });
  });
  (forEachTest ? afterEach : afterAll)(async () => {
    await database.close();
    await drop();
  });
  return database;
}
