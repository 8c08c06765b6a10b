import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChangeResult } from '#rules';
import { DriverError } from './driver-error';

export interface ScriptedCall {
  readonly method: string;
  /** path and query */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Respond = (call: ScriptedCall, response: ServerResponse) => void;

/** A server in place of a cloud, with scripted responses. Records its calls. */
export class ScriptedServer {
  calls: ScriptedCall[] = [];
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const { pathname: path, searchParams: query } = new URL(url, 'http://cloud');
      const body = Buffer.concat(chunks).toString();
      this.receive({ method, url, path, query, headers, body }, response);
    });
  });

  constructor(public respond: Respond) {}

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  protected receive(call: ScriptedCall, response: ServerResponse): void {
    this.calls.push(call);
    this.respond(call, response);
  }
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** a string is sent unchanged, other values as JSON */
  readonly body?: unknown;
  /** no response is sent */
  readonly silent?: true;
}

/** A scripted REST API: returns the replies of a route in order and repeats the last one. */
export class ScriptedApi extends ScriptedServer {
  private replies = new Map<string, Reply[]>();

  /** @param routeOf names the route of a call, which `on` scripts */
  constructor(private readonly routeOf: (call: ScriptedCall) => string) {
    super((call, response) => {
      const route = this.routeOf(call);
      const queue = this.replies.get(route) ?? [];
      const {
        status = 200,
        headers,
        body,
        silent,
      } = (queue.length > 1 ? queue.shift() : queue[0]) ?? {
        status: 500,
      };
      if (silent) return;
      const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  }

  /** The calls without token requests. */
  get steps(): string[] {
    return this.calls
      .filter(({ path }) => !path.endsWith('/token'))
      .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
  }

  on(route: string, ...replies: Reply[]): this {
    this.replies.set(route, replies);
    return this;
  }

  clear(): void {
    this.calls = [];
    this.replies = new Map();
  }
}

/** Runs a server during the tests of a block. It forgets its calls before each. */
export function duringTests<S extends ScriptedServer>(server: S): S {
  beforeAll(() => server.open());
  beforeEach(() => {
    server.calls = [];
  });
  afterAll(() => server.close());
  return server;
}

export const thrown = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (error instanceof DriverError) return error;
  throw new Error(`Expected DriverError, got ${String(error)}`);
};

/** `done`, `unknown`, or the kind of a refusal. */
export const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((result) => (result.result === 'refused' ? result.kind : result.result));
