import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ControlInterface } from './control/control-interface';
import type { Issuer } from './issuer/issuer';
import { renderPage } from './page/page';
import { NO_ANSWER, type CloudProvider, type CloudRequest, type World } from './provider';
import { MAX_BODY_BYTES, readBody } from './request-body';

const PAGE = renderPage();

type PartialRequest = Omit<CloudRequest, 'body' | 'epoch'>;

/** Routes each request to the provider that its path names, to the identity provider, or to the control interface. */
export class HttpRouter {
  private readonly calls = new Set<ServerResponse>();

  constructor(
    private readonly world: World,
    private readonly providers: readonly CloudProvider[],
    private readonly control: ControlInterface,
    private readonly issuer: Issuer,
  ) {}

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.route(request, response).catch((error: unknown) => {
      process.stderr.write(`${request.method} ${request.url}: ${String(error)}\n`);
      if (response.headersSent) response.destroy();
      else answerJson(response, 500, { error: 'Internal Server Error', message: 'The simulator has failed' });
    });
  }

  /** Drops the connections of provider calls in progress. */
  dropCalls(): void {
    for (const response of this.calls) response.destroy();
  }

  private async route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://simulator');
    if (this.issuer.serves(url.pathname)) {
      await this.issuer.handle(request, response);
      return;
    }
    const method = request.method ?? 'GET';
    const received = { method, path: url.pathname, query: url.searchParams, headers: request.headers };
    const epoch = this.world.epoch;
    const body = await readBody(request);
    if (body === null) {
      answerJson(response, 413, { error: 'Content Too Large', message: `At most ${MAX_BODY_BYTES} bytes` });
      return;
    }
    const provider = this.providers.find(({ prefix }) => url.pathname.startsWith(`${prefix}/`));
    if (provider) await this.call(provider, { ...received, body, epoch }, response);
    else this.answerControl({ ...received, body }, response);
  }

  /** The call is executed even when the client has disconnected, as in a real cloud. */
  private async call(
    provider: CloudProvider,
    request: CloudRequest,
    response: ServerResponse,
  ): Promise<void> {
    this.calls.add(response);
    response.once('close', () => this.calls.delete(response));
    const { latencyMs } = this.world.sizes;
    if (latencyMs > 0) await pause(latencyMs);
    const answer = await provider.handle(request);
    if (answer === NO_ANSWER || response.destroyed) return;
    response.writeHead(answer.status, { ...answer.headers, 'cache-control': 'no-store' }).end(answer.body);
  }

  private answerControl(request: PartialRequest & { body: string }, response: ServerResponse): void {
    if (request.method === 'GET' && request.path === '/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
      return;
    }
    const answer = this.control.answer(request);
    if (answer) answerJson(response, answer.status, answer.body, answer.headers);
    else
      answerJson(response, 404, { error: 'Not Found', message: `Nothing is simulated at ${request.path}` });
  }
}

function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
