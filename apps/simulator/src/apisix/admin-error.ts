import type { CloudAnswer } from '../provider';

/** An error with the Admin API's body. */
export class AdminError extends Error {
  constructor(
    readonly status: number,
    /** for the call log */
    readonly code: string,
    readonly body: Readonly<Record<string, unknown>>,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(code);
    this.name = 'AdminError';
  }
}

export const keyNotFound = (): AdminError => new AdminError(404, 'KeyNotFound', { message: 'Key not found' });

export const tokenRefused = (description: string): AdminError =>
  new AdminError(401, 'TokenRefused', { error_msg: 'failed to check token', description });

export const invalid = (message: string): AdminError =>
  new AdminError(400, 'Invalid', { error_msg: message });

export const bodyTooLarge = (bytes: number, limit: number): AdminError =>
  new AdminError(400, 'BodyTooLarge', {
    error_msg: `invalid request body: request size ${bytes} is greater than the maximum size ${limit} allowed`,
  });

export const methodNotSupported = (method: string): AdminError =>
  new AdminError(405, 'MethodNotSupported', { error_msg: `not supported \`${method}\` method` });

export const etcdUnavailable = (): AdminError =>
  new AdminError(503, 'EtcdUnavailable', { error_msg: 'has no healthy etcd endpoint available' });

/** The value was changed between the gateway's read and its write. */
export const valueChanged = (): AdminError =>
  new AdminError(503, 'ValueChanged', { error_msg: 'value changed before overwritten' });

export const tooManyRequests = (): AdminError =>
  new AdminError(429, 'TooManyRequests', { error_msg: 'Too Many Requests' }, { 'retry-after': '1' });

/** @param outcome for the call log */
export const jsonAnswer = (
  status: number,
  body: unknown,
  outcome = 'OK',
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer => ({
  status,
  headers: { ...headers, 'content-type': 'application/json', server: 'APISIX/3.13.0' },
  body: `${JSON.stringify(body)}\n`,
  outcome,
});

export const errorAnswer = ({ status, code, body, headers }: AdminError): CloudAnswer =>
  jsonAnswer(status, body, code, headers);
