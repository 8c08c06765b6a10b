import { CloudError } from '../cloud-error';
import type { CloudAnswer } from '../provider';

export const badRequest = (message: string): CloudError =>
  new CloudError(400, 'bad_request', `Invalid request: ${message}`);

export const forbidden = (message: string, more: Readonly<Record<string, unknown>> = {}): CloudError =>
  new CloudError(403, 'forbidden', message, more);

export const notFound = (message: string): CloudError => new CloudError(404, 'not_found', message);

export const internalError = (): CloudError =>
  new CloudError(500, 'internal_server_error', 'An unexpected internal error occurred.');

/** Vercel does not document its code for this error. */
export const limitReached = (message: string): CloudError => new CloudError(400, 'limit_exceeded', message);

/** @param total number of calls that the limit allows */
export function rateLimited(total: number): CloudError {
  const resetMs = Date.now() + 1000;
  const reset = Math.ceil(resetMs / 1000);
  return new CloudError(
    429,
    'rate_limited',
    'The rate limit was exceeded.',
    { limit: { remaining: 0, reset, resetMs, total } },
    {
      'retry-after': '1',
      'x-ratelimit-limit': String(total),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(reset),
    },
  );
}

export const jsonAnswer = (
  status: number,
  body: unknown,
  outcome = 'OK',
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
  outcome,
});

export const render = ({ status, code, message, more, headers }: CloudError): CloudAnswer =>
  jsonAnswer(status, { error: { code, message, ...more } }, code, headers);
