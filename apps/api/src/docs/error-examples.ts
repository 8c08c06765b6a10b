import { STATUS_CODES } from 'node:http';
import { API_PREFIX, codeOf, errorShapeOf, type ErrorShape } from '../errors/error-shape';

const TIMESTAMP = '2026-01-31T09:30:00.000Z';
/** of any operation: responses with the generic body are shared */
const EXAMPLE_PATH = '/api/v1/sessions';

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'The body is not well-formed JSON',
  401: 'The access token is invalid or expired',
  403: 'Only an administrator of the organization may do this',
  404: 'There is no such object in the organization',
  405: 'PUT is not possible here, only GET, POST',
  409: 'It exists already',
  413: 'The body is larger than 100 kB',
  415: 'The content type must be application/json',
  422: 'The request cannot be carried out as it is',
  429: 'Too many requests from this address: try again in 17 seconds',
  500: 'An unexpected error occurred',
  503: 'The service is temporarily unavailable, please try again',
};

/** Codes and messages specific to an operation, by status. */
const OWN_CODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'post /resources 400': { MAX_RESOURCES_REACHED: 'The Free plan has room for 5 resources' },
  'post /resources 404': { CREDENTIAL_NOT_FOUND: 'There is no such credential in the organization' },
  'patch /resources/{id} 404': { CREDENTIAL_NOT_FOUND: 'There is no such credential in the organization' },
  'delete /resources/{id} 400': { RESOURCE_IN_USE: 'Sessions are open on the resource' },
  'post /resources/{id}/verify 400': { VERIFICATION_FAILED: 'The credential may not read the resource' },
  'post /resources/{id}/verify 404': { CLOUD_RESOURCE_NOT_FOUND: 'The cloud has no such security group' },
  'delete /credentials/{id} 400': { CREDENTIAL_IN_USE: 'Resources use the credential' },
};

interface Example {
  readonly value: object;
  readonly summary?: string;
}

/** Examples of the errors of an operation with a status: one for each code. */
export function errorExamples(method: string, path: string, status: number): Record<string, Example> {
  const shape = errorShapeOf(path);
  const message = MESSAGES[status] ?? 'The request was refused';
  if (shape === 'generic') {
    const error = phraseOf(status);
    return { refused: { value: { timestamp: TIMESTAMP, status, error, message, path: EXAMPLE_PATH } } };
  }
  const codes = { [usualCode(path, status, shape)]: message, ...ownCodes(method, path, status) };
  return Object.fromEntries(
    Object.entries(codes).map(([code, text]) => [
      code,
      { value: { error: code, message: text, timestamp: TIMESTAMP } },
    ]),
  );
}

/** The response to an API key without the required scope. */
export const scopeExample = (scope: string): Example => ({
  summary: 'an API key without the scope',
  value: { error: 'Insufficient permissions', message: `API key does not have required scope: ${scope}` },
});

/**
 * The name of an error among those that operations share: its phrase, or its code in coded bodies.
 * @returns null when the operation has codes of its own
 */
export function errorName(method: string, path: string, status: number): string | null {
  if (Object.keys(ownCodes(method, path, status)).length > 0) return null;
  const shape = errorShapeOf(path);
  if (shape === 'generic') return pascalCase(phraseOf(status));
  return `Coded${pascalCase(usualCode(path, status, shape))}`;
}

/** `sessions:write` as `SessionsWrite`. */
export const pascalCase = (text: string): string =>
  text
    .toLowerCase()
    .split(/[^a-z]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const phraseOf = (status: number): string => STATUS_CODES[status] ?? 'Error';

const relative = (path: string): string => path.replace(API_PREFIX, '');

const ownCodes = (method: string, path: string, status: number): Readonly<Record<string, string>> =>
  OWN_CODES[`${method} ${relative(path)} ${status}`] ?? {};

function usualCode(path: string, status: number, shape: ErrorShape): string {
  const place = relative(path);
  if (status === 404 && place.startsWith('/resources/')) return 'RESOURCE_NOT_FOUND';
  const namesCredential = place.startsWith('/credentials/') || place === '/resources';
  return status === 404 && namesCredential ? 'CREDENTIAL_NOT_FOUND' : codeOf(status, shape);
}
