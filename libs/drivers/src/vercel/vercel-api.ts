import { isRecord } from '../untrusted-json';
import type { VercelToken } from './vercel-credentials';
import { oddAnswer, refusalOf, toFailure, messageOf } from './vercel-errors';

/** How long Vercel may take to answer one request. */
const REQUEST_MS = 5000;
/** A configuration is some hundred kilobytes at most; what is longer is none, and is not read to its end. */
const MAX_ANSWER_BYTES = 4_000_000;

interface Question {
  readonly what: string;
  readonly method: 'GET' | 'PATCH';
  /** below the endpoint, with a slash before it */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Vercel's REST API with one token, for as long as one call of the driver may take. */
export class VercelApi {
  private readonly endsAt: number;
  private readonly signal: AbortSignal;

  /**
   * @param endpoint without a slash at its end
   * @param milliseconds that all requests together may take
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

  /** Whether there is time for this many requests, were each as slow as can be. */
  hasTimeFor(requests: number): boolean {
    return performance.now() + requests * REQUEST_MS <= this.endsAt;
  }

  /**
   * Asks, and gives the JSON object that is answered. Follows no redirect: the token is good for this host only.
   * @throws CallFailure
   */
  async ask({ what, method, path, query, body }: Question): Promise<Record<string, unknown>> {
    const { token, teamId } = this.credential;
    const secrets = [token];
    const parameters = new URLSearchParams({ ...query, ...(teamId !== null && { teamId }) });
    let response: Response;
    let answer: unknown;
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
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(REQUEST_MS)]),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      answer = await readJson(response, what);
    } catch (error) {
      throw toFailure(error, secrets);
    }
    const header = (name: string): string | null => response.headers.get(name);
    if (!response.ok) throw refusalOf({ status: response.status, body: answer, header }, secrets);
    if (isRecord(answer) && messageOf(answer) === null) return answer;
    throw oddAnswer(what);
  }
}

/** @returns undefined when the answer is no JSON */
async function readJson(response: Response, what: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop cancels the rest.
    if (length > MAX_ANSWER_BYTES) throw oddAnswer(what);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
