import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface LocalRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (
  request: LocalRequest,
) => { status?: number; body: string } | Promise<{ status?: number; body: string }>;

/** An HTTP server on loopback that answers with a function, and records the requests. */
export class LocalServer {
  readonly requests: LocalRequest[] = [];
  private readonly server: Server;

  private constructor(public answer: Answer) {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const received = { method, path, headers, body: Buffer.concat(chunks).toString() };
        this.requests.push(received);
        void Promise.resolve(this.answer(received)).then(
          ({ status = 200, body }) => response.writeHead(status).end(body),
          (error: unknown) => response.writeHead(502).end(String(error)),
        );
      });
    });
  }

  static async start(answer: Answer): Promise<LocalServer> {
    const local = new LocalServer(answer);
    await new Promise<void>((resolve) => local.server.listen(0, '127.0.0.1', resolve));
    return local;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
