import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

type Direction = 'request' | 'answer';

/**
 * A TCP proxy that can cut, forget, freeze half-open or delay connections: what a process sees of a database that is down,
 * hangs, or is far away.
 */
export class SeverableConnection {
  private readonly sockets = new Set<Socket>();
  private readonly outgoing = new Set<Socket>();
  private readonly forgotten = new WeakSet<Socket>();
  private readonly held = new Set<Direction>();
  private waiting: (() => void)[] = [];
  private delayMs = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    private port = 0,
  ) {}

  /** @param url of the server behind the proxy */
  static async to(url: string): Promise<SeverableConnection> {
    const target = new URL(url);
    const way: SeverableConnection = new SeverableConnection(
      createServer((client) => way.carry(client)),
      target,
    );
    await way.restore();
    return way;
  }

  /** The same URL through the proxy. */
  get url(): string {
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(this.port) }).href;
  }

  /** Whether the server sees this port as the peer of one of the connections. */
  owns(clientPort: number): boolean {
    return [...this.outgoing].some((socket) => socket.localPort === clientPort);
  }

  /** Closes every connection and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.reset();
    await closed;
  }

  /** Closes every connection; new ones are accepted. */
  reset(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    const address = this.server.address();
    this.port = typeof address === 'object' && address ? address.port : 0;
  }

  /** What is sent on the connections of now is lost, as in a network that dropped their state; new ones work. */
  forget(): void {
    for (const socket of this.sockets) this.forgotten.add(socket);
  }

  /** Connections stay open and new ones are accepted, but no data passes until `thaw`. */
  freeze(): void {
    this.held.add('request').add('answer');
  }

  /** Withholds data from the server until `thaw`; data to the server passes. */
  holdAnswers(): void {
    this.held.add('answer');
  }

  /** Delivers the withheld data. */
  thaw(): void {
    this.held.clear();
    for (const goOn of this.waiting.splice(0)) goOn();
  }

  /** @param delayMs latency in each direction from now on; 0: none */
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

  /** Delivers chunks in order, each when its direction is free and its delay is over; the end comes last. */
  private pass(from: Socket, to: Socket, direction: Direction): void {
    let arrived = Promise.resolve();
    const after = (delayMs: number, action: () => void): void => {
      const at = performance.now() + delayMs;
      arrived = this.inTurn(arrived, direction, at, action);
    };
    this.sockets.add(from);
    from.on('data', (piece: Buffer) =>
      after(this.delayMs, () => void (to.destroyed || this.forgotten.has(from) || to.write(piece))),
    );
    from.on('end', () => after(0, () => to.end()));
    // `close` reports the outcome
    from.on('error', () => undefined);
    from.on('close', () => {
      this.sockets.delete(from);
      after(0, () => to.destroy());
    });
  }

  /** Runs it after `before`, when the direction is free, and not before its delay is over. */
  private async inTurn(
    before: Promise<void>,
    direction: Direction,
    at: number,
    action: () => void,
  ): Promise<void> {
    await before;
    while (this.held.has(direction)) await new Promise<void>((goOn) => this.waiting.push(goOn));
    const rest = at - performance.now();
    if (rest > 0) await pause(rest);
    action();
  }
}
