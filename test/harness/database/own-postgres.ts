import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgres } from '../../../apps/launcher/src/embedded-postgres';
import { migrate } from '../product/admin';
import type { ClonedDatabase } from './database';
import { freePort } from '../network/free-port';
import { serviceUrlOf } from './template';

const run = promisify(execFile);

/** A separate PostgreSQL with production durability, which a test can kill, back up and restore. */
export class OwnPostgres {
  private constructor(
    private readonly server: EmbeddedPostgres,
    private readonly folder: string,
    /** with the whole schema; dropping it ends the server */
    readonly database: ClonedDatabase,
  ) {}

  static async start(): Promise<OwnPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-own-postgres-'));
    // PostgreSQL may run as another user than this one, and has to get through to its own folder.
    chmodSync(folder, 0o711);
    const server = new EmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      programs: process.env['TEST_POSTGRES_PROGRAMS'],
      port: await freePort(),
      flags: ['max_connections=200'],
      onLog: () => undefined,
    });
    // an aborted run leaves no server behind
    const abandon = (): void => void server.kill();
    process.once('exit', abandon);
    await server.start();
    const url = await server.createDatabase('drawbridge');
    await migrate(url);
    const drop = async (): Promise<void> => {
      await server.stop();
      process.off('exit', abandon);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    };
    return new OwnPostgres(server, folder, { url, serviceUrl: serviceUrlOf(url), drop });
  }

  /** SIGKILL to the postmaster, and to nothing else. */
  kill(): void {
    const [pid] = readFileSync(join(this.cluster, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  /** Starts it at the same address; resolves when it accepts connections. */
  async startAgain(): Promise<void> {
    await this.server.start();
  }

  /** Takes a backup; disconnects all clients. */
  async save(): Promise<void> {
    await this.server.stop();
    await run('cp', ['-a', this.cluster, this.backup]);
    await this.server.start();
  }

  /** Restores the backup. */
  async restore(): Promise<void> {
    await this.server.stop();
    await run('rm', ['-rf', this.cluster]);
    await run('cp', ['-a', this.backup, this.cluster]);
    await this.server.start();
  }

  private get cluster(): string {
    return join(this.folder, 'postgres', 'cluster');
  }

  private get backup(): string {
    return join(this.folder, 'postgres', 'backup');
  }
}
