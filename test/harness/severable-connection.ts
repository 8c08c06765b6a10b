import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut and restored: what a process sees of a database that is gone and comes back. */
export class SeverableConnection {
  private readonly sockets = new Set<Socket>();
  private frozen = false;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    private port = 0,
  ) {}

  /** @param url of the server; its host and port are what stands behind this */
  static async to(url: string): Promise<SeverableConnection> {
    const target = new URL(url);
    const way: SeverableConnection = new SeverableConnection(
      createServer((client) => way.carry(client)),
      target,
    );
    await way.restore();
    return way;
  }

  /** The same URL, this way. */
  get url(): string {
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(this.port) }).href;
  }

  /** Every connection ends, and no new one comes about. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    const address = this.server.address();
    this.port = typeof address === 'object' && address ? address.port : 0;
  }

  /** From now on nothing comes through, either way; nobody is told. */
  freeze(): void {
    this.frozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  thaw(): void {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  private carry(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(one);
      one.pipe(other);
      if (this.frozen) one.pause();
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}
