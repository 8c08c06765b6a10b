import type { Command } from 'commander';
import { loadSettings } from '#config';
import { migrateQueue } from '#jobs';
import { withDatabase } from './deployment';
import { MigrateSettings } from './migrate.settings';
import { print, run, verb } from './program';

/** Brings the tables up to date, and the rights of the role that API and workers connect with. */
export function addMigrate(program: Command): void {
  verb(
    program,
    'migrate',
    'bring the tables up to date, before the services of a release start',
    [''],
    `DATABASE_URL names the owner of the tables. DATABASE_SERVICE_URL is the DATABASE_URL of API and workers: its role
is created and granted its rights. Without it they connect as the owner.`,
  ).action(run(migrate));
}

function migrate(): Promise<void> {
  const settings = loadSettings(MigrateSettings, process.env);
  const { DATABASE_URL: url, DATABASE_SERVICE_URL: serviceUrl } = settings;
  return withDatabase(
    async (database) => {
      const names = await database.migrate();
      await migrateQueue(url);
      if (serviceUrl !== undefined) {
        const { username, password } = new URL(serviceUrl);
        const role = { name: username, password: decodeURIComponent(password) };
        await database.grantService(role, settings.LEDGER_RETENTION_MONTHS);
      }
      print(names.length === 0 ? 'The schema is up to date.' : `Migrated: ${names.join(', ')}`);
    },
    { url, hasTimeouts: false },
  );
}
