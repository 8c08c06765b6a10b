import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../apps/launcher/src/embedded-postgres';
import { Database } from '#entities';

/** The npm package of a version that is not supported: `.ci/postgres-versions` fetches one. */
const programs = process.env['TEST_OLD_POSTGRES_PROGRAMS'];

(programs === undefined ? describe.skip : describe)('A server that is too old', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-old-postgres-'));
  chmodSync(folder, 0o711);
  const server = new EmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    programs,
    onLog: () => undefined,
  });
  let database: Database;

  beforeAll(async () => {
    const { superuserUrl: url } = await server.start();
    database = new Database({ url, applicationName: 'old-servers', poolSize: 2 });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is refused by its version: by services, and before a migration touches it', async () => {
    const refusal = /PostgreSQL 14\.\d+: Drawbridge needs 15 or newer/;
    await expect(database.connectMigrated()).rejects.toThrow(refusal);
    await database.connect();
    try {
      await expect(database.migrate()).rejects.toThrow(refusal);
      expect(
        await database.autocommit.query('SELECT FROM pg_tables WHERE schemaname = $1', ['public']),
      ).toEqual([]);
    } finally {
      await database.close();
    }
  });
});
