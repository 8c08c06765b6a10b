import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LoopbackServer } from './loopback-server';

/** A reverse proxy in front of the API, which says where callers come from: they move, or leave through a pool. */
export class AddressProxy extends LoopbackServer {
  /** the paths of all requests, with their methods */
  readonly requests: string[] = [];
  /** the headers of all requests */
  readonly headers: IncomingMessage['headers'][] = [];
  /** answers a request in place of the API. @returns whether it did */
  answerInstead: ((incoming: IncomingMessage, answer: ServerResponse) => boolean) | null = null;
  private turn = 0;
  private readonly addressOf = new WeakMap<Socket, string>();

  private constructor(
    /** of the API on loopback, whose forwarding headers it trusts there */
    private readonly apiPort: number,
    /** connections get these in turn */
    public addresses: readonly string[],
  ) {
    super();
  }

  static start(apiPort: number, ...addresses: readonly string[]): Promise<AddressProxy> {
    return new AddressProxy(apiPort, addresses).listen();
  }

  /** Drops every connection, and accepts no other, until `restore`. @returns the port */
  async sever(): Promise<number> {
    await this.stop();
    return this.port;
  }

  async restore(port: number): Promise<void> {
    this.port = port;
    await this.listen();
  }

  private next(): string {
    const address = this.addresses[this.turn % this.addresses.length]!;
    this.turn += 1;
    return address;
  }

  protected serve(incoming: IncomingMessage, answer: ServerResponse): void {
    const { socket, method, url = '/', headers } = incoming;
    const address = this.addressOf.get(socket) ?? this.next();
    this.addressOf.set(socket, address);
    this.requests.push(`${method} ${url}`);
    this.headers.push(headers);
    if (this.answerInstead?.(incoming, answer)) return;
    const passed = { method, path: url, headers: { ...headers, 'x-forwarded-for': address } };
    const forwarded = request({ host: '127.0.0.1', port: this.apiPort, ...passed }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    answer.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }
}
