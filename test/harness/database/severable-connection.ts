import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LoopbackPort } from '../network/loopback-port';

type Direction = 'request' | 'answer';

/**
 * A TCP proxy that can cut, forget, freeze half-open or delay connections: what a process sees of a database that is down,
 * hangs, or is far away.
 */
export class SeverableConnection extends LoopbackPort {
  /** both ends of each connection */
  private readonly ends = new Set<Socket>();
  private readonly outgoing = new Set<Socket>();
  private readonly forgotten = new WeakSet<Socket>();
  private readonly held = new Set<Direction>();
  private waiting: (() => void)[] = [];
  private delayMs = 0;

  private constructor(private readonly target: URL) {
    super(createServer());
    this.server.on('connection', (client) => this.carry(client));
  }

  /** @param url of the server behind the proxy */
  static to(url: string): Promise<SeverableConnection> {
    return new SeverableConnection(new URL(url)).listen();
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
  cut = (): Promise<void> => this.stop();

  async restore(): Promise<void> {
    await this.listen();
  }

  /** At once, whatever is held. */
  override reset(): void {
    for (const socket of this.ends) socket.destroy();
  }

  /** What is sent on the connections of now is lost, as in a network that dropped their state; new ones work. */
  forget(): void {
    for (const socket of this.ends) this.forgotten.add(socket);
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
    this.ends.add(from);
    from.on('data', (piece: Buffer) =>
      after(this.delayMs, () => void (to.destroyed || this.forgotten.has(from) || to.write(piece))),
    );
    from.on('end', () => after(0, () => to.end()));
    // `close` reports the outcome
    from.on('error', () => undefined);
    from.on('close', () => {
      this.ends.delete(from);
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
