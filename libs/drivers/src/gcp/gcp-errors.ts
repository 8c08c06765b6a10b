import type { DriverErrorKind } from '#rules';
import {
  CallFailure,
  kindsByCode,
  TokenRefused,
  unexpectedResponse as unexpected,
  withoutSecrets,
} from '../call-failure';
import type { JsonApi, ReadRefusal } from '../request-json';
import { readRetryAfter } from '../retry-after';

export const ALREADY_EXISTS = 'alreadyExists';

/** By reason of a refusal or error code of a failed operation: those that say more than the HTTP status. */
const KIND_OF = kindsByCode({
  throttled: [
    'rateLimitExceeded',
    'userRateLimitExceeded',
    'dailyLimitExceeded',
    'concurrentLimitExceeded',
    'RATE_LIMIT_EXCEEDED',
  ],
  transient: ['INTERNAL_ERROR', 'BACKEND_ERROR', 'UNAVAILABLE'],
  conflict: [
    'resourceNotReady',
    'resourceInUseByAnotherResource',
    'RESOURCE_ALREADY_EXISTS',
    'RESOURCE_NOT_READY',
    'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE',
    'CONDITION_NOT_MET',
    'RESOURCE_OPERATION_RATE_EXCEEDED',
  ],
  denied: ['PERMISSION_DENIED', 'PERMISSIONS_ERROR'],
  'target-missing': ['RESOURCE_NOT_FOUND'],
  quota: ['quotaExceeded', 'limitExceeded', 'QUOTA_EXCEEDED', 'LIMIT_EXCEEDED'],
});

/** Kinds by HTTP status, for other reasons. */
const KIND_OF_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [401, 'denied'],
  [403, 'denied'],
  [404, 'target-missing'],
  [408, 'transient'],
  [409, 'conflict'],
  [412, 'conflict'],
  [429, 'throttled'],
]);

export const unexpectedResponse = (call: string): CallFailure => unexpected('Google', call);

/** Classifies an unsuccessful response of Compute. */
const refusalOf: ReadRefusal = ({ status, body, header }, secrets) => {
  const error = fieldOf(body, 'error');
  const message = textOf(error, 'message');
  const retryAfterMs = readRetryAfter(header('retry-after'));
  const isServerError = status >= 500;
  if (message === null) {
    const text = `Unexpected HTTP ${status} response from Google`;
    const kind = status === 429 ? 'throttled' : 'transient';
    return new CallFailure(kind, text, null, status === 429, retryAfterMs);
  }
  const reason = reasonOf(error);
  const fallback = isServerError ? 'transient' : (KIND_OF_STATUS.get(status) ?? 'invalid');
  const kind = KIND_OF.get(reason ?? '') ?? fallback;
  const text = withoutSecrets(reason === null ? message : `${reason}: ${message}`, secrets);
  if (status === 401) return new TokenRefused(kind, text, reason, retryAfterMs);
  return new CallFailure(kind, text, reason, !isServerError, retryAfterMs);
};

/** Classifies a failed operation. @param errors its error list, may be empty */
export function operationFailure(
  errors: readonly { readonly code?: string | null; readonly message?: string | null }[],
  status: number,
): CallFailure {
  const [first] = errors;
  const reason = first?.code ?? null;
  const fallback = status >= 500 ? 'transient' : (KIND_OF_STATUS.get(status) ?? 'invalid');
  const text = errors.map(({ code, message }) => `${code ?? 'ERROR'}: ${message ?? ''}`).join('; ');
  return new CallFailure(KIND_OF.get(reason ?? '') ?? fallback, text || `HTTP ${status}`, reason, true);
}

/** Classifies an unsuccessful response of the token endpoints. */
const tokenRefusalOf: ReadRefusal = ({ status, body, header }, secrets) => {
  const code = fieldOf(body, 'error');
  const description = withoutSecrets(textOf(body, 'error_description') ?? '', secrets);
  const retryAfterMs = readRetryAfter(header('retry-after'));
  if (typeof code !== 'string' || status >= 500 || status === 429) {
    const text =
      typeof code === 'string' ? `${code}: ${description}` : `The token endpoint answered HTTP ${status}`;
    return new CallFailure(status === 429 ? 'throttled' : 'transient', text, null, true, retryAfterMs);
  }
  // Clock skew, or keys of an issuer that Google could not fetch: neither key nor trust is refused.
  const isNoVerdict =
    (code === 'invalid_grant' && description.includes('reasonable timeframe')) ||
    description.includes('Error connecting to the given credential');
  const kind = isNoVerdict ? 'transient' : 'denied';
  return new CallFailure(kind, `${code}: ${description}`, code, true, retryAfterMs);
};

export const GOOGLE: JsonApi = { cloud: 'Google', refusalOf };
export const GOOGLE_TOKENS: JsonApi = { cloud: 'Google', refusalOf: tokenRefusalOf };

/** `errors[0].reason` of the classic format, else the reason of an ErrorInfo, else the name of the status. */
function reasonOf(error: unknown): string | null {
  const classic = firstOf(fieldOf(error, 'errors'));
  const reason = textOf(classic, 'reason');
  if (reason !== null) return reason;
  const details = fieldOf(error, 'details');
  const info = Array.isArray(details)
    ? (details as unknown[]).find((detail) => textOf(detail, 'reason') !== null)
    : undefined;
  return textOf(info, 'reason') ?? textOf(error, 'status');
}

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? (list as unknown[])[0] : undefined);

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const textOf = (value: unknown, name: string): string | null => {
  const field = fieldOf(value, name);
  return typeof field === 'string' && field !== '' ? field : null;
};
