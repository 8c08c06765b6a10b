import 'reflect-metadata';
import { EXIT_CONFIGURATION, loadSettings, SettingsError } from '#config';
import { Database, UnusableDatabase } from '#entities';
import { migrateQueue } from '#jobs';
import { MigrateSettings } from './migrate.settings';

async function migrate(): Promise<void> {
  const given = loadSettings(MigrateSettings, process.env);
  const url = given.DATABASE_URL;
  const settings = { url, applicationName: 'drawbridge-migrate', poolSize: 2, hasTimeouts: false };
  const database = await new Database(settings).connect().catch((error: unknown) => {
    throw UnusableDatabase.unreachable(error);
  });
  try {
    const names = await database.migrate();
    await migrateQueue(url);
    if (given.DATABASE_SERVICE_URL !== undefined) {
      const { username, password } = new URL(given.DATABASE_SERVICE_URL);
      const role = { name: username, password: decodeURIComponent(password) };
      await database.grantService(role, given.LEDGER_RETENTION_MONTHS);
    }
    process.stdout.write(
      names.length === 0 ? 'The schema is up to date.\n' : `Migrated: ${names.join(', ')}\n`,
    );
  } finally {
    await database.close();
  }
}

migrate().catch((error: unknown) => {
  const known = error instanceof SettingsError || error instanceof UnusableDatabase;
  process.stderr.write(`${known ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = known ? EXIT_CONFIGURATION : 1;
});
