import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts, freePort } from '../network/free-port';
import { neededInCi } from '../needed-in-ci';
import { until } from '../until';

/** Whether PgBouncer is installed. Without it, the tests report that they were skipped. */
export const hasPgBouncer = neededInCi('pgbouncer', spawnSync('pgbouncer', ['--version']).status === 0);

export const sayNoPgBouncer = (): boolean =>
  process.stderr.write('\n*** pgbouncer is not on the PATH: connection poolers WERE NOT TESTED ***\n\n');

export type PoolMode = 'session' | 'transaction' | 'statement';

/** A PgBouncer with its defaults before a database. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    /** of the database, through the pooler */
    readonly url: string,
  ) {}

  static async before(database: string, mode: PoolMode): Promise<PgBouncer> {
    const { hostname, port, username, password, pathname } = new URL(database);
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-pgbouncer-'));
    // started by root, it runs as another user
    chmodSync(folder, 0o755);
    const listenPort = await freePort();
    writeFileSync(join(folder, 'users.txt'), `"${username}" "${decodeURIComponent(password)}"\n`);
    writeFileSync(
      join(folder, 'pgbouncer.ini'),
      `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = 60
${process.getuid?.() === 0 ? 'user = nobody' : ''}
`,
    );
    const child = spawn('pgbouncer', ['--quiet', join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
    await until('PgBouncer listens', () => accepts(listenPort));
    const url = new URL(`postgres://127.0.0.1:${listenPort}${pathname}`);
    Object.assign(url, { username, password });
    return new PgBouncer(child, folder, url.href);
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
