import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** An HTTP proxy on loopback that lets `CONNECT` through, and records every request. */
export class ConnectProxy {
  /** what it was asked for: `CONNECT host:port`, or the method and URL of a request */
  readonly requests: string[] = [];
  /** status in place of a connection */
  refuseWith: number | null = null;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(private readonly credentials: string | null) {
    this.server = createServer(({ method, url }, response) => {
      this.requests.push(`${method} ${url}`);
      response.writeHead(501).end();
    });
    this.server.on('connection', (socket: Socket) => this.sockets.add(socket));
    this.server.on('connect', ({ url = '', headers }, client: Socket) => {
      this.requests.push(`CONNECT ${url}`);
      const isKnown = headers['proxy-authorization'] === this.authorization;
      const status = this.refuseWith ?? (isKnown ? null : 407);
      if (status !== null) return client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\nno`);
      const { hostname, port } = new URL(`http://${url}`);
      const cloud = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        client.pipe(cloud).pipe(client);
      });
      for (const socket of [cloud, client])
        socket.on('error', () => [cloud, client].forEach((each) => each.destroy()));
      this.sockets.add(cloud);
    });
  }

  /** @param credentials `user:password` that it demands */
  static async start(credentials: string | null = null): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(credentials);
    await new Promise<void>((listening) => proxy.server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  /** with its credentials */
  get url(): string {
    const user = this.credentials === null ? '' : `${this.credentials}@`;
    return `http://${user}127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((closed) => this.server.close(() => closed()));
  }

  private get authorization(): string | undefined {
    return this.credentials === null
      ? undefined
      : `Basic ${Buffer.from(this.credentials).toString('base64')}`;
  }
}
