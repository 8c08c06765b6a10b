import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinSockets } from './join-sockets';
import { Peer } from './network';

/** A way to a server of this machine through a network namespace, in which every packet can be dropped. */
export class LossyNetwork {
  private constructor(
    private readonly namespace: string,
    private readonly peer: Peer,
    private readonly server: Server,
    private readonly folder: string,
    /** the same URL through the namespace */
    readonly url: string,
  ) {}

  static async to(target: string): Promise<LossyNetwork> {
    const id = randomBytes(4).toString('hex');
    const namespace = `dbl-${id}`;
    const subnet = `10.78.${randomInt(256)}`;
    ip('netns', 'add', namespace);
    ip('link', 'add', `dbl${id}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('addr', 'add', `${subnet}.1/24`, 'dev', `dbl${id}`);
    ip('link', 'set', `dbl${id}`, 'up');
    ip('-n', namespace, 'addr', 'add', `${subnet}.2/24`, 'dev', 'eth0');
    ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    const url = new URL(target);
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-lossy-'));
    const path = join(folder, 'server.sock');
    const [port, hostname] = [Number(url.port), url.hostname];
    const server = createServer((client) => joinSockets(client, connect(port, hostname)));
    await new Promise<void>((listening) => server.listen(path, listening));
    const peer = await Peer.in(namespace);
    url.hostname = `${subnet}.2`;
    url.port = String(await peer.relay(path, url.hostname));
    return new LossyNetwork(namespace, peer, server, folder, url.href);
  }

  /** From now on nothing that is sent arrives, and nothing says so. */
  drop(): void {
    this.nft(
      'add table inet lossy; add chain inet lossy input { type filter hook input priority 0; policy drop; }',
    );
  }

  restore(): void {
    this.nft('delete table inet lossy');
  }

  stop(): void {
    this.peer.stop();
    this.server.close();
    // its end of the link goes with it
    ip('netns', 'del', this.namespace);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private nft(commands: string): void {
    ip('netns', 'exec', this.namespace, 'nft', commands);
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
