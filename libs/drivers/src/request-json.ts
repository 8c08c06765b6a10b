import { noResponse, unexpectedResponse, type CallFailure } from './call-failure';
import { isRecord, parseJson } from './untrusted-json';

/** An unsuccessful HTTP response. */
export interface Refusal {
  readonly status: number;
  /** parsed JSON; undefined when it is not JSON */
  readonly body: unknown;
  readonly header: (name: string) => string | null | undefined;
}

/** Classifies an unsuccessful response. @param secrets masked in the message */
export type ReadRefusal = (refusal: Refusal, secrets: readonly string[]) => CallFailure;

/** A cloud's API: its name in messages, and how it refuses a call. */
export interface JsonApi {
  readonly cloud: string;
  readonly refusalOf: ReadRefusal;
}

export interface JsonRequest {
  /** for error messages */
  readonly operation: string;
  readonly url: string;
  /** by default POST with a body, and GET without one */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
  /** what it proves itself with: masked in error messages */
  readonly secrets: readonly string[];
}

export interface JsonAnswer {
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A page of 500 firewall rules with 256 ranges each is much smaller. */
const MAX_RESPONSE_BYTES = 8_000_000;

/**
 * One HTTP request without retries, limited in time and size. Follows no redirects: what it proves itself with is for this
 * host only.
 * @param timeoutMs from the start to the last byte of the response
 * @returns the response's JSON object
 * @throws CallFailure for any other response
 */
export async function requestJson(
  { cloud, refusalOf }: JsonApi,
  { operation, url, method, headers, body: sent, secrets }: JsonRequest,
  timeoutMs: number,
): Promise<JsonAnswer> {
  let response: Response;
  let text: string | null;
  try {
    response = await fetch(url, {
      method: method ?? (sent === undefined ? 'GET' : 'POST'),
      headers: { accept: 'application/json', 'user-agent': 'drawbridge', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))),
      ...(sent !== undefined && { body: sent }),
    });
    text = await readBounded(response);
  } catch (error) {
    throw noResponse(cloud, error, secrets);
  }
  const body = text === null ? undefined : parseJson(text);
  const { status, headers: received } = response;
  if (!response.ok) throw refusalOf({ status, body, header: (name) => received.get(name) }, secrets);
  if (text === null || !isRecord(body)) throw unexpectedResponse(cloud, operation);
  return { body, text };
}

/** Reads the body of a response up to a limit. A longer one is not read further. @returns null when it is too long */
async function readBounded(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // leaving the loop cancels the stream
    if (length > MAX_RESPONSE_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
