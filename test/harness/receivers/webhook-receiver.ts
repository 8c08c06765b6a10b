import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { until } from '../until';

export interface Received {
  readonly path: string;
  /** webhook-id */
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** How a receiver answers: a status, with headers; not at all; or a byte a second. */
export type Behaviour = number | readonly [number, Record<string, string>] | 'hang' | 'drip';

/** @throws WebhookVerificationError */
export const verify = (secret: string, { headers, body }: Pick<Received, 'headers' | 'body'>): unknown =>
  new Webhook(secret).verify(body, headers);

/** A receiver of webhooks over HTTP, which checks as the Standard Webhooks library does. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** of a path; 200 elsewhere */
  readonly behaviours = new Map<string, Behaviour>();
  private readonly drips: NodeJS.Timeout[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => void receiver.serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  typesAt(path: string): string[] {
    return this.at(path).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  }

  /** Waits for a number of requests at a path. */
  atLeast(count: number, path: string): Promise<Received[]> {
    return until(`${count} requests at ${path}`, async () => this.at(path).length >= count && this.at(path));
  }

  stop(): Promise<void> {
    this.drips.forEach((drip) => clearInterval(drip));
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const headers = request.headers as Record<string, string>;
    const path = request.url!;
    this.received.push({ path, id: headers['webhook-id'] ?? '', headers, body });
    const behaviour = this.behaviours.get(path) ?? 200;
    if (behaviour === 'hang') return;
    if (behaviour === 'drip') {
      response.writeHead(200);
      this.drips.push(setInterval(() => response.write('.'), 1000));
    } else {
      const [status, more] = typeof behaviour === 'number' ? [behaviour, {}] : behaviour;
      response.writeHead(status, more).end('this answer is not shown to anybody');
    }
  }
}
