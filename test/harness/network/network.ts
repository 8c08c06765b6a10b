import { randomBytes } from 'node:crypto';
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { neededInCi } from '../needed-in-ci';
import { joinSockets } from './join-sockets';

const PEER = resolve(__dirname, 'network-peer.cjs');

/** Agents run as `nobody`, with CAP_NET_ADMIN as their only capability. */
export const NOBODY = 65_534;
export const AS_NOBODY = [
  'setpriv',
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  '--no-new-privs',
] as const;

/** Some containers have none: an agent there is known by its state file. */
export const hasMachineId = existsSync('/etc/machine-id');

/**
 * Whether this machine supports network namespaces with nftables. Without them, the tests report that they were
 * skipped.
 */
export const hasNetworks = neededInCi('nft in a network namespace', canDivide());

function canDivide(): boolean {
  const name = `drawbridge-probe-${randomBytes(4).toString('hex')}`;
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return false;
  const works = [
    ['nft', 'list', 'tables'],
    [...AS_NOBODY, process.execPath, '--version'],
  ].every((command) => spawnSync('ip', ['netns', 'exec', name, ...command]).status === 0);
  spawnSync('ip', ['netns', 'del', name]);
  return works;
}

export const sayNotTested = (what: string): boolean =>
  process.stderr.write(
    `\n*** no network namespaces or no nft here (root, iproute2, nftables, util-linux): ${what} WAS NOT TESTED ***\n\n`,
  );

export interface Place {
  readonly address: string;
  readonly port: number;
  /** source address of the connection */
  readonly from?: string;
}

/** A process inside a namespace. */
export class Peer {
  private readonly waiting = new Map<number, (answer: { result?: unknown; error?: string }) => void>();
  private asked = 0;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (message: { id: number; result?: unknown; error?: string }) => {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
  }

  static async in(namespace: string): Promise<Peer> {
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, PEER], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await new Promise((ready, failed) => {
      child.once('message', ready);
      child.once('exit', () => failed(new Error(`Nothing runs in the namespace ${namespace}`)));
    });
    return new Peer(child);
  }

  /** Starts a server that echoes. @returns its port */
  listen = (where: { address?: string; port?: number } = {}): Promise<number> => this.does('listen', where);
  listenUdp = (port: number): Promise<number> => this.does('listenUdp', { port });
  /** Forwards a port to a Unix socket. @param address of the port, default loopback */
  relay = (path: string, address?: string): Promise<number> => this.does('relay', { path, address });
  reaches = (place: Place): Promise<boolean> => this.does('reaches', place);
  /** A UDP server sends a datagram by itself. @param port of the server */
  sendUdp = (port: number, to: Place): Promise<void> => this.does('sendUdp', { port, to });
  /** @param fromPort default: any */
  reachesUdp = (place: Place & { fromPort?: number }): Promise<boolean> => this.does('reachesUdp', place);
  /** Tries without a pause. @returns when it was first open, on the machine's clock; null: never */
  opens = (place: Place): Promise<number | null> => this.does('opens', place);
  /** @returns when it was first closed, on the machine's clock; null: never */
  closes = (place: Place): Promise<number | null> => this.does('closes', place);
  /** Opens a connection and keeps it. @returns its number */
  hold = (place: Place): Promise<number> => this.does('hold', place);
  answers = (connection: number): Promise<boolean> => this.does('answers', { connection });

  stop(): void {
    this.child.kill('SIGKILL');
  }

  private does<T>(action: string, given: object): Promise<T> {
    const id = (this.asked += 1);
    return new Promise((done, failed) => {
      this.waiting.set(id, ({ result, error }) => {
        if (error === undefined) done(result as T);
        else failed(new Error(error));
      });
      this.child.send({ id, action, given });
    });
  }
}

/** Addresses of the two namespaces, which have no route to the outside. */
export const HOST = { ipv4: '10.77.0.1', ipv6: 'fd77::1' } as const;
export const VISITOR = { ipv4: '10.77.0.2', ipv6: 'fd77::2', otherIpv4: '10.77.0.3' } as const;

