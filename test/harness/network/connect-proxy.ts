import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { joinSockets } from './join-sockets';
import { LoopbackServer } from './loopback-server';

/** An HTTP proxy on loopback that lets `CONNECT` through, and records every request. */
export class ConnectProxy extends LoopbackServer {
  /** what it was asked for: `CONNECT host:port`, or the method and URL of a request */
  readonly requests: string[] = [];
  /** status in place of a connection */
  refuseWith: number | null = null;

  private constructor(private readonly credentials: string | null) {
    super();
    this.server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket) => {
      this.requests.push(`CONNECT ${url}`);
      const isKnown = headers['proxy-authorization'] === this.authorization;
      const status = this.refuseWith ?? (isKnown ? null : 407);
      if (status !== null) return client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\nno`);
      const { hostname, port } = new URL(`http://${url}`);
      const cloud = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
      cloud.once('connect', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      return joinSockets(client, cloud);
    });
  }

  /** @param credentials `user:password` that it demands */
  static start(credentials: string | null = null): Promise<ConnectProxy> {
    return new ConnectProxy(credentials).listen();
  }

  /** with its credentials */
  override get url(): string {
    return super.url.replace('//', this.credentials === null ? '//' : `//${this.credentials}@`);
  }

  private get authorization(): string | undefined {
    const { credentials } = this;
    return credentials === null ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  }

  protected serve({ method, url }: IncomingMessage, response: ServerResponse): void {
    this.requests.push(`${method} ${url}`);
    response.writeHead(501).end();
  }
}
