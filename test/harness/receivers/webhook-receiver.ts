import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { LoopbackPort } from '../network/loopback-port';
import { bodyOf } from '../network/loopback-server';
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
export class WebhookReceiver extends LoopbackPort {
  readonly received: Received[] = [];
  /** of a path; 200 elsewhere */
  readonly behaviours = new Map<string, Behaviour>();
  private readonly drips: NodeJS.Timeout[] = [];

  constructor() {
    super(createServer());
    this.server.on('request', (...given: [IncomingMessage, ServerResponse]) => void this.serve(...given));
  }

  static start(): Promise<WebhookReceiver> {
    return new WebhookReceiver().listen();
  }

  url = (path: string): string => `http://127.0.0.1:${this.port}${path}`;
  at = (path: string): Received[] => this.received.filter((one) => one.path === path);
  typesAt = (path: string): string[] =>
    this.at(path).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  /** Waits for a number of requests at a path. */
  atLeast = (count: number, path: string): Promise<Received[]> =>
    until(`${count} requests at ${path}`, async () => this.at(path).length >= count && this.at(path));

  override stop(): Promise<void> {
    this.drips.forEach((drip) => clearInterval(drip));
    return super.stop();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
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
