import { parseJson } from '../untrusted-json';
import { oddAnswer, refusalOf, toFailure } from './azure-errors';
import type { Deadline } from './deadline';

export interface Question {
  readonly what: string;
  readonly url: string;
  /** sent by POST; left out: GET */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** texts that must not get into a message */
  readonly secrets: readonly string[];
}

/**
 * Asks Azure what the SDK has no call for. Follows no redirect: what is sent is good for this host only.
 * @throws CallFailure
 */
export async function askJson(question: Question, deadline: Deadline): Promise<Record<string, unknown>> {
  const { what, url, form, headers, secrets } = question;
  let status: number;
  let body: unknown;
  let retryAfter: string | null;
  try {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(deadline.requestMs),
      ...(form && { body: new URLSearchParams(form) }),
    });
    status = response.status;
    retryAfter = response.headers.get('retry-after');
    body = parseJson(await response.text());
  } catch (error) {
    throw toFailure(error, secrets);
  }
  if (status !== 200) throw refusalOf({ status, body, retryAfter }, secrets);
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw oddAnswer(what);
}
