import type { CloudAnswer } from '../provider';

/** An error with Compute's reason and message. */
export class GcpError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
    this.name = 'GcpError';
  }
}

export const invalid = (message: string): GcpError => new GcpError(400, 'invalid', message);

export const invalidValue = (field: string, value: unknown, problem = 'is invalid'): GcpError =>
  invalid(`Invalid value for field '${field}': '${String(value)}'. The value ${problem}.`);

export const notFound = (path: string): GcpError =>
  new GcpError(404, 'notFound', `The resource '${path}' was not found`);

export const alreadyExists = (path: string): GcpError =>
  new GcpError(409, 'alreadyExists', `The resource '${path}' already exists`);

export const notReady = (path: string): GcpError =>
  new GcpError(400, 'resourceNotReady', `The resource '${path}' is not ready`);

export const quotaExceeded = (limit: number): GcpError =>
  new GcpError(403, 'quotaExceeded', `Quota 'FIREWALLS' exceeded.  Limit: ${limit}.0 globally.`);

export const rateLimitExceeded = (project: string): GcpError =>
  new GcpError(
    403,
    'rateLimitExceeded',
    "Quota exceeded for quota group 'MutateGroup' and limit 'Mutate requests per minute' of service " +
      `'compute.googleapis.com' for consumer 'project:${project}'.`,
  );

export const forbidden = (permission: string, path: string): GcpError =>
  new GcpError(403, 'forbidden', `Required '${permission}' permission for '${path}'`);

export const unauthenticated = (): GcpError =>
  new GcpError(
    401,
    'authError',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid ' +
      'authentication credential.',
  );

export const backendError = (): GcpError =>
  new GcpError(500, 'backendError', 'Internal error. Please try again or contact Google Support.');

export function jsonAnswer(status: number, outcome: string, body: unknown): CloudAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(body),
    outcome,
  };
}

/** Google's error body, with the list of errors that older clients read. */
export function refusal({ status, reason, message }: GcpError): CloudAnswer {
  const errors = [{ message, domain: 'global', reason }];
  return jsonAnswer(status, reason, { error: { code: status, message, errors } });
}
