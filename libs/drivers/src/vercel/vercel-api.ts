import { readBounded } from '../bounded-body';
import { isRecord, parseJson } from '../untrusted-json';
import type { VercelToken } from './vercel-credentials';
import { unexpectedResponse, refusalOf, toFailure, messageOf } from './vercel-errors';

/** Timeout of one request. */
const REQUEST_TIMEOUT_MS = 5000;
/** A configuration has some hundred kilobytes at most. Reading of a longer response is aborted. */
const MAX_RESPONSE_BYTES = 4_000_000;

interface ApiRequest {
  /** for error messages */
  readonly operation: string;
  readonly method: 'GET' | 'PATCH';
  /** relative to the endpoint, with leading slash */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Client for Vercel's REST API with one token, for one driver call. */
export class VercelApi {
  private readonly endsAt: number;
  private readonly signal: AbortSignal;

  /**
   * @param endpoint without trailing slash
   * @param milliseconds time limit of all requests together
   */
  constructor(
    private readonly endpoint: string,
    private readonly credential: VercelToken,
    milliseconds: number,
  ) {
    this.endsAt = performance.now() + milliseconds;
    this.signal = AbortSignal.timeout(milliseconds);
  }

  get teamId(): string | null {
    return this.credential.teamId;
  }

  /** Whether enough time is left for this many requests, even if each takes its full timeout. */
  hasTimeFor(requests: number): boolean {
    return performance.now() + requests * REQUEST_TIMEOUT_MS <= this.endsAt;
  }

  /**
   * Sends a request. Follows no redirects: the token is for this host only.
   * @returns the response's JSON object
   * @throws CallFailure
   */
  async request({ operation, method, path, query, body }: ApiRequest): Promise<Record<string, unknown>> {
    const { token, teamId } = this.credential;
    const secrets = [token];
    const parameters = new URLSearchParams({ ...query, ...(teamId !== null && { teamId }) });
    let response: Response;
    let json: unknown;
    try {
      response = await fetch(`${this.endpoint}${path}${parameters.size > 0 ? `?${parameters}` : ''}`, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          'user-agent': 'drawbridge',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        redirect: 'manual',
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await readBounded(response, MAX_RESPONSE_BYTES);
      if (text === null) throw unexpectedResponse(operation);
      json = parseJson(text);
    } catch (error) {
      throw toFailure(error, secrets);
    }
    const header = (name: string): string | null => response.headers.get(name);
    if (!response.ok) throw refusalOf({ status: response.status, body: json, header }, secrets);
    if (isRecord(json) && messageOf(json) === null) return json;
    throw unexpectedResponse(operation);
  }
}
