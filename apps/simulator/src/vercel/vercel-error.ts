import type { CloudAnswer } from '../provider';

/** An error with Vercel's code and message. */
export class VercelError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** further fields of the error */
    readonly more: Readonly<Record<string, unknown>> = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'VercelError';
  }
}

export const badRequest = (message: string): VercelError =>
  new VercelError(400, 'bad_request', `Invalid request: ${message}`);

export const forbidden = (message: string, more: Readonly<Record<string, unknown>> = {}): VercelError =>
  new VercelError(403, 'forbidden', message, more);

export const notFound = (message: string): VercelError => new VercelError(404, 'not_found', message);

export const internalError = (): VercelError =>
  new VercelError(500, 'internal_server_error', 'An unexpected internal error occurred.');

/** Vercel does not document its code for this error. */
export const limitReached = (message: string): VercelError => new VercelError(400, 'limit_exceeded', message);

/** @param total number of calls that the limit allows */
export function rateLimited(total: number, seconds = 1): VercelError {
  const resetMs = Date.now() + seconds * 1000;
  const reset = Math.ceil(resetMs / 1000);
  return new VercelError(
    429,
    'rate_limited',
    'The rate limit was exceeded.',
    { limit: { remaining: 0, reset, resetMs, total } },
    {
      'retry-after': String(seconds),
      'x-ratelimit-limit': String(total),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(reset),
    },
  );
}

export const jsonAnswer = (
  status: number,
  body: unknown,
  outcome: string,
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
  outcome,
});

export const errorAnswer = ({ status, code, message, more, headers }: VercelError): CloudAnswer =>
  jsonAnswer(status, { error: { code, message, ...more } }, code, headers);
