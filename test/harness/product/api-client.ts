import type { Schemas } from '#client';
import { contractOf } from '../contract/contract-of';

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

export type ResourceIp = Schemas['ResourceIpDto'];
/** Of any status, as what is refused has one too. */
export type Session = Omit<Schemas['SessionDto'], 'status' | 'approvers'> & { readonly status: string };
export type Credential = Schemas['CredentialDto'];

export type Identity = { readonly token: string } | { readonly apiKey: string } | null;

/** The lines of a server's log on requests that failed for a reason that is none of the caller's. */
export const unexpectedFailures = (log: string): string[] =>
  log.split('\n').filter((line) => line.includes('A request failed unexpectedly'));

let people = 0;

/** A tester asks as often as many people do: for a product with the limit as shipped, from as many addresses. */
export const asOfManyPeople = (): Readonly<Record<string, string>> => ({
  'X-Forwarded-For': `203.0.113.${100 + ((people += 1) % 100)}`,
});

/** An HTTP client of the API. Each response must conform to the API's own OpenAPI document. */
export class ApiClient {
  constructor(
    private readonly base: string,
    readonly identity: Identity = null,
    /** what the server has logged, for failed requests */
    private readonly log: () => string = () => '',
    /** headers of each request */
    private readonly headers: () => Readonly<Record<string, string>> = () => ({}),
  ) {}

  as(identity: Identity): ApiClient {
    return new ApiClient(this.base, identity, this.log, this.headers);
  }

  /** @param signal disconnects when it is aborted */
  get<T>(path: string, signal?: AbortSignal): Promise<Answer<T>> {
    return this.send('GET', path, undefined, {}, signal);
  }

  post<T>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.send('POST', path, body, headers);
  }

  patch<T>(path: string, body?: unknown): Promise<Answer<T>> {
    return this.send('PATCH', path, body);
  }

  put<T>(path: string, body?: unknown): Promise<Answer<T>> {
    return this.send('PUT', path, body);
  }

  delete<T>(path: string): Promise<Answer<T>> {
    return this.send('DELETE', path);
  }

  /** @returns the body. @throws Error unless the response has this status */
  async expect<T>(status: number, answer: Promise<Answer<T>>): Promise<T> {
    const { status: got, body } = await answer;
    if (got === status) return body;
    const cause = got < 500 ? [] : unexpectedFailures(this.log());
    throw new Error([`Expected ${status}, got ${got}: ${JSON.stringify(body)}`, ...cause].join('\n'));
  }

  /** @returns the body of a POST that is answered with 201. @throws Error otherwise */
  created<T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
    return this.expect(201, this.post<T>(path, body, headers));
  }

  /** The same with 200. */
  posted<T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
    return this.expect(200, this.post<T>(path, body, headers));
  }

  /** @returns the body of a GET that is answered with 200. @throws Error otherwise */
  read<T>(path: string): Promise<T> {
    return this.expect(200, this.get<T>(path));
  }

  /** The same of a PATCH. */
  patched<T>(path: string, body: unknown): Promise<T> {
    return this.expect(200, this.patch<T>(path, body));
  }

  /** @throws Error unless a DELETE is answered with 204 */
  deleted(path: string): Promise<null> {
    return this.expect(204, this.delete<null>(path));
  }

  /** The statuses of several requests. */
  async statuses(
    asked: readonly (readonly [method: string, path: string, body?: object])[],
  ): Promise<Set<number>> {
    const answers = await Promise.all(asked.map(([method, path, body]) => this.send(method, path, body)));
    return new Set(answers.map(({ status }) => status));
  }

  async send<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
    signal: AbortSignal | null = null,
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.base}${path}`, {
      method,
      signal,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...identityHeaders(this.identity),
        ...this.headers(),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    await this.keepsToItsDocument(method, path, response, text);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? null : isJson ? JSON.parse(text) : text) as T,
    };
  }

  private async keepsToItsDocument(
    method: string,
    path: string,
    response: Response,
    text: string,
  ): Promise<void> {
    // the target of a redirect is no documented operation
    if (response.redirected) return;
    const contract = await contractOf(this.base);
    const contentType = response.headers.get('content-type');
    const { pathname } = new URL(`${this.base}${path}`);
    contract.check({ method, path: pathname, status: response.status, contentType, text });
  }
}

function identityHeaders(identity: Identity): Record<string, string> {
  if (!identity) return {};
  return 'token' in identity
    ? { Authorization: `Bearer ${identity.token}` }
    : { 'X-API-Key': identity.apiKey };
}
