import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../apps/launcher/src/embedded-postgres';
import { stopOrphan } from '../../apps/launcher/src/postgres/orphan';
import { isRunning } from '../../apps/launcher/src/processes';

interface TestServer {
  postgres: EmbeddedPostgres;
  superuserUrl: string;
  folder: string;
}

/** Memory where there is a memory file system: the tests' databases need not outlive them. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const PREFIX = 'drawbridge-test-';

/** Jest loads setup and teardown in separate module registries: only the process itself is common to both. */
const held = globalThis as { drawbridgeTestServer?: TestServer | undefined };

/**
 * Starts a PostgreSQL that forgets everything, and sees to it that it ends with this process.
 * @throws Error with the server's last words when it does not start
 */
export async function startTestServer(): Promise<TestServer> {
  await removeAbandoned();
  const folder = mkdtempSync(join(BASE, `${PREFIX}${process.pid}-`));
  const postgres = new EmbeddedPostgres({
    dataDir: folder,
    durable: false,
    flags: ['max_connections=400', 'shared_buffers=64MB', 'max_wal_size=256MB'],
    onLog: () => undefined,
  });
  endWithProcess(folder);
  const { superuserUrl } = await postgres.start();
  held.drawbridgeTestServer = { postgres, superuserUrl, folder };
  return held.drawbridgeTestServer;
}

/** Ends the server and deletes its data; without one it does nothing. */
export async function stopTestServer(): Promise<void> {
  const server = held.drawbridgeTestServer;
  held.drawbridgeTestServer = undefined;
  if (!server) return;
  await server.postgres.stop();
  rmSync(server.folder, { recursive: true, force: true });
}

/** A run that is interrupted or calls process.exit never gets to its teardown; the data is not worth an orderly end. */
function endWithProcess(folder: string): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => process.exit(128 + constants.signals[name]));
  }
  process.once('exit', () => {
    held.drawbridgeTestServer?.postgres.abandon();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
}

/** Ends and deletes what runs left behind that were killed outright. */
async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(BASE).filter((entry) => entry.startsWith(PREFIX))) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0]);
    if (pid > 0 && isRunning(pid)) continue;
    const folder = join(BASE, name);
    await stopOrphan(join(folder, 'cluster'));
    rmSync(folder, { recursive: true, force: true });
  }
}
