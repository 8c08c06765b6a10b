import { ownDatabase } from '../harness/database/own-database';

describe('The migrations', () => {
  const database = ownDatabase(2);

  it('leave nothing that the entities declare otherwise', async () => {
    expect(await database.schemaDifference()).toEqual([]);
  });

  it('see the difference when there is one', async () => {
    await database.autocommit.query('ALTER TABLE users DROP COLUMN last_login_at');
    expect(await database.schemaDifference()).toEqual([expect.stringContaining('last_login_at')]);
    await database.autocommit.query('ALTER TABLE users ADD COLUMN last_login_at timestamptz');
  });
});
