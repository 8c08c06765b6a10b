import 'reflect-metadata';
import { loadSettings, SettingsError } from '#config';
import { Database } from '#entities';
import { migrateQueue } from '#jobs';
import { IsNotEmpty, IsString } from 'class-validator';

class MigrationSettings {
  @IsString({ message: 'DATABASE_URL must be the address of a PostgreSQL database' })
  @IsNotEmpty({ message: 'DATABASE_URL must be the address of a PostgreSQL database' })
  DATABASE_URL!: string;
}

async function migrate(): Promise<void> {
  const { DATABASE_URL: url } = loadSettings(MigrationSettings, process.env);
  const database = await new Database({ url, applicationName: 'drawbridge-migrate', poolSize: 2 }).connect();
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
  process.stderr.write(
    `${error instanceof SettingsError ? error.message : String((error as Error).stack)}\n`,
  );
  process.exitCode = 1;
});
