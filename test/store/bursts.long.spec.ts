import { AccountStore } from '#tenant-store';
import { storedHost } from '../builders/resources/stored-host';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

/** Longer than a connection may take to open. */
const BUSY_MS = 6000;

describe('Many requests at once', () => {
  const database = ownDatabase(2);
  const accounts = new AccountStore();

  it('wait in line for a connection', async () => {
    let begun = 0;
    const busy = (): Promise<void> =>
      database.transaction(async (tx) => {
        begun += 1;
        await tx.query('SELECT pg_sleep($1)', [BUSY_MS / 1000]);
      });
    const all = [busy(), busy()];
    await until('all connections are busy', async () => begun === all.length);
    expect(await database.autocommit.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await Promise.all(all);
  });

  it('with one API key do not wait for the one that records its use', async () => {
    const { keyId, visit } = await storedHost(database);
    const principal = (): Promise<object | null> =>
      accounts.principalOfKey(database.autocommit, visit.name, '192.0.2.7');
    const lastUse = async (): Promise<object> => {
      const [row] = await database.autocommit.query<[object]>(
        'SELECT last_used_at AS at, last_used_ip AS ip FROM api_keys WHERE id = $1',
        [keyId],
      );
      return row;
    };
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM api_keys WHERE id = $1 FOR NO KEY UPDATE', [keyId]);
      expect(await principal()).toMatchObject({ keyId });
    });
    expect(await lastUse()).toEqual({ at: null, ip: null });
    await principal();
    const used = await lastUse();
    expect(used).toMatchObject({ ip: '192.0.2.7' });
    await principal();
    expect(await lastUse()).toEqual(used);
  });
});
