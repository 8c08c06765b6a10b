import { DRIVER_ERROR_KINDS, type DriverErrorKind } from '#rules';
import { CallFailure, NEVER_SENT, TokenRefused } from '../call-failure';
import { readRetryAfter } from '../retry-after';

export const ALREADY_EXISTS = 'alreadyExists';

/** By the reason of a refusal, or the code of an operation that failed. The HTTP status alone says too little. */
const REASONS: Readonly<Record<DriverErrorKind, readonly string[]>> = {
  throttled: [
    'rateLimitExceeded',
    'userRateLimitExceeded',
    'dailyLimitExceeded',
    'concurrentLimitExceeded',
    'RATE_LIMIT_EXCEEDED',
  ],
  transient: ['backendError', 'internalError', 'INTERNAL_ERROR', 'BACKEND_ERROR', 'UNAVAILABLE'],
  conflict: [
    ALREADY_EXISTS,
    'resourceNotReady',
    'resourceInUseByAnotherResource',
    'conditionNotMet',
    'fingerprintMismatch',
    'RESOURCE_ALREADY_EXISTS',
    'RESOURCE_NOT_READY',
    'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE',
    'CONDITION_NOT_MET',
    'RESOURCE_OPERATION_RATE_EXCEEDED',
  ],
  denied: [
    'forbidden',
    'accessNotConfigured',
    'insufficientPermissions',
    'authError',
    'required',
    'accountDisabled',
    'billingNotEnabled',
    'PERMISSION_DENIED',
    'PERMISSIONS_ERROR',
  ],
  'target-missing': ['notFound', 'RESOURCE_NOT_FOUND'],
  quota: ['quotaExceeded', 'limitExceeded', 'QUOTA_EXCEEDED', 'LIMIT_EXCEEDED'],
  invalid: [
    'invalid',
    'invalidParameter',
    'badRequest',
    'parseError',
    'INVALID_FIELD_VALUE',
    'INVALID_USAGE',
    'UNSUPPORTED_OPERATION',
  ],
};

const KIND_OF: ReadonlyMap<string, DriverErrorKind> = new Map(
  DRIVER_ERROR_KINDS.flatMap((kind) => REASONS[kind].map((reason) => [reason, kind] as const)),
);

/** For a refusal whose reason is none of those. */
const KIND_OF_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [401, 'denied'],
  [403, 'denied'],
  [404, 'target-missing'],
  [408, 'transient'],
  [409, 'conflict'],
  [412, 'conflict'],
  [429, 'throttled'],
]);

/** An answer that says neither yes nor no. */
export const oddAnswer = (call: string): CallFailure =>
  new CallFailure('transient', `The answer to ${call} is none that Google gives`, null, false);

/** No answer, or none in time. @param error what `fetch` threw */
export function noAnswer(error: unknown): CallFailure {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = textOf(cause, 'code') ?? '';
  const words = textOf(cause, 'message') ?? textOf(error, 'message') ?? 'the connection failed';
  return new CallFailure('transient', `No answer from Google: ${words}`, null, NEVER_SENT.has(code));
}

/** What Compute says with an HTTP status that is no success. @param body parsed, undefined when it is no JSON */
export function refusal(status: number, body: unknown, retryAfter: string | null): CallFailure {
  const error = fieldOf(body, 'error');
  const message = textOf(error, 'message');
  const retryAfterMs = readRetryAfter(retryAfter);
  const isServerError = status >= 500;
  if (message === null) {
    const words = `The answer, HTTP ${status}, is none that Google gives`;
    const kind = status === 429 ? 'throttled' : 'transient';
    return new CallFailure(kind, words, null, status === 429, retryAfterMs);
  }
  const reason = reasonOf(error);
  const fallback = isServerError ? 'transient' : (KIND_OF_STATUS.get(status) ?? 'invalid');
  const kind = KIND_OF.get(reason ?? '') ?? fallback;
  const words = reason === null ? message : `${reason}: ${message}`;
  if (status === 401) return new TokenRefused(kind, words, reason, retryAfterMs);
  return new CallFailure(kind, words, reason, !isServerError, retryAfterMs);
}

/** What an operation ended with. @param errors its list; empty when the operation named none */
export function operationFailure(
  errors: readonly { readonly code?: string | null; readonly message?: string | null }[],
  status: number,
): CallFailure {
  const [first] = errors;
  const reason = first?.code ?? null;
  const fallback = status >= 500 ? 'transient' : (KIND_OF_STATUS.get(status) ?? 'invalid');
  const words = errors.map(({ code, message }) => `${code ?? 'ERROR'}: ${message ?? ''}`).join('; ');
  return new CallFailure(KIND_OF.get(reason ?? '') ?? fallback, words || `HTTP ${status}`, reason, true);
}

/** What the token endpoint says with an HTTP status that is no success. */
export function tokenRefusal(status: number, body: unknown, retryAfter: string | null): CallFailure {
  const code = fieldOf(body, 'error');
  const description = textOf(body, 'error_description') ?? '';
  const retryAfterMs = readRetryAfter(retryAfter);
  if (typeof code !== 'string' || status >= 500 || status === 429) {
    const words =
      typeof code === 'string' ? `${code}: ${description}` : `The token endpoint answered HTTP ${status}`;
    return new CallFailure(status === 429 ? 'throttled' : 'transient', words, null, true, retryAfterMs);
  }
  // A clock that runs wrong, ours or theirs: nothing is the matter with the key.
  const isClock = code === 'invalid_grant' && description.includes('reasonable timeframe');
  return new CallFailure(
    isClock ? 'transient' : 'denied',
    `${code}: ${description}`,
    code,
    true,
    retryAfterMs,
  );
}

/** `errors[0].reason` of the classic form, else the reason of an ErrorInfo, else the status' name. */
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
