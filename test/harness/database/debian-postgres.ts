import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { migrate } from '../product/admin';
import type { ClonedDatabase } from './database';
import { freePort } from '../network/free-port';
import { neededInCi } from '../needed-in-ci';
import { serviceUrlOf } from './template';

const INSTALLED = '/usr/lib/postgresql';
const ROOT = resolve(__dirname, '../../..');
const run = promisify(execFile);

/** The programs of the newest PostgreSQL that Debian's packages have installed; null: there is none. */
function programs(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
  const folders = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(INSTALLED, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'pg_restore'))) ?? null;
}

export const hasDebianPostgres = neededInCi('postgresql', programs() !== null);

/** A cluster of Debian's PostgreSQL on 127.0.0.1, and on a socket in its folder. */
export interface DebianCluster {
  readonly folder: string;
  /** of its programs */
  readonly bin: string;
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** @param auth how connections prove who they are, as initdb takes it; the socket trusts everybody */
export async function startDebianCluster(superuser: string, auth: string): Promise<DebianCluster> {
  const bin = programs()!;
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-debian-postgres-'));
  chmodSync(folder, 0o711);
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres']).stdout);
  const user = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'cluster');
  const port = await freePort();
  const as = { ...user, cwd: '/' };
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', superuser, '--auth-local=trust', `--auth-host=${auth}`],
    as,
  );
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=200`;
  await run(join(bin, 'pg_ctl'), ['-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start'], as);
  const stop = async (): Promise<void> => {
    await run(join(bin, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], as);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  return { folder, bin, port, stop };
}

/** A PostgreSQL server with the programs that dump and restore, under the names that docker compose gives them. */
export class DebianPostgres {
  private constructor(
    private readonly folder: string,
    /** with the whole schema; dropping it ends the server */
    readonly database: ClonedDatabase,
    /** what stands for `docker compose`: runs what would run in a container on this machine */
    readonly compose: string,
  ) {}

  static async start(): Promise<DebianPostgres> {
    const { folder, bin, port, stop } = await startDebianCluster('drawbridge', 'trust');
    await run(join(bin, 'createdb'), ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'drawbridge', 'drawbridge']);
    const url = `postgres://drawbridge@127.0.0.1:${port}/drawbridge`;
    const serviceUrl = serviceUrlOf(url);
    await migrate(url);
    const compose = join(folder, 'compose');
    writeFileSync(compose, composeIn(bin, port, url, serviceUrl), { mode: 0o755 });
    return new DebianPostgres(folder, { url, serviceUrl, drop: stop }, compose);
  }

  /** A path for a dump. */
  file(name: string): string {
    return join(this.folder, name);
  }
}

/** The test stops and starts the services itself. */
const composeIn = (bin: string, port: number, url: string, serviceUrl: string): string => `#!/bin/sh
set -eu
export PATH="${bin}:$PATH" PGHOST=127.0.0.1 PGPORT=${port} DATABASE_URL='${url}' DATABASE_SERVICE_URL='${serviceUrl}'
cd ${ROOT}
case "$*" in
  'stop api worker' | 'up --detach --wait api worker') exit 0 ;;
  'exec -T postgres '*) shift 3; exec "$@" ;;
  'run --rm -T migrate') exec node dist/apps/worker/src/admin/main.js migrate ;;
  'run --rm -T migrate drawbridge-admin '*) shift 5; exec node dist/apps/worker/src/admin/main.js "$@" ;;
esac
echo "compose $*: unknown" >&2
exit 3
`;
