import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { constants as system, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../../apps/launcher/src/embedded-postgres';
import { stopOrphan } from '../../../apps/launcher/src/postgres/orphan';
import { codeOf, isRunning } from '../../../apps/launcher/src/processes';
import { currentMonth } from '../database/database';
import { TEMPLATE } from '../database/template';
import { migrate } from './admin';
import { joinApps } from './one-file-apps';

const ROOT = resolve(__dirname, '../../..');
const SPACE_NEEDED = 500 * 1024 * 1024;
const PREFIX = 'drawbridge-test-';

let server: Promise<() => Promise<void>> | undefined;
let users = 0;

/**
 * Builds what is stale and starts one PostgreSQL for the whole run, whose projects share it. Suites read its superuser URL from
 * TEST_POSTGRES_URL. TEST_POSTGRES_PROGRAMS names the package of another version: `.ci/postgres-versions`.
 * @returns what stops the server and deletes its data, when its last user calls it
 * @throws Error when the build, the server or the migrations fail
 */
export default async function acquireTestServer(): Promise<() => Promise<void>> {
  users += 1;
  server ??= startTestServer();
  const stop = await server;
  return async () => {
    users -= 1;
    if (users === 0) await stop();
  };
}

async function startTestServer(): Promise<() => Promise<void>> {
  build();
  await joinApps();
  await removeLeftovers();
  const folder = mkdtempSync(join(fastestFolder(), `${PREFIX}${process.pid}-`));
  // PostgreSQL may run as another user than this one, and has to get through to its own folder.
  chmodSync(folder, 0o711);
  const postgres = new EmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    programs: process.env['TEST_POSTGRES_PROGRAMS'],
    durable: false,
    flags: ['max_connections=800'],
    onLog: () => undefined,
  });
  const forget = abandonOnExit(() => {
    void postgres.kill();
    remove(folder);
  });
  const stop = async (): Promise<void> => {
    await postgres.stop();
    forget();
    remove(folder);
  };
  try {
    const { superuserUrl } = await postgres.start();
    await makeTemplate(await postgres.createDatabase(TEMPLATE), superuserUrl);
    process.env['TEST_POSTGRES_URL'] = superuserUrl;
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

function build(): void {
  const { status } = spawnSync(process.execPath, ['apps/launcher/bin/drawbridge.mjs', 'prepare'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The build failed, so there is nothing to test: see above.');
}

/** Runs the shipped migrations, then closes the template: a connection to it would make cloning fail. */
async function makeTemplate(url: string, superuserUrl: string): Promise<void> {
  process.env['TEST_TEMPLATE_MONTH'] = currentMonth();
  await migrate(url);
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query(`ALTER DATABASE ${TEMPLATE} WITH ALLOW_CONNECTIONS false`);
  } finally {
    await client.end();
  }
}

/** The teardown is skipped when a run is interrupted. @returns a function that cancels this */
function abandonOnExit(abandon: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (signal: (typeof signals)[number]): never => process.exit(128 + system.signals[signal]);
  process.once('exit', abandon);
  for (const signal of signals) process.once(signal, end);
  return () => {
    process.off('exit', abandon);
    for (const signal of signals) process.off(signal, end);
  };
}

/** Removes servers and data of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const base of new Set(['/dev/shm', tmpdir()])) {
    for (const name of namesIn(base)) {
      const pid = Number(name.startsWith(PREFIX) && name.slice(PREFIX.length).split('-')[0]);
      if (!pid || isRunning(pid) || !isWritable(join(base, name))) continue;
      await stopOrphan(join(base, name, 'postgres', 'cluster'));
      remove(join(base, name));
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EACCES') return [];
    throw error;
  }
}

/** In memory when there is enough: a clone copies 8 MB. */
function fastestFolder(): string {
  const memory = '/dev/shm';
  if (!isWritable(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > SPACE_NEEDED ? memory : tmpdir();
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A server that is being stopped may still write for a moment. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}
