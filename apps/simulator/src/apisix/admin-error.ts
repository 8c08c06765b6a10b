import type { CloudAnswer } from '../provider';

/** A refusal in the Admin API's words. */
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

export const invalid = (words: string): AdminError => new AdminError(400, 'Invalid', { error_msg: words });

export const bodyTooLarge = (bytes: number, most: number): AdminError =>
  new AdminError(400, 'BodyTooLarge', {
    error_msg: `invalid request body: request size ${bytes} is greater than the maximum size ${most} allowed`,
  });

export const methodNotSupported = (method: string): AdminError =>
  new AdminError(405, 'MethodNotSupported', { error_msg: `not supported \`${method}\` method` });

export const etcdTrouble = (): AdminError =>
  new AdminError(503, 'EtcdTrouble', { error_msg: 'has no healthy etcd endpoint available' });

/** Between the gateway's own look and its write somebody else wrote. */
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
