import { Database } from '#entities';
import { cloneDatabase } from '../harness/database';

describe('The migrations', () => {
  let database: Database;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const clone = await cloneDatabase();
    drop = clone.drop;
    database = await new Database({ url: clone.url, applicationName: 'schema-test', poolSize: 2 }).connect();
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });

  it('leave nothing that the entities declare otherwise', async () => {
    expect(await database.schemaDifference()).toEqual([]);
  });

  it('see the difference when there is one', async () => {
    await database.autocommit.query('ALTER TABLE users DROP COLUMN last_login_at');
    expect(await database.schemaDifference()).toEqual([expect.stringContaining('last_login_at')]);
    await database.autocommit.query('ALTER TABLE users ADD COLUMN last_login_at timestamptz');
  });
});
