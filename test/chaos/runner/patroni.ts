import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { chooseRunAs } from '../../../apps/launcher/src/postgres/system-user';
import { freePort } from '../../harness/network/free-port';
import { neededInCi } from '../../harness/needed-in-ci';
import { until } from '../../harness/until';
import { migrate, onDisk } from './own-postgres';

const BINARIES = '/usr/lib/postgresql/15/bin';
const PROGRAMS = ['patroni', 'etcd', 'haproxy', `${BINARIES}/postgres`];
/** each answer takes Patroni a query */
const ASK_INTERVAL_MS = 200;
const WHOLE_TIMEOUT_MS = 120_000;

/** Whether Patroni and what it needs are installed. Without them, the tests report that they were skipped. */
export const hasPatroni = neededInCi(
  'patroni, etcd, haproxy or postgresql-15',
  PROGRAMS.every((program) => spawnSync('which', [program]).status === 0),
);

interface Node {
  readonly name: string;
  readonly postgres: number;
  readonly rest: number;
  readonly folder: string;
  patroni?: ChildProcess;
}

/** PostgreSQL with a leader and synchronous replicas under Patroni, behind an HAProxy that follows the leader. */
export class PatroniCluster {
  private readonly others: ChildProcess[] = [];
  private readonly nodes: Node[] = [];
  private killed: Node | null = null;
  private readonly runAs = chooseRunAs('/nonexistent');

  private constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {
    process.once('exit', this.abandon);
  }

  /** Starts it with the product's schema. @param ttl seconds after which a silent leader is replaced */
  static async start(nodes: number, ttl: number): Promise<PatroniCluster> {
    const folder = mkdtempSync(join(onDisk(), 'drawbridge-patroni-'));
    const cluster = new PatroniCluster(folder, await freePort());
    if (cluster.runAs.uid) chownSync(folder, cluster.runAs.uid, cluster.runAs.gid);
    const [client, peer] = [await freePort(), await freePort()];
    cluster.others.push(cluster.run('etcd', etcdOptions(join(folder, 'etcd'), client, peer)));
    for (let index = 0; index < nodes; index += 1) await cluster.addNode(`node${index}`, client, ttl);
    writeFileSync(join(folder, 'haproxy.cfg'), haproxy(cluster.port, cluster.nodes));
    cluster.others.push(cluster.run('haproxy', ['-f', join(folder, 'haproxy.cfg')]));
    await cluster.untilWhole();
    const server = new Client({ connectionString: cluster.urlOf('postgres') });
    await server.connect();
    await server.query('CREATE DATABASE drawbridge');
    await server.end();
    await migrate(cluster.url);
    return cluster;
  }

  /** through HAProxy */
  get url(): string {
    return this.urlOf('drawbridge');
  }

  /** Hands the leadership to a synchronous replica, as for maintenance. Resolves when that one accepts writes. */
  async switchover(): Promise<void> {
    const leader = await this.leader();
    const file = join(leader.folder, 'patroni.json');
    await promisify(execFile)('patronictl', ['-c', file, 'switchover', '--force']);
    await this.leader(leader);
  }

  /** SIGKILL to every process of the leader at once, as when its machine is lost. Resolves when another leader accepts writes. */
  async kill(): Promise<void> {
    this.killed = await this.leader();
    killAll(this.killed);
    await this.leader(this.killed);
  }

  /** After `kill`: the machine is back. */
  async startAgain(): Promise<void> {
    this.startPatroni(this.killed!);
    await this.untilWhole();
  }

  /** Waits until there are a leader, a synchronous replica, and no node that lags. */
  async untilWhole(): Promise<void> {
    const isWhole = async (): Promise<boolean> => {
      await pause(ASK_INTERVAL_MS);
      const answers = await Promise.all(
        this.nodes.flatMap((node) => ['primary', 'sync', 'replica'].map((path) => answersOk(node, path))),
      );
      const count = (path: number): number => answers.filter((ok, index) => ok && index % 3 === path).length;
      return count(0) === 1 && count(1) === 1 && count(2) === this.nodes.length - 1;
    };
    await until('the cluster is whole', isWhole, WHOLE_TIMEOUT_MS);
  }

  async stop(): Promise<void> {
    process.off('exit', this.abandon);
    this.abandon();
  }

