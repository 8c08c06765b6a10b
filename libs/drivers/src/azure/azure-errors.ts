import { DRIVER_ERROR_KINDS, type DriverErrorKind } from '#rules';
import { CallFailure, NEVER_SENT, TokenRefused, withoutSecrets } from '../call-failure';
import { readRetryAfter } from '../retry-after';
import { isRecord, parseJson } from '../untrusted-json';

/** The priority is taken: another rule of the same direction has it. */
export const PRIORITY_TAKEN = 'SecurityRuleConflict';

const CODES: Readonly<Record<DriverErrorKind, readonly string[]>> = {
  throttled: ['TooManyRequests', 'SubscriptionRequestsThrottled', 'ResourceRequestsThrottled'],
  transient: [
    'InternalServerError',
    'InternalOperationError',
    'ServiceUnavailable',
    'ServerTimeout',
    'GatewayTimeout',
    'RequestTimeout',
    // A token past its end by Azure's clock: the next call gets a new one.
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
    'ScopeLocked',
    'SubscriptionNotRegistered',
    'MissingSubscriptionRegistration',
    'ReadOnlyDisabledSubscription',
    'DisabledSubscription',
    // Of the token endpoint, by its OAuth names.
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
  quota: ['QuotaExceeded', 'ResourceQuotaExceeded'],
  invalid: ['InvalidRequestContent', 'InvalidRequestFormat', 'InvalidParameter', 'InvalidResourceName'],
};

const KIND_OF: ReadonlyMap<string, DriverErrorKind> = new Map(
  DRIVER_ERROR_KINDS.flatMap((kind) => CODES[kind].map((code) => [code, kind] as const)),
);

/** Azure has a code for each of its limits: all of them end like this. */
const LIMIT = /(Limit|Quota|Count)(Exceeded|Reached)$/;

/** An answer that says neither yes nor no. */
export const oddAnswer = (what: string): CallFailure =>
  new CallFailure('transient', `The answer to ${what} is none that Azure gives`, null, false);

/** A refusal in Azure's words. */
export interface AzureErrorBody {
  readonly code: string;
  readonly message: string;
  /** codes that say more than `code` */
  readonly details: readonly string[];
}

/** An answer that was no success, as it came over the wire. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter?: string | null | undefined;
}

/**
 * Classifies a refusal by Azure's code and the HTTP status.
 * @param secrets texts that must not get into the message
 */
export function refusalOf({ status, body, retryAfter }: Refusal, secrets: readonly string[]): CallFailure {
  const words = messageOf(body);
  const { kind, settled } = verdictOn(status, words);
  const text = words
    ? `${words.code}: ${words.message}`
    : `The answer, HTTP ${status}, is none that Azure gives`;
  const message = withoutSecrets(text, secrets);
  const retryAfterMs = readRetryAfter(retryAfter);
  if (words && status === 401) return new TokenRefused(kind, message, words.code, retryAfterMs);
  return new CallFailure(kind, message, words?.code ?? null, settled, retryAfterMs);
}

/** Classifies what an operation that Azure had accepted ended with. It was not done, whatever the code. */
export function lateRefusal(body: unknown, secrets: readonly string[]): CallFailure {
  const words = messageOf(body);
  const kind = (words && kindOf(words)) ?? 'transient';
  const text = words ? `${words.code}: ${words.message}` : 'Azure gave up on the change and did not say why';
  return new CallFailure(kind, withoutSecrets(text, secrets), words?.code ?? null, true);
}

/** What the SDK, or `fetch`, threw; everything may be missing. */
interface Thrown {
  readonly code?: string;
  readonly message?: string;
  readonly cause?: { readonly code?: string };
  readonly response?: {
    readonly status?: number;
    readonly bodyAsText?: string | null;
    readonly headers?: { get(name: string): string | undefined };
  };
}

/** Classifies what a call threw. */
export function toFailure(error: unknown, secrets: readonly string[]): CallFailure {
  if (error instanceof CallFailure) return error;
  const given: Thrown = typeof error === 'object' && error !== null ? error : { message: String(error) };
  const { response } = given;
  if (response?.status !== undefined) {
    const body = parseJson(response.bodyAsText ?? '');
    return refusalOf(
      { status: response.status, body, retryAfter: response.headers?.get('retry-after') },
      secrets,
    );
  }
  const code = given.cause?.code ?? given.code ?? '';
  const words = withoutSecrets(`No answer from Azure: ${code || (given.message ?? '')}`, secrets);
  return new CallFailure('transient', words, null, NEVER_SENT.has(code));
}

function verdictOn(
  status: number,
  words: AzureErrorBody | null,
): { kind: DriverErrorKind; settled: boolean } {
  const known = words && kindOf(words);
  // 429 is both too many calls and a group that is being changed: the code tells.
  if (status === 429 && known !== 'conflict') return { kind: 'throttled', settled: true };
  if (known) return { kind: known, settled: known !== 'transient' || status < 500 };
  if (!words || status < 400 || status >= 500 || status === 408) return { kind: 'transient', settled: false };
  if (status === 401 || status === 403) return { kind: 'denied', settled: true };
  return { kind: status === 409 || status === 412 ? 'conflict' : 'invalid', settled: true };
}

function kindOf({ code, details }: AzureErrorBody): DriverErrorKind | undefined {
  return [...details, code]
    .map((name) => KIND_OF.get(name) ?? (LIMIT.test(name) ? 'quota' : undefined))
    .find(Boolean);
}

/** Azure's own form `{error: {code, message, details}}`, or OAuth's `{error, error_description}`. */
function messageOf(body: unknown): AzureErrorBody | null {
  if (!isRecord(body)) return null;
  const { error } = body;
  if (typeof error === 'string') {
    const words = typeof body.error_description === 'string' ? body.error_description : '';
    const [firstLine = ''] = words.split(/\r?\n/);
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
