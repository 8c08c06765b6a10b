import type { Schemas } from '#client';
import { publishedContract } from '../contract/published-contract';

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

/** An HTTP client of the API. Each response must conform to the OpenAPI document. */
export class ApiClient {
  constructor(
    private readonly base: string,
    readonly identity: Identity = null,
    /** what the server has logged, for failed requests */
    private readonly log: () => string = () => '',
    /** headers of each request */
    private readonly headers: () => Readonly<Record<string, string>> = () => ({}),
  ) {}

  as = (identity: Identity): ApiClient => new ApiClient(this.base, identity, this.log, this.headers);

  /** @param signal disconnects when it is aborted */
  get = <T>(path: string, signal?: AbortSignal): Promise<Answer<T>> =>
    this.send('GET', path, undefined, {}, signal);
  post = <T>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> =>
    this.send('POST', path, body, headers);
  patch = <T>(path: string, body?: unknown): Promise<Answer<T>> => this.send('PATCH', path, body);
  put = <T>(path: string, body?: unknown): Promise<Answer<T>> => this.send('PUT', path, body);
  delete = <T>(path: string): Promise<Answer<T>> => this.send('DELETE', path);

  /** These return the body, and throw an Error unless the status is that of a success. */
  read = <T>(path: string): Promise<T> => this.expect(200, this.get<T>(path));
  /** @returns by default the part that every object has */
  created = <T = { readonly id: string }>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<T> => this.expect(201, this.post<T>(path, body, headers));
  posted = <T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> =>
    this.expect(200, this.post<T>(path, body, headers));
  patched = <T>(path: string, body: unknown): Promise<T> => this.expect(200, this.patch<T>(path, body));
  deleted = (path: string): Promise<null> => this.expect(204, this.delete<null>(path));

  /** @returns the body. @throws Error unless the response has this status */
  async expect<T>(status: number, answer: Promise<Answer<T>>): Promise<T> {
    const { status: got, body } = await answer;
    if (got === status) return body;
    const cause = got < 500 ? [] : unexpectedFailures(this.log());
    throw new Error([`Expected ${status}, got ${got}: ${JSON.stringify(body)}`, ...cause].join('\n'));
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
    this.keepsToTheDocument(method, path, response, text);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? null : isJson ? JSON.parse(text) : text) as T,
    };
  }

  private keepsToTheDocument(method: string, path: string, response: Response, text: string): void {
    // the target of a redirect is no documented operation
    if (response.redirected) return;
    const contentType = response.headers.get('content-type');
    const { pathname } = new URL(`${this.base}${path}`);
    publishedContract().check({ method, path: pathname, status: response.status, contentType, text });
  }
}

function identityHeaders(identity: Identity): Record<string, string> {
  if (!identity) return {};
  return 'token' in identity
    ? { Authorization: `Bearer ${identity.token}` }
    : { 'X-API-Key': identity.apiKey };
}
