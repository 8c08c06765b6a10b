import { connect, createServer, type Socket } from 'node:net';
import { joinSockets } from '../network/join-sockets';
import { LoopbackPort } from '../network/loopback-port';

/** A proxy to PostgreSQL that withholds responses: statements are executed, and the client gets no result. */
export class HeldAnswers extends LoopbackPort {
  private words: readonly [first: string, last: string] | null = null;
  /** connections to the server, each with its client */
  private readonly holding = new Map<Socket, Socket>();

  private constructor(private readonly target: URL) {
    super(createServer());
    this.server.on('connection', (client) => this.carry(client));
  }

  /** @param url of the server behind the proxy */
  static to(url: string): Promise<HeldAnswers> {
    return new HeldAnswers(new URL(url)).listen();
  }

  /** The same URL through the proxy. */
  get url(): string {
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(this.port) }).href;
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
    for (const [server, client] of this.holding) server.pipe(client);
    this.holding.clear();
  }

  close = (): Promise<void> => this.stop();

  private carry(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    let hasSentFirst = false;
    client.on('data', (sent: Buffer) => {
      hasSentFirst ||= this.words !== null && sent.includes(this.words[0]);
      if (!hasSentFirst || !this.words || !sent.includes(this.words[1])) return;
      this.words = null;
      this.holding.set(server, client);
      server.unpipe(client);
    });
    joinSockets(client, server);
  }
}
