import { CallFailure } from '../call-failure';
import { noAnswer, oddAnswer } from './gcp-errors';

/** Reads what an answer that is no success means. @param body parsed, undefined when it is no JSON */
export type RefusalReader = (status: number, body: unknown, retryAfter: string | null) => CallFailure;

/** A page of 500 firewall rules with 256 ranges each stays far below. */
const MAX_ANSWER_BYTES = 8_000_000;

/**
 * One HTTP call to Google: never repeated, never redirected, bounded in time and size.
 * @param withinMs from its start to the last byte of its answer
 * @returns the answer's JSON text, an object
 * @throws CallFailure for anything else
 */
export async function exchange(
  url: string,
  request: { method: string; headers: Record<string, string> | Headers; body?: string },
  withinMs: number,
  readRefusal: RefusalReader,
): Promise<string> {
  let response: Response;
  let text: string | null;
  const signal = AbortSignal.timeout(Math.max(1, Math.ceil(withinMs)));
  try {
    response = await fetch(url, { ...request, redirect: 'manual', signal });
    text = await readBounded(response);
  } catch (error) {
    throw noAnswer(error);
  }
  const body = text === null ? undefined : parsed(text);
  if (!response.ok) throw readRefusal(response.status, body, response.headers.get('retry-after'));
  if (text === null || typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw oddAnswer(`${request.method} ${new URL(url).pathname}`);
  }
  return text;
}

/** @returns null when it is too long */
async function readBounded(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
