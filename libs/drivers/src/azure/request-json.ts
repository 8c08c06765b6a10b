import { readBounded } from '../bounded-body';
import { isRecord, parseJson } from '../untrusted-json';
import { unexpectedResponse, refusalOf, toFailure } from './azure-errors';
import type { Deadline } from './deadline';

/** A token, or a page of the permissions of many roles, is much smaller. */
const MAX_RESPONSE_BYTES = 4_000_000;

interface JsonRequest {
  /** for error messages */
  readonly operation: string;
  readonly url: string;
  /** sent by POST; omitted: GET */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** masked in error messages */
  readonly secrets: readonly string[];
}

/**
 * Sends a request that the SDK does not support. Follows no redirects: the credential is for this host only.
 * @throws CallFailure
 */
export async function requestJson(
  { operation, url, form, headers, secrets }: JsonRequest,
  deadline: Deadline,
): Promise<Record<string, unknown>> {
  let status: number;
  let body: unknown;
  let retryAfter: string | null;
  try {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(deadline.requestTimeoutMs),
      ...(form && { body: new URLSearchParams(form) }),
    });
    status = response.status;
    retryAfter = response.headers.get('retry-after');
    const text = await readBounded(response, MAX_RESPONSE_BYTES);
    if (text === null) throw unexpectedResponse(operation);
    body = parseJson(text);
  } catch (error) {
    throw toFailure(error, secrets);
  }
  if (status !== 200) throw refusalOf({ status, body, retryAfter }, secrets);
  if (isRecord(body)) return body;
  throw unexpectedResponse(operation);
}
