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
  /** folder for the cluster, its password and its last port; made when absent */
  dataDir: string;
  /** the port of the last run or any free one when absent */
  port?: number;
  /** `name=value` settings of postgresql.conf */
  flags?: string[];
  /** false trades the data's safety in a crash of the machine for speed; true when absent */
  durable?: boolean;
  /** every line initdb and the server print */
  onLog: (line: string) => void;
  /** one line when programs or data are kept elsewhere, or an earlier server was ended */
  onNotice?: (line: string) => void;
  /** called when the server ends without `stop` */
  onUnexpectedExit?: (reason: string) => void;
}

const READY = 'database system is ready to accept connections';
const READY_TIMEOUT_MS = 120_000;
const ATTEMPTS = 10;

/** A PostgreSQL server of our own, from the programs that npm brings. Starts again after `stop`. */
export class EmbeddedPostgres {
  private running: ServerProcess | undefined;
  private isStopping = false;
  private url: URL | undefined;

  constructor(private readonly options: EmbeddedPostgresOptions) {}

  /**
   * Makes the cluster when it is not there, ends a server left over by a killed process, and starts a new one.
   * @throws Error with the server's last words when it does not come up
   */
  async start(): Promise<{ port: number; superuserUrl: string }> {
    this.isStopping = false;
    const cluster = await this.openCluster();
    if (!cluster.isInitialised) await this.initialise(cluster);
    const port = await this.startServer(cluster);
    cluster.rememberPort(port);
    this.url = new URL(`postgresql://postgres:${cluster.password}@127.0.0.1:${port}/postgres`);
    return { port, superuserUrl: this.url.href };
  }

  /** Creates the database unless it is there. @returns its URL */
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

  /** Disconnects clients, writes everything out and ends; harder after 5 s, and over within 10 s in any case. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running?.end([
      ['SIGINT', 5_000],
      ['SIGQUIT', 3_000],
      ['SIGKILL', 1_500],
    ]);
  }

  /** Ends at once, as in a crash: the next start recovers. The signal is sent before this returns, so an exit handler may call it. */
  async kill(): Promise<void> {
    this.isStopping = true;
    await this.running?.end([
      ['SIGQUIT', 1_500],
      ['SIGKILL', 1_500],
    ]);
  }

  private async openCluster(): Promise<Cluster> {
    const desired = resolve(this.options.dataDir);
    const say = this.options.onNotice ?? this.options.onLog;
    const runAs = chooseRunAs(join(desired, 'cluster'));
    const binaries = findBinaries(runAs, say);
    const { folder, former } = placeData(desired, runAs, say);
    for (const old of former) {
      await stopOrphan(join(old, 'cluster'));
      say(`Data of an earlier ${desired} is still in ${old}; delete it when nobody needs it.`);
    }
    const cluster = new Cluster(folder, binaries, runAs);
    if (await stopOrphan(cluster.data)) say('Ended a PostgreSQL that an earlier run left behind.');
    return cluster;
  }

  private async initialise(cluster: Cluster): Promise<void> {
    const initdb = this.follow(await cluster.spawnInitdb());
    const words = await initdb.ended;
    if (words !== 'exit code 0') throw initdb.failure(`initdb failed (${words})`);
    cluster.markInitialised();
  }

  /** Another process may take the port first, and memory of a killed server takes a moment to go: both are tried again. */
  private async startServer(cluster: Cluster): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const port = this.options.port ?? (await cluster.choosePort());
      const server = this.follow(cluster.spawnServer(port, this.settings()));
      const words = await becomesReady(server);
      if (words === undefined) {
        void server.ended.then((end) => this.reportEnd(server, end));
        return port;
      }
      const mayPass = server.hasSaid(/Address already in use|pre-existing shared memory block/);
      if (this.isStopping || !mayPass || attempt === ATTEMPTS)
        throw server.failure(`PostgreSQL did not start (${words})`);
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

  private reportEnd(server: ServerProcess, words: string): void {
    if (this.isStopping || this.running !== server) return;
    this.options.onUnexpectedExit?.(server.failure(`PostgreSQL ended (${words})`).message);
  }
}

/** @returns why the server did not become ready, undefined when it did */
async function becomesReady(server: ServerProcess): Promise<string | undefined> {
  const waiting = new AbortController();
  const words = await Promise.race([
    server.says(READY).then(() => undefined),
    server.ended,
    delay(READY_TIMEOUT_MS, `not ready within ${READY_TIMEOUT_MS / 1_000} s`, { signal: waiting.signal }),
  ]);
  waiting.abort();
  if (words !== undefined) await server.end([['SIGKILL', 1_500]]);
  return words;
}
