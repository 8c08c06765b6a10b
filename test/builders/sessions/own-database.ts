import { Database } from '#entities';
import { cloneDatabase } from '../../harness/database/database';

/** A database for the tests of a file or of a `describe`: it is connected before them, and dropped after them. */
export function ownDatabase(poolSize: number): Database {
  const database = Object.create(Database.prototype) as Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const clone = await cloneDatabase();
    ({ drop } = clone);
    const connected = await new Database({ url: clone.url, applicationName: 'test', poolSize }).connect();
    Object.assign(database, connected);
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });
  return database;
}
