import { CloudError } from '../cloud-error';
import type { CloudAnswer } from '../provider';

/** @param code for the call log @param more of the body */
const adminError = (
  status: number,
  code: string,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): CloudError => new CloudError(status, code, message, { error_msg: message, ...more }, headers);

export const keyNotFound = (): CloudError =>
  new CloudError(404, 'KeyNotFound', 'Key not found', { message: 'Key not found' });

export const tokenRefused = (description: string): CloudError =>
  adminError(401, 'TokenRefused', 'failed to check token', { description });

export const invalid = (message: string): CloudError => adminError(400, 'Invalid', message);

export const bodyTooLarge = (bytes: number, limit: number): CloudError =>
  adminError(
    400,
    'BodyTooLarge',
    `invalid request body: request size ${bytes} is greater than the maximum size ${limit} allowed`,
  );

export const methodNotSupported = (method: string): CloudError =>
  adminError(405, 'MethodNotSupported', `not supported \`${method}\` method`);

export const etcdUnavailable = (): CloudError =>
  adminError(503, 'EtcdUnavailable', 'has no healthy etcd endpoint available');

/** The value was changed between the gateway's read and its write. */
export const valueChanged = (): CloudError =>
  adminError(503, 'ValueChanged', 'value changed before overwritten');

export const tooManyRequests = (): CloudError =>
  adminError(429, 'TooManyRequests', 'Too Many Requests', {}, { 'retry-after': '1' });

export const noSuchPath = (): CloudError => adminError(404, 'NotFound', 'not found');

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

export const render = ({ status, code, more, headers }: CloudError): CloudAnswer =>
  jsonAnswer(status, more, code, headers);
