import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy to PostgreSQL that withholds responses: statements are executed, and the client gets no result. */
export class HeldAnswers {
  private readonly sockets = new Set<Socket>();
  private words: readonly [first: string, last: string] | null = null;
  private holding = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {}

  /** @param url of the server behind the proxy */
  static async to(url: string): Promise<HeldAnswers> {
    const way: HeldAnswers = new HeldAnswers(
      createServer((client) => way.carry(client)),
      new URL(url),
    );
    await new Promise<void>((resolve) => way.server.listen(0, '127.0.0.1', resolve));
    return way;
  }

  /** The same URL through the proxy. */
  get url(): string {
    const address = this.server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** The next connection that sends these texts, one after the other, gets no response to the last, nor to what follows. */
  holdAfter(first: string, last = first): void {
    this.words = [first, last];
  }

  /** Whether the text has been sent. */
  get isHolding(): boolean {
    return this.holding.size > 0;
  }

  /** Delivers the withheld responses. */
  release(): void {
    for (const socket of this.holding) socket.resume();
    this.holding.clear();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private carry(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    let hasSentFirst = false;
    client.on('data', (sent: Buffer) => {
      hasSentFirst ||= this.words !== null && sent.includes(this.words[0]);
      if (hasSentFirst && this.words !== null && sent.includes(this.words[1])) {
        this.words = null;
        this.holding.add(server);
        server.pause();
      }
      server.write(sent);
    });
    server.on('data', (answer: Buffer) => client.write(answer));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}
