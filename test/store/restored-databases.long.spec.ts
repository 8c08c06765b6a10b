import { Client } from 'pg';
import { RestoreStore } from '#engine-store';
import { Database } from '#entities';
import { cloneDatabase, type ClonedDatabase } from '../harness/database/database';

describe('A database knows that it is a copy', () => {
  let original: ClonedDatabase;
  let copyUrl: string;
  const store = new RestoreStore();

  const on = async <Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> => {
    const database = await new Database({ url, applicationName: 'test', poolSize: 1 }).connect();
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  /** As a service does when it starts, with its role. */
  const noted = (url: string): Promise<boolean> =>
    on(url, (database) => database.transaction((tx) => store.note(tx, false)));
  const asOwner = async (statement: string): Promise<void> => {
    const client = new Client({
      connectionString: Object.assign(new URL(original.url), { pathname: '/postgres' }).href,
    });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const nameOf = (url: string): string => new URL(url).pathname.slice(1);

  beforeAll(async () => {
    original = await cloneDatabase();
    copyUrl = Object.assign(new URL(original.serviceUrl!), {
      pathname: `${new URL(original.url).pathname}_copy`,
    }).href;
  });
  afterAll(async () => {
    await asOwner(`DROP DATABASE IF EXISTS ${nameOf(copyUrl)} WITH (FORCE)`);
    await original.drop();
  });

  it('from its first statement on, until that is confirmed, and not again', async () => {
    expect(await noted(original.serviceUrl!)).toBe(false);
    expect(await noted(original.serviceUrl!)).toBe(false);
    await asOwner(`CREATE DATABASE ${nameOf(copyUrl)} TEMPLATE ${nameOf(original.url)}`);
    expect(await on(copyUrl, ({ autocommit }) => store.isRestored(autocommit))).toBe(true);
    expect(await on(copyUrl, ({ autocommit }) => store.find(autocommit))).toBe(null);
    expect(await noted(copyUrl)).toBe(true);
    expect(await noted(copyUrl)).toBe(true);
    expect(await on(copyUrl, ({ autocommit }) => store.find(autocommit))).toMatchObject({
      targets: 0,
      notCompared: [],
    });
    expect(await on(copyUrl, (database) => database.transaction((tx) => store.confirm(tx)))).toBe(true);
    expect(await on(copyUrl, (database) => database.transaction((tx) => store.confirm(tx)))).toBe(false);
    expect(await noted(copyUrl)).toBe(false);
    expect(await noted(original.serviceUrl!)).toBe(false);
  });
});
