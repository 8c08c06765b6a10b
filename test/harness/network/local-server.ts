import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LoopbackServer } from './loopback-server';

interface LocalRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface LocalAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

type Answer = (request: LocalRequest) => LocalAnswer | Promise<LocalAnswer>;

/** An HTTP server that answers with a function, and records the requests. */
export class LocalServer extends LoopbackServer {
  readonly requests: LocalRequest[] = [];

  private constructor(public answer: Answer) {
    super();
  }

  static start(answer: Answer): Promise<LocalServer> {
    return new LocalServer(answer).listen();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, body: await bodyOf(request) };
    this.requests.push(received);
    try {
      const answer = await this.answer(received);
      response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  }
}
