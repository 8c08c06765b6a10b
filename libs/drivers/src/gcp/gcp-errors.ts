import { DRIVER_ERROR_KINDS, type DriverErrorKind } from '#rules';
import { CallFailure, CONNECT_ERROR_CODES, TokenRefused, withoutSecrets } from '../call-failure';
import { readRetryAfter } from '../retry-after';

export const ALREADY_EXISTS = 'alreadyExists';

/** Kinds by reason of a refusal or error code of a failed operation, which are more specific than the HTTP status. */
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
  'wrong-family': [],
};

const KIND_OF: ReadonlyMap<string, DriverErrorKind> = new Map(
  DRIVER_ERROR_KINDS.flatMap((kind) => REASONS[kind].map((reason) => [reason, kind] as const)),
);

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

/** A response that neither confirms nor refuses the call. */
export const unexpectedResponse = (call: string): CallFailure =>
  new CallFailure('transient', `Unexpected response from Google to ${call}`, null, false);

/** No response before the timeout. @param error thrown by `fetch` @param secrets masked in the message */
export function noResponse(error: unknown, secrets: readonly string[]): CallFailure {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = textOf(cause, 'code') ?? '';
  const text = textOf(cause, 'message') ?? textOf(error, 'message') ?? 'the connection failed';
  return new CallFailure(
    'transient',
    withoutSecrets(`No response from Google: ${text}`, secrets),
    null,
    CONNECT_ERROR_CODES.has(code),
  );
}

/** Classifies an unsuccessful response of Compute. Parameters as of `RefusalReader`. */
export function refusal(
  status: number,
  body: unknown,
  retryAfter: string | null,
  secrets: readonly string[],
): CallFailure {
  const error = fieldOf(body, 'error');
  const message = textOf(error, 'message');
  const retryAfterMs = readRetryAfter(retryAfter);
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
}

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

/** Classifies an unsuccessful response of the token endpoint. Parameters as of `RefusalReader`. */
export function tokenRefusal(
  status: number,
  body: unknown,
  retryAfter: string | null,
  secrets: readonly string[],
): CallFailure {
  const code = fieldOf(body, 'error');
  const description = withoutSecrets(textOf(body, 'error_description') ?? '', secrets);
  const retryAfterMs = readRetryAfter(retryAfter);
  if (typeof code !== 'string' || status >= 500 || status === 429) {
    const text =
      typeof code === 'string' ? `${code}: ${description}` : `The token endpoint answered HTTP ${status}`;
    return new CallFailure(status === 429 ? 'throttled' : 'transient', text, null, true, retryAfterMs);
  }
  // Clock skew: the key is valid.
  const isClockSkew = code === 'invalid_grant' && description.includes('reasonable timeframe');
  return new CallFailure(
    isClockSkew ? 'transient' : 'denied',
    `${code}: ${description}`,
    code,
    true,
    retryAfterMs,
  );
}

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
