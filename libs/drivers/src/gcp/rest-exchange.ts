import { readBounded } from '../bounded-body';
import { CallFailure } from '../call-failure';
import { isRecord, parseJson } from '../untrusted-json';
import { noResponse, unexpectedResponse } from './gcp-errors';

/**
 * Classifies an unsuccessful response.
 * @param body parsed JSON, undefined when it is not JSON
 * @param secrets masked in the message
 */
export type RefusalReader = (
  status: number,
  body: unknown,
  retryAfter: string | null,
  secrets: readonly string[],
) => CallFailure;

interface RestRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** what it proves itself with: masked in error messages */
  readonly secrets: readonly string[];
}

/** A page of 500 firewall rules with 256 ranges each is much smaller. */
const MAX_RESPONSE_BYTES = 8_000_000;

/**
 * One HTTP request to Google without retries and redirects, limited in time and size.
 * @param timeoutMs from the start to the last byte of the response
 * @returns the response's JSON text, an object
 * @throws CallFailure for any other response
 */
export async function exchange(
  url: string,
  { secrets, ...request }: RestRequest,
  timeoutMs: number,
  readRefusal: RefusalReader,
): Promise<string> {
  let response: Response;
  let text: string | null;
  const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
  try {
    response = await fetch(url, { ...request, redirect: 'manual', signal });
    text = await readBounded(response, MAX_RESPONSE_BYTES);
  } catch (error) {
    throw noResponse(error, secrets);
  }
  const body = text === null ? undefined : parseJson(text);
  if (!response.ok) throw readRefusal(response.status, body, response.headers.get('retry-after'), secrets);
  if (text === null || !isRecord(body)) {
    throw unexpectedResponse(`${request.method} ${new URL(url).pathname}`);
  }
  return text;
}
