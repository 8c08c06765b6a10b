import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

type Direction = 'request' | 'answer';

/**
 * A way to a server that can be cut and restored, frozen half-open or made slow: what a process sees of a database
 * that is gone, hangs, or is far away.
 */
export class SeverableConnection {
  private readonly sockets = new Set<Socket>();
  private readonly outgoing = new Set<Socket>();
  private readonly held = new Set<Direction>();
  private waiting: (() => void)[] = [];
  private delayMs = 0;

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

  /** Whether the server sees this port at the other end of one of the connections. */
  owns(clientPort: number): boolean {
    return [...this.outgoing].some((socket) => socket.localPort === clientPort);
  }

  /** Every connection ends, and no new one comes about. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.reset();
    await closed;
  }

  /** Every connection ends; new ones come about. */
  reset(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    const address = this.server.address();
    this.port = typeof address === 'object' && address ? address.port : 0;
  }

  /** Connections stay, and new ones come about, but nothing passes any more: half-open, until `thaw`. */
  freeze(): void {
    this.held.add('request').add('answer');
  }

  /** What the server says is kept back until `thaw`; what it is told arrives. */
  holdAnswers(): void {
    this.held.add('answer');
  }

  /** What was kept back arrives now. */
  thaw(): void {
    this.held.clear();
    for (const goOn of this.waiting.splice(0)) goOn();
  }

  /** @param delayMs how long everything takes each way from now on; 0: no longer */
  slow(delayMs: number): void {
    this.delayMs = delayMs;
  }

  private carry(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    this.outgoing.add(server);
    server.once('close', () => this.outgoing.delete(server));
    this.pass(client, server, 'request');
    this.pass(server, client, 'answer');
  }

  /** In order, each piece when it may and its time has come; the end comes last. */
  private pass(from: Socket, to: Socket, direction: Direction): void {
    let arrived = Promise.resolve();
    const after = (delayMs: number, deed: () => void): void => {
      const at = performance.now() + delayMs;
      arrived = arrived.then(async () => {
        while (this.held.has(direction)) await new Promise<void>((goOn) => this.waiting.push(goOn));
        const rest = at - performance.now();
        if (rest > 0) await pause(rest);
        return deed();
      });
    };
    this.sockets.add(from);
    from.on('data', (piece: Buffer) => after(this.delayMs, () => void (to.destroyed || to.write(piece))));
    from.on('end', () => after(0, () => to.end()));
    // what became of it is told by `close`
    from.on('error', () => undefined);
    from.on('close', () => {
      this.sockets.delete(from);
      after(0, () => to.destroy());
    });
  }
}
