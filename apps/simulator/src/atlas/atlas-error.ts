import { CloudError } from '../cloud-error';
import type { Refusal } from '../faults/serve-call';
import type { CloudAnswer } from '../provider';

const error = (status: number, code: string, detail: string): CloudError =>
  new CloudError(status, code, detail);

export const badRequest = (code: string, detail: string): CloudError => error(400, code, detail);
export const noProject = (id: string): CloudError =>
  error(404, 'GROUP_NOT_FOUND', `No group with ID ${id} exists.`);
export const noEntry = (entry: string): CloudError =>
  error(404, 'ATLAS_NETWORK_PERMISSION_ENTRY_NOT_FOUND', `IP Address ${entry} not on Atlas access list.`);
export const noRoute = (): CloudError => error(404, 'RESOURCE_NOT_FOUND', 'Cannot find resource.');
export const full = (limit: number): CloudError =>
  badRequest('MAX_NETWORK_PERMISSION_ENTRIES_EXCEEDED', `The access list may have ${limit} entries.`);
export const busy = (): CloudError =>
  error(409, 'CONCURRENT_MODIFICATION', 'Another change of the access list is in progress.');
export const unauthorized = (): CloudError =>
  error(401, 'INVALID_SERVICE_ACCOUNT_TOKEN', 'The access token is invalid or expired.');

export const FAULT_ERRORS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: () => error(429, 'RATE_LIMITED', 'Resource is rate limited.'),
  error: () => error(500, 'UNEXPECTED_ERROR', 'Unexpected error.'),
  'not-found': () => noProject('of the request'),
  quota: () => full(200),
  // to a caller that the organization's API access list does not name
  refuse: () =>
    error(
      403,
      'IP_ADDRESS_NOT_ON_ACCESS_LIST',
      'IP address 192.0.2.200 is not allowed to access this resource.',
    ),
  conflict: busy,
  invalid: () => badRequest('INVALID_IP_ADDRESS_OR_CIDR_NOTATION', 'An entry is invalid.'),
  unauthenticated: unauthorized,
};

export const jsonAnswer = (status: number, body?: unknown): CloudAnswer => ({
  status,
  headers: { 'content-type': 'application/vnd.atlas.2023-01-01+json;charset=utf-8' },
  body: body === undefined ? '' : JSON.stringify(body),
  outcome: 'OK',
});

export const render = ({ status, code, message }: CloudError): CloudAnswer => ({
  ...jsonAnswer(status, { error: status, errorCode: code, detail: message, parameters: [], reason: code }),
  ...(status === 429 && { headers: { 'content-type': 'application/json', 'retry-after': '1' } }),
  outcome: code,
});

/** The token endpoint refuses as OAuth says. */
export const renderOAuth = ({ status, code, message }: CloudError): CloudAnswer => ({
  ...jsonAnswer(status, { error: code, error_description: message }),
  outcome: code,
});
