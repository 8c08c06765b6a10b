import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A reverse proxy in front of the API, which says where callers come from: they move, or leave through a pool. */
export class AddressProxy {
  /** the paths of all requests, with their methods */
  readonly requests: string[] = [];
  /** the headers of all requests */
  readonly headers: IncomingMessage['headers'][] = [];
  /** answers a request in place of the API. @returns whether it did */
  answerInstead: ((incoming: IncomingMessage, answer: ServerResponse) => boolean) | null = null;
  private turn = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** connections get these in turn */
    public addresses: readonly string[],
  ) {}

  /** @param apiPort of the API on loopback, whose forwarding headers it trusts there */
  static async start(apiPort: number, ...addresses: readonly string[]): Promise<AddressProxy> {
    const server = createServer();
    const proxy = new AddressProxy(server, addresses);
    const addressOf = new WeakMap<Socket, string>();
    server.on('connection', (socket: Socket) => {
      proxy.sockets.add(socket);
      socket.once('close', () => proxy.sockets.delete(socket));
    });
    server.on('request', (incoming: IncomingMessage, answer: ServerResponse) => {
      const { socket } = incoming;
      const address = addressOf.get(socket) ?? proxy.next();
      addressOf.set(socket, address);
      proxy.forward(apiPort, address, incoming, answer);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Drops every connection, and accepts no other, until `restore`. @returns the port */
  async sever(): Promise<number> {
    const { port } = this;
    const closed = new Promise((done) => this.server.close(done));
    for (const socket of this.sockets) socket.destroy();
    await closed;
    return port;
  }

  async restore(port: number): Promise<void> {
    await new Promise<void>((listening) => this.server.listen(port, '127.0.0.1', listening));
  }

  async stop(): Promise<void> {
    if (this.server.listening) await this.sever();
  }

  private next(): string {
    const address = this.addresses[this.turn % this.addresses.length]!;
    this.turn += 1;
    return address;
  }

  private forward(port: number, address: string, incoming: IncomingMessage, answer: ServerResponse): void {
    const { method, url = '/', headers } = incoming;
    this.requests.push(`${method} ${url}`);
    this.headers.push(headers);
    if (this.answerInstead?.(incoming, answer)) return;
    const forwarded = request(
      { host: '127.0.0.1', port, method, path: url, headers: { ...headers, 'x-forwarded-for': address } },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    forwarded.on('error', () => answer.destroy());
    answer.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }
}
