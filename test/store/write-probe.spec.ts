import { WriteProbe } from '#entities';
import { ownDatabase } from '../harness/database/own-database';

describe('The write probe', () => {
  const database = ownDatabase(2);

  it('writes at most once a second', async () => {
    let written = 0;
    const query = (...given: [string]): Promise<unknown> => {
      written += 1;
      return database.autocommit.query(...given);
    };
    const probe = new WriteProbe({ autocommit: { query } as never });
    await Promise.all([probe.check(), probe.check(), probe.check()]);
    await probe.check();
    expect(written).toBe(1);
  });

  it('updates a single row', async () => {
    await new WriteProbe(database).check();
    await new WriteProbe(database).check();
    expect(await database.autocommit.query('SELECT id FROM write_probe')).toEqual([{ id: 1 }]);
  });
});
