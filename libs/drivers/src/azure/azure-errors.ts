import type { DriverErrorKind } from '#rules';
import {
  CallFailure,
  kindsByCode,
  noResponse,
  TokenRefused,
  unexpectedResponse as unexpected,
  withoutSecrets,
} from '../call-failure';
import type { Refusal } from '../request-json';
import { readRetryAfter } from '../retry-after';
import { isRecord, parseJson } from '../untrusted-json';

/** Another rule of the same direction has the priority. */
export const PRIORITY_TAKEN = 'SecurityRuleConflict';
/** A lock on the group or above it refuses the change. */
export const SCOPE_LOCKED = 'ScopeLocked';

/** Codes that say more than the HTTP status. */
const KIND_OF = kindsByCode({
  throttled: ['TooManyRequests', 'SubscriptionRequestsThrottled', 'ResourceRequestsThrottled'],
  transient: [
    // The token has expired by Azure's clock: the next call gets a new one.
    'ExpiredAuthenticationToken',
    'temporarily_unavailable',
  ],
  conflict: [
    PRIORITY_TAKEN,
    'RetryableError',
    'RetryableErrorDueToAnotherOperation',
    'AnotherOperationInProgress',
    'Conflict',
    'ConflictError',
    'Canceled',
    'CanceledAndSupersededDueToAnotherOperation',
    'OperationPreempted',
    'PreconditionFailed',
    'ReferencedResourceNotProvisioned',
    'StorageAccountOperationInProgress',
    'ServerIsBusy',
    'OperationInProgress',
  ],
  denied: [
    'AuthorizationFailed',
    'LinkedAuthorizationFailed',
    'DenyAssignmentAuthorizationFailed',
    'AuthenticationFailed',
    'AuthenticationFailedMissingToken',
    'InvalidAuthenticationToken',
    'InvalidAuthenticationTokenTenant',
    'InvalidAuthenticationTokenAudience',
    'RequestDisallowedByPolicy',
    SCOPE_LOCKED,
    'SubscriptionNotRegistered',
    'MissingSubscriptionRegistration',
    'ReadOnlyDisabledSubscription',
    'DisabledSubscription',
    // OAuth error codes of the token endpoint.
    'invalid_client',
    'unauthorized_client',
    'invalid_request',
    'invalid_grant',
    'invalid_scope',
    'invalid_resource',
    'invalid_tenant',
    'access_denied',
  ],
  'target-missing': [
    'ResourceNotFound',
    'ResourceGroupNotFound',
    'SubscriptionNotFound',
    'InvalidSubscriptionId',
    'ParentResourceNotFound',
    'NotFound',
  ],
  // 40611: SQL
  quota: ['QuotaExceeded', 'ResourceQuotaExceeded', '40611'],
  invalid: ['InvalidRequestContent', 'InvalidRequestFormat', 'InvalidParameter', 'InvalidResourceName'],
});

/** Azure has a separate code for each limit, with one of these suffixes. */
const LIMIT = /(Limit|Quota|Count)(Exceeded|Reached)$/;

export const unexpectedResponse = (operation: string): CallFailure => unexpected('Azure', operation);

/** The error in a response body. */
interface AzureErrorBody {
  readonly code: string;
  readonly message: string;
  /** more specific codes */
  readonly details: readonly string[];
}

/**
 * Classifies an unsuccessful response by Azure's error code and the HTTP status.
 * @param secrets masked in the message
 */
export function refusalOf({ status, body, header }: Refusal, secrets: readonly string[]): CallFailure {
  const error = messageOf(body);
  const { kind, settled } = verdictOn(status, error);
  const text = error ? `${error.code}: ${error.message}` : `Unexpected HTTP ${status} response from Azure`;
  const message = withoutSecrets(text, secrets);
  const retryAfterMs = readRetryAfter(header('retry-after'));
  if (error && status === 401) return new TokenRefused(kind, message, error.code, retryAfterMs);
  return new CallFailure(kind, message, error?.code ?? null, settled, retryAfterMs);
}

/** Classifies the error of an accepted operation that failed later. It had no effect, whatever the code. */
export function lateRefusal(body: unknown, secrets: readonly string[]): CallFailure {
  const error = messageOf(body);
  const kind = (error && kindOf(error)) ?? 'transient';
  const text = error ? `${error.code}: ${error.message}` : 'Azure failed the change without an error message';
  return new CallFailure(kind, withoutSecrets(text, secrets), error?.code ?? null, true);
}

/** An error of the SDK for a response. */
interface Thrown {
  readonly response?: {
    readonly status?: number;
    readonly bodyAsText?: string | null;
    readonly headers?: { get(name: string): string | undefined };
  };
}

/** Classifies an error of the SDK. */
export function toFailure(error: unknown, secrets: readonly string[]): CallFailure {
  const { response }: Thrown = typeof error === 'object' && error !== null ? error : {};
  if (response?.status === undefined) return noResponse('Azure', error, secrets);
  const body = parseJson(response.bodyAsText ?? '');
  return refusalOf({ status: response.status, body, header: (name) => response.headers?.get(name) }, secrets);
}

function verdictOn(
  status: number,
  error: AzureErrorBody | null,
): { kind: DriverErrorKind; settled: boolean } {
  const known = error && kindOf(error);
  // 429 means throttling or a concurrent change of the group: the code decides.
  if (status === 429 && known !== 'conflict') return { kind: 'throttled', settled: true };
  if (known) return { kind: known, settled: known !== 'transient' || status < 500 };
  if (!error || status < 400 || status >= 500 || status === 408) return { kind: 'transient', settled: false };
  if (status === 401 || status === 403) return { kind: 'denied', settled: true };
  return { kind: status === 409 || status === 412 ? 'conflict' : 'invalid', settled: true };
}

function kindOf({ code, details }: AzureErrorBody): DriverErrorKind | undefined {
  return [...details, code]
    .map((name) => KIND_OF.get(name) ?? (LIMIT.test(name) ? 'quota' : undefined))
    .find(Boolean);
}

/** Parses Azure's `{error: {code, message, details}}` or OAuth's `{error, error_description}`. */
function messageOf(body: unknown): AzureErrorBody | null {
  if (!isRecord(body)) return null;
  const { error } = body;
  if (typeof error === 'string') {
    const description = typeof body.error_description === 'string' ? body.error_description : '';
    const [firstLine = ''] = description.split(/\r?\n/);
    return { code: error, message: firstLine, details: [] };
  }
  if (!isRecord(error) || typeof error.code !== 'string' || error.code === '') return null;
  const details: unknown[] = Array.isArray(error.details) ? error.details : [];
  return {
    code: error.code,
    message: typeof error.message === 'string' ? error.message : '',
    details: details.flatMap((detail) =>
      isRecord(detail) && typeof detail.code === 'string' ? [detail.code] : [],
    ),
  };
}
