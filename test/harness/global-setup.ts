import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { TEMPLATE_DATABASE } from './database';
import { startTestServer } from './test-server';

const ROOT = resolve(__dirname, '../..');

/**
 * Brings `dist` up to date, starts one PostgreSQL for the whole run and migrates the template that tests clone.
 * Jest calls this for every project that names it; the server is started once.
 * @throws Error when any of it fails: a run without its database has shown nothing
 */
export default async function globalSetup(): Promise<void> {
  if (process.env['TEST_POSTGRES_URL']) return;
  runNode(['apps/launcher/bin/drawbridge.mjs', 'prepare'], {});
  const server = await startTestServer();
  const url = await server.postgres.createDatabase(TEMPLATE_DATABASE);
  runNode(['dist/apps/worker/src/migrate.js'], { DATABASE_URL: url });
  process.env['TEST_POSTGRES_URL'] = server.superuserUrl;
}

function runNode(command: string[], env: Record<string, string>): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`node ${command.join(' ')} failed:\n${stdout}${stderr}`);
}