  private readonly abandon = (): void => {
    for (const child of this.others) child.kill('SIGKILL');
    for (const node of this.nodes) killAll(node);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };

  private urlOf(database: string): string {
    return `postgres://postgres:of-a-test@127.0.0.1:${this.port}/${database}`;
  }

  private async addNode(name: string, etcd: number, ttl: number): Promise<void> {
    const folder = join(this.folder, name);
    const node: Node = { name, postgres: await freePort(), rest: await freePort(), folder };
    spawnSync('mkdir', ['-m', '700', folder], this.runAs);
    writeFileSync(join(folder, 'patroni.json'), JSON.stringify(patroni(node, etcd, ttl)));
    this.nodes.push(node);
    this.startPatroni(node);
  }

  private startPatroni(node: Node): void {
    node.patroni = this.run('patroni', [join(node.folder, 'patroni.json')]);
  }

  private run(program: string, options: readonly string[]): ChildProcess {
    return spawn(program, options, { ...this.runAs, cwd: this.folder, stdio: 'ignore' });
  }

  /** Waits for a leader that accepts writes. @param former which is no longer it */
  private leader(former: Node | null = null): Promise<Node> {
    return until(
      'there is a leader',
      async () => {
        await pause(ASK_INTERVAL_MS);
        for (const node of this.nodes) if (node !== former && (await answersOk(node, 'primary'))) return node;
        return null;
      },
      WHOLE_TIMEOUT_MS,
    );
  }
}

/** Patroni, the postmaster, and its children, some of which end by themselves meanwhile. */
function killAll({ patroni, folder }: Node): void {
  patroni?.kill('SIGKILL');
  const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const [postmaster = ''] = read(join(folder, 'data/postmaster.pid')).split('\n');
  // the number of one that was killed may be another process's by now
  if (!read(`/proc/${postmaster}/cmdline`).includes(folder)) return;
  const children = read(`/proc/${postmaster}/task/${postmaster}/children`).trim().split(' ');
  spawnSync('kill', ['-KILL', postmaster, ...children]);
}

const answersOk = ({ rest }: Node, path: string): Promise<boolean> =>
  fetch(`http://127.0.0.1:${rest}/${path}`, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );

const etcdOptions = (folder: string, client: number, peer: number): string[] => [
  `--data-dir=${folder}`,
  `--listen-client-urls=http://127.0.0.1:${client}`,
  `--advertise-client-urls=http://127.0.0.1:${client}`,
  `--listen-peer-urls=http://127.0.0.1:${peer}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
  `--initial-cluster=default=http://127.0.0.1:${peer}`,
];

const patroni = ({ name, postgres, rest, folder }: Node, etcd: number, ttl: number): object => ({
  scope: 'drawbridge',
  name,
  restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
  etcd3: { host: `127.0.0.1:${etcd}` },
  bootstrap: {
    dcs: {
      ttl,
      loop_wait: 2,
      retry_timeout: 4,
      synchronous_mode: true,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_log_hints: 'on' } },
    },
    initdb: [{ encoding: 'UTF8' }, { 'auth-host': 'scram-sha-256' }, { 'auth-local': 'trust' }],
  },
  postgresql: {
    listen: `127.0.0.1:${postgres}`,
    connect_address: `127.0.0.1:${postgres}`,
    data_dir: join(folder, 'data'),
    bin_dir: BINARIES,
    pgpass: join(folder, 'pgpass'),
    authentication: {
      superuser: { username: 'postgres', password: 'of-a-test' },
      replication: { username: 'replicator', password: 'of-a-test' },
    },
    pg_hba: [
      'local all all trust',
      'host all all 127.0.0.1/32 scram-sha-256',
      'host replication replicator 127.0.0.1/32 scram-sha-256',
    ],
    parameters: { unix_socket_directories: folder },
  },
});

const haproxy = (port: number, nodes: readonly Node[]): string => `
defaults
  mode tcp
  timeout connect 4s
  timeout check 2s
  timeout client 30m
  timeout server 30m
listen postgres
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions
${nodes.map(({ name, postgres, rest }) => `  server ${name} 127.0.0.1:${postgres} check port ${rest}`).join('\n')}
`;
