import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listenOnce } from '../ports';
import { commandLineOf, hasEnded, signal } from '../processes';
import { readIfPresent } from '../read-if-present';
import type { Binaries } from './binaries';
import { changeOwner } from './data-folder';
import type { RunAs } from './system-user';

/** Marker file that exists from before initdb starts until it has succeeded; contains the process id. */
const UNFINISHED = 'initdb-unfinished';

/** Since version 17 PostgreSQL brings one that no update of the system changes. */
const hasOwnLocale = (version: string): boolean => Number.parseInt(version, 10) >= 17;

/** A PostgreSQL data directory with its password and last port, in one folder. */
export class Cluster {
  readonly data: string;

  constructor(
    private readonly folder: string,
    private readonly binaries: Binaries,
    private readonly runAs: RunAs,
  ) {
    this.data = join(folder, 'cluster');
  }

  /** The superuser's password: generated once, stored next to the data. */
  get password(): string {
    const stored = this.read('password');
    if (stored) return stored;
    const generated = randomBytes(24).toString('base64url');
    this.write('password', generated);
    return generated;
  }

  /** Whether initdb has succeeded. */
  get isInitialised(): boolean {
    return existsSync(join(this.data, 'PG_VERSION')) && this.read(UNFINISHED) === undefined;
  }

  /** Starts initdb on an empty folder; call `markInitialised` when it succeeds. */
  async spawnInitdb(): Promise<ChildProcess> {
    await this.killPreviousInitdb();
    rmSync(this.data, { recursive: true, force: true });
    void this.password;
    this.write(UNFINISHED, '');
    const locale = hasOwnLocale(this.binaries.version)
      ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
      : ['--locale=C.UTF-8'];
    const access = [
      '--auth=scram-sha-256',
      '--username=postgres',
      `--pwfile=${join(this.folder, 'password')}`,
    ];
    const options = [`--pgdata=${this.data}`, '--no-sync', '--encoding=UTF8', ...locale, ...access];
    const child = this.spawn(this.binaries.initdb, options);
    this.write(UNFINISHED, String(child.pid ?? ''));
    return child;
  }

  /** An initdb whose parent was killed continues in the folder that is about to be emptied. */
  private async killPreviousInitdb(): Promise<void> {
    const pid = Number(this.read(UNFINISHED) ?? 0);
    if (!pid || !commandLineOf(pid).includes(this.data)) return;
    signal(-pid, 'SIGKILL');
    if (!(await hasEnded(pid, 5_000))) throw new Error(`An earlier initdb (process ${pid}) does not end.`);
  }

  markInitialised(): void {
    rmSync(join(this.folder, UNFINISHED));
  }

  /** Starts the server on 127.0.0.1. @param settings `name=value` of postgresql.conf */
  spawnServer(port: number, settings: string[]): ChildProcess {
    const all = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
    return this.spawn(this.binaries.postgres, [
      '-D',
      this.data,
      '-p',
      String(port),
      ...all.flatMap((one) => ['-c', one]),
    ]);
  }

  /** The port of the last run if it is free, else any free one. */
  async choosePort(): Promise<number> {
    const last = Number(this.read('port') ?? 0);
    return (last && (await bindable(last))) || (await bindable(0)) || 0;
  }

  storePort(port: number): void {
    this.write('port', String(port));
  }

  /** Runs in its own process group, so that a terminal's Ctrl-C does not stop the database before its clients. */
  private spawn(program: string, args: string[]): ChildProcess {
    return spawn(program, args, {
      ...this.runAs,
      cwd: '/',
      detached: true,
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  private read(name: string): string | undefined {
    return readIfPresent(join(this.folder, name))?.trim();
  }

  private write(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    changeOwner(path, this.runAs, 0o600);
  }
}

/** @returns the port bound, 0 when it is taken */
const bindable = (port: number): Promise<number> => listenOnce(port, '127.0.0.1').catch(() => 0);
