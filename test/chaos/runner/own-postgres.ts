import { execFile } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../../apps/launcher/src/embedded-postgres';
import { freePort } from '../../harness/network/free-port';
import { serviceUrlOf } from '../../harness/database/template';
import { until } from '../../harness/until';

const ROOT = resolve(__dirname, '../../..');
const TMPFS = 0x01021994;

/** A separate durable PostgreSQL that can be killed: on disk, with every commit flushed. */
export class OwnPostgres {
  private constructor(
    private readonly folder: string,
    private readonly server: EmbeddedPostgres,
    readonly url: string,
  ) {
    process.once('exit', this.abandon);
  }

  /** Starts it and runs the product's migrations from the build. */
  static async start(): Promise<OwnPostgres> {
    const folder = await mkdtemp(join(onDisk(), 'drawbridge-chaos-'));
    // the server may run as a different user
    await chmod(folder, 0o755);
    const server = new EmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      // the severable connections of the processes keep this port across restarts
      port: await freePort(),
      flags: ['max_connections=200', 'restart_after_crash=off'],
      onLog: () => undefined,
    });
    await server.start();
    const url = await server.createDatabase('drawbridge');
    await migrate(url);
    return new OwnPostgres(folder, server, url);
  }

  /** SIGKILL to the postmaster. Resolves after its exit. */
  async kill(): Promise<void> {
    const postmaster = await this.postmaster();
    process.kill(postmaster, 'SIGKILL');
    await until('the postmaster is gone', () => Promise.resolve(!exists(postmaster)));
  }

  /** After `kill`: it recovers from its WAL, on the same port. */
  async startAgain(): Promise<void> {
    await this.server.start();
  }

  async stop(): Promise<void> {
    process.off('exit', this.abandon);
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async postmaster(): Promise<number> {
    const client = new Client({ connectionString: this.url });
    // the connection ends when the server is killed
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: string }>(
      `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid`,
    );
    await client.end();
    return Number(rows[0]!.pid);
  }

  /** The server has its own process group: it must be ended explicitly when this process is interrupted. */
  private readonly abandon = (): void => {
    void this.server.kill();
    rmSync(this.folder, { recursive: true, force: true });
  };
}

/** Runs the product's migrations from the build, as the owner. @param release folder of another release */
export async function migrate(url: string, release = ROOT): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  await promisify(execFile)(process.execPath, ['dist/apps/worker/src/admin/main.js', 'migrate'], {
    cwd: release,
    env: { PATH, HOME, DATABASE_URL: url, DATABASE_SERVICE_URL: serviceUrlOf(url) },
  });
}

/** A folder in memory would hide the cost of commits. */
export const onDisk = (): string => (statfsSync(tmpdir()).type === TMPFS ? '/var/tmp' : tmpdir());

/** A zombie counts as existing, as it does for PostgreSQL's lock file. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
