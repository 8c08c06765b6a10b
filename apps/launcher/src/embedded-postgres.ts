import type { ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { findBinaries } from './postgres/binaries';
import { Cluster } from './postgres/cluster';
import { placeData } from './postgres/data-folder';
import { stopOrphan } from './postgres/orphan';
import { ServerProcess } from './postgres/server-process';
import { chooseRunAs } from './postgres/system-user';

export interface EmbeddedPostgresOptions {
  /** folder for the cluster, its password and its last port; created when missing */
  dataDir: string;
  /** folder of the npm package with its programs; default: the one in node_modules */
  programs?: string | undefined;
  /** default: the port of the last run, or any free one */
  port?: number;
  /** `name=value` settings of postgresql.conf */
  flags?: string[];
  /** false: faster, but a crash of the machine may lose data; default true */
  durable?: boolean;
  /** receives every output line of initdb and the server */
  onLog: (line: string) => void;
  /** receives a line when programs or data are in another folder, or an earlier server was stopped */
  onNotice?: (line: string) => void;
  /** called when the server exits without `stop` */
  onUnexpectedExit?: (reason: string) => void;
}

const READY = 'database system is ready to accept connections';
const READY_TIMEOUT_MS = 120_000;
const MAX_START_ATTEMPTS = 10;

/** A PostgreSQL server run from the binaries of an npm package. Can be started again after `stop`. */
export class EmbeddedPostgres {
  private running: ServerProcess | undefined;
  private isStopping = false;
  private url: URL | undefined;

  constructor(private readonly options: EmbeddedPostgresOptions) {}

  /**
   * Creates the cluster when it is missing, stops a server left behind by a killed process, and starts a new one.
   * @throws Error with the server's last output when it does not become ready
   */
  async start(): Promise<{ port: number; superuserUrl: string }> {
    this.isStopping = false;
    const cluster = await this.openCluster();
    if (!cluster.isInitialised) await this.initialise(cluster);
    const port = await this.startServer(cluster);
    cluster.storePort(port);
    this.url = new URL(`postgresql://postgres:${cluster.password}@127.0.0.1:${port}/postgres`);
    return { port, superuserUrl: this.url.href };
  }

  /** Creates the database if it is missing. @returns its URL */
  async createDatabase(name: string): Promise<string> {
    if (!this.url) throw new Error('PostgreSQL has not been started.');
    const client = new Client({ connectionString: this.url.href, connectionTimeoutMillis: 10_000 });
    await client.connect();
    try {
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
      if (found.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
    } finally {
      await client.end();
    }
    return Object.assign(new URL(this.url), { pathname: `/${name}` }).href;
  }

  /** Fast shutdown; after 5 s immediate, after 8 s SIGKILL. Ends within 10 s in any case. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running?.end([
      ['SIGINT', 5_000],
      ['SIGQUIT', 3_000],
      ['SIGKILL', 1_500],
    ]);
  }

  /**
   * Immediate shutdown, as in a crash: the next start recovers. The signal is sent synchronously, so an exit handler
   * may call it.
   */
  async kill(): Promise<void> {
    this.isStopping = true;
    await this.running?.end([
      ['SIGQUIT', 1_500],
      ['SIGKILL', 1_500],
    ]);
  }

  private async openCluster(): Promise<Cluster> {
    const desired = resolve(this.options.dataDir);
    const print = this.options.onNotice ?? this.options.onLog;
    const runAs = chooseRunAs(join(desired, 'cluster'));
    const binaries = findBinaries(runAs, print, this.options.programs);
    const { folder, former } = placeData(desired, runAs, print);
    for (const old of former) {
      await stopOrphan(join(old, 'cluster'));
      print(`Data of an earlier ${desired} is still in ${old}; delete it when it is no longer needed.`);
    }
    const cluster = new Cluster(folder, binaries, runAs);
    if (await stopOrphan(cluster.data)) print('Ended a PostgreSQL that an earlier run left behind.');
    return cluster;
  }

  private async initialise(cluster: Cluster): Promise<void> {
    const initdb = this.follow(await cluster.spawnInitdb());
    const exit = await initdb.ended;
    if (exit !== 'exit code 0') throw initdb.failure(`initdb failed (${exit})`);
    cluster.markInitialised();
  }

  /** Retries when another process took the port first, or the shared memory of a killed server is not yet released. */
  private async startServer(cluster: Cluster): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const port = this.options.port ?? (await cluster.choosePort());
      const server = this.follow(cluster.spawnServer(port, this.settings()));
      const problem = await waitUntilReady(server);
      if (problem === undefined) {
        void server.ended.then((exit) => this.reportExit(server, exit));
        return port;
      }
      const isRetryable = server.hasPrinted(/Address already in use|pre-existing shared memory block/);
      if (this.isStopping || !isRetryable || attempt === MAX_START_ATTEMPTS)
        throw server.failure(`PostgreSQL did not start (${problem})`);
      await delay(200);
    }
  }

  private settings(): string[] {
    const fast = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];
    return [...(this.options.durable === false ? fast : []), ...(this.options.flags ?? [])];
  }

  private follow(child: ChildProcess): ServerProcess {
    this.running = new ServerProcess(child, this.options.onLog);
    if (this.isStopping) void this.kill();
    return this.running;
  }

  private reportExit(server: ServerProcess, exit: string): void {
    if (this.isStopping || this.running !== server) return;
    this.options.onUnexpectedExit?.(server.failure(`PostgreSQL ended (${exit})`).message);
  }
}

/** @returns why the server did not become ready, undefined when it did */
async function waitUntilReady(server: ServerProcess): Promise<string | undefined> {
  const waiting = new AbortController();
  const problem = await Promise.race([
    server.waitForOutput(READY).then(() => undefined),
    server.ended,
    delay(READY_TIMEOUT_MS, `not ready within ${READY_TIMEOUT_MS / 1_000} s`, { signal: waiting.signal }),
  ]);
  waiting.abort();
  if (problem !== undefined) await server.end([['SIGKILL', 1_500]]);
  return problem;
}
