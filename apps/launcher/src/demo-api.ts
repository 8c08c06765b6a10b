import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from './json-file';

const ANSWER_TIMEOUT_MS = 30_000;
const TOO_MANY_REQUESTS = 429;
const MAX_WAIT_MS = 60_000;

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** An unexpected response. The message has the request, the status and the body. */
export class UnexpectedAnswer extends Error {
  constructor(
    request: string,
    readonly answer: ApiAnswer,
  ) {
    super(`${request} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    this.name = 'UnexpectedAnswer';
  }
}

/** A client of the service's own HTTP API. */
export class DemoApi {
  /** @param base such as `http://127.0.0.1:3000/api/v1` */
  constructor(
    private readonly base: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  with(headers: Readonly<Record<string, string>>): DemoApi {
    return new DemoApi(this.base, { ...this.headers, ...headers });
  }

  /**
   * Sends a request, and retries it after a 429 with Retry-After.
   * @throws Error naming the request when there is no response
   */
  async send(method: 'GET' | 'POST', path: string, body?: object): Promise<ApiAnswer> {
    for (;;) {
      const response = await this.fetch(method, path, body);
      const text = await response.text();
      const retryAfterMs = Number(response.headers.get('retry-after')) * 1000;
      if (response.status !== TOO_MANY_REQUESTS || !(retryAfterMs > 0 && retryAfterMs <= MAX_WAIT_MS)) {
        return { status: response.status, body: parse(text) };
      }
      await delay(retryAfterMs);
    }
  }

  /** @throws UnexpectedAnswer unless it is an array of objects */
  async list(path: string): Promise<Record<string, unknown>[]> {
    const answer = await this.send('GET', path);
    if (answer.status === 200 && Array.isArray(answer.body) && answer.body.every(isObject))
      return answer.body;
    throw new UnexpectedAnswer(`GET ${path}`, answer);
  }

  /** @throws UnexpectedAnswer unless the answer is an object with this status */
  async post(status: 200 | 201, path: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await this.send('POST', path, body);
    if (answer.status === status && isObject(answer.body)) return answer.body;
    throw new UnexpectedAnswer(`POST ${path}`, answer);
  }

  private async fetch(method: string, path: string, body: object | undefined): Promise<Response> {
    try {
      return await fetch(this.base + path, {
        method,
        headers: { ...this.headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
    } catch (error) {
      const reason = error instanceof Error ? (error.cause ?? error) : error;
      throw new Error(`${method} ${path} got no answer: ${String(reason)}`, { cause: error });
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
