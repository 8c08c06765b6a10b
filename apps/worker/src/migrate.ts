import 'reflect-metadata';
import { Matches } from 'class-validator';
import { loadSettings, POSTGRES_URL, POSTGRES_URL_WORDS, SettingsError } from '#config';
import { Database, UnusableDatabase } from '#entities';
import { migrateQueue } from '#jobs';

class MigrationSettings {
  @Matches(POSTGRES_URL, { message: `DATABASE_URL must be ${POSTGRES_URL_WORDS}` })
  DATABASE_URL!: string;
}

async function migrate(): Promise<void> {
  const { DATABASE_URL: url } = loadSettings(MigrationSettings, process.env);
  const settings = { url, applicationName: 'drawbridge-migrate', poolSize: 2 };
  const database = await new Database(settings).connect().catch((error: unknown) => {
    throw UnusableDatabase.unreachable(error);
  });
  try {
    const names = await database.migrate();
    await migrateQueue(url);
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
  process.exitCode = 1;
});