/** A host and a visitor: two network namespaces joined by a veth pair. */
export class Network {
  private readonly servers: Server[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly owners: ChildProcess[] = [];

  private constructor(
    private readonly names: { readonly host: string; readonly visitor: string },
    readonly host: Peer,
    readonly visitor: Peer,
    /** folder that both this machine and the host can access */
    readonly folder: string,
  ) {}

  static async start(): Promise<Network> {
    const id = randomBytes(4).toString('hex');
    const names = { host: `dbh-${id}`, visitor: `dbv-${id}` };
    for (const name of Object.values(names)) ip('netns', 'add', name);
    ip(...`-n ${names.host} link add eth0 type veth peer name eth0 netns ${names.visitor}`.split(' '));
    for (const [name, addresses] of [
      [names.host, [`${HOST.ipv4}/24`, `${HOST.ipv6}/64`]],
      [names.visitor, [`${VISITOR.ipv4}/24`, `${VISITOR.ipv6}/64`, `${VISITOR.otherIpv4}/24`]],
    ] as const) {
      for (const address of addresses) addAddress(name, address);
      for (const link of ['lo', 'eth0']) ip('-n', name, 'link', 'set', link, 'up');
    }
    // `ip netns exec` mounts it over the machine's own: each network is a machine of its own
    if (hasMachineId) {
      mkdirSync(`/etc/netns/${names.host}`, { recursive: true });
      writeFileSync(`/etc/netns/${names.host}/machine-id`, `${randomBytes(16).toString('hex')}\n`);
    }
    const folder = mkdtempSync(join(tmpdir(), `drawbridge-network-${id}-`));
    const [host, visitor] = await Promise.all([Peer.in(names.host), Peer.in(names.visitor)]);
    return new Network(names, host, visitor, folder);
  }

  /** The command line that runs something on the host. */
  onHost(...command: readonly string[]): [string, string[]] {
    return ['ip', ['netns', 'exec', this.names.host, ...command]];
  }

  /** The command line that runs something on the visitor's machine. @param hosts its /etc/hosts */
  onVisitor(hosts: string, ...command: readonly string[]): [string, string[]] {
    mkdirSync(`/etc/netns/${this.names.visitor}`, { recursive: true });
    writeFileSync(`/etc/netns/${this.names.visitor}/hosts`, hosts);
    return ['ip', ['netns', 'exec', this.names.visitor, ...command]];
  }

  /** From now on a connection to this port of the host takes a second: its first packet is lost. */
  delayConnections(port: number): void {
    const seen =
      'add set inet slow seen { type ipv4_addr . inet_service; flags dynamic,timeout; timeout 1m; }';
    const first = `tcp dport ${port} tcp flags & (syn | ack) == syn ip saddr . tcp sport != @seen`;
    this.nft(
      `add table inet slow; ${seen}; add chain inet slow input { type filter hook input priority 0; }; ` +
        `add rule inet slow input ${first} add @seen { ip saddr . tcp sport } drop`,
    );
  }

  /** Runs nft on the host. @returns what it prints */
  nft(...args: readonly string[]): string {
    const [program, rest] = this.onHost('nft', ...args);
    return execFileSync(program, rest, {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Another program owns a table on the host: no other program can change it until it exits. */
  ownTable(table: string): { release: () => void } {
    const [program, args] = this.onHost('nft', '--interactive');
    const owner = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
    this.owners.push(owner);
    owner.stdin.write(`delete table ${table}; add table ${table} { flags owner; }\n`);
    return { release: () => owner.stdin.end() };
  }

  /**
   * A URL on the host's loopback that is forwarded to a server of this machine.
   * @param port of the server, called for each connection; null: the connection is refused
   * @param address of the host, default loopback
   */
  async reachable(port: () => number | null, address = '127.0.0.1'): Promise<string> {
    const path = join(this.folder, `${this.servers.length}.sock`);
    const server = createServer((client) => {
      const target = port();
      if (target === null) return client.destroy();
      return joinSockets(client, connect(target, '127.0.0.1'), this.sockets);
    });
    this.servers.push(server);
    await new Promise<void>((listening) => server.listen(path, listening));
    return `http://${address}:${await this.host.relay(path, address)}`;
  }

  /** Closes every connection to a server of this machine. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  stop(): void {
    for (const server of this.servers) server.close();
    this.cut();
    for (const owner of this.owners) owner.kill('SIGKILL');
    this.host.stop();
    this.visitor.stop();
    for (const name of Object.values(this.names)) {
      // of agents that were killed: what they started is left
      for (const pid of execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).split('\n'))
        if (pid !== '') process.kill(Number(pid), 'SIGKILL');
      ip('netns', 'del', name);
    }
    for (const name of Object.values(this.names))
      rmSync(`/etc/netns/${name}`, { recursive: true, force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Disables duplicate address detection, which delays IPv6 addresses. */
const addAddress = (namespace: string, address: string): void =>
  ip('-n', namespace, 'addr', 'add', address, 'dev', 'eth0', ...(address.includes(':') ? ['nodad'] : []));
