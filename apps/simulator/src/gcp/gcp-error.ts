import { CloudError } from '../cloud-error';
import type { CloudAnswer } from '../provider';

export const invalid = (message: string): CloudError => new CloudError(400, 'invalid', message);

export const invalidValue = (field: string, value: unknown, problem = 'is invalid'): CloudError =>
  invalid(`Invalid value for field '${field}': '${String(value)}'. The value ${problem}.`);

export const notFound = (path: string): CloudError =>
  new CloudError(404, 'notFound', `The resource '${path}' was not found`);

export const alreadyExists = (path: string): CloudError =>
  new CloudError(409, 'alreadyExists', `The resource '${path}' already exists`);

export const notReady = (path: string): CloudError =>
  new CloudError(400, 'resourceNotReady', `The resource '${path}' is not ready`);

export const quotaExceeded = (limit: number): CloudError =>
  new CloudError(403, 'quotaExceeded', `Quota 'FIREWALLS' exceeded.  Limit: ${limit}.0 globally.`);

export const rateLimitExceeded = (project: string): CloudError =>
  new CloudError(
    403,
    'rateLimitExceeded',
    "Quota exceeded for quota group 'MutateGroup' and limit 'Mutate requests per minute' of service " +
      `'compute.googleapis.com' for consumer 'project:${project}'.`,
  );

export const forbidden = (permission: string, path: string): CloudError =>
  new CloudError(403, 'forbidden', `Required '${permission}' permission for '${path}'`);

export const unauthenticated = (): CloudError =>
  new CloudError(
    401,
    'authError',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid ' +
      'authentication credential.',
  );

export const backendError = (): CloudError =>
  new CloudError(500, 'backendError', 'Internal error. Please try again or contact Google Support.');

export function jsonAnswer(status: number, outcome: string, body: unknown): CloudAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(body),
    outcome,
  };
}

/** Google's error body, with the list of errors that older clients read. */
export function render({ status, code, message }: CloudError): CloudAnswer {
  const errors = [{ message, domain: 'global', reason: code }];
  return jsonAnswer(status, code, { error: { code: status, message, errors } });
}

/** An error of the token services, and how they answer it. */
export const oauthError = (error: string, description: string, status = 400): CloudError =>
  new CloudError(status, error, description);

export const renderOauth = ({ status, code, message, more }: CloudError): CloudAnswer =>
  jsonAnswer(status, code, 'error' in more ? more : { error: code, error_description: message });
