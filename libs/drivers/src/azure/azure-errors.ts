import { DRIVER_ERROR_KINDS, type ChangeResult, type DriverErrorKind } from '#rules';
import { DriverError } from '../driver-error';
import { changeResultOf } from '../outcomes';
import { readRetryAfter } from '../retry-after';

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
/** Failures before a connection stood: nothing was sent. */
const NEVER_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);
const LONGEST_MESSAGE = 500;

/** A call to Azure that did not succeed. */
export class AzureFailure extends DriverError {
  /**
   * @param code Azure's name for the error; null when it gave none
   * @param settled true: Azure surely did not do what was asked; false: only reading tells
   */
  constructor(
    kind: DriverErrorKind,
    message: string,
    readonly code: string | null,
    readonly settled: boolean,
    retryAfterMs: number | null = null,
  ) {
    super(kind, message, retryAfterMs);
    this.name = 'AzureFailure';
  }

  /** What a write that failed like this means for its change. */
  get changeResult(): ChangeResult {
    return changeResultOf(this);
  }
}

/** An answer that says neither yes nor no. */
export const oddAnswer = (what: string): AzureFailure =>
  new AzureFailure('transient', `The answer to ${what} is none that Azure gives`, null, false);

/** A refusal in Azure's words. */
export interface AzureWords {
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
export function refusalOf({ status, body, retryAfter }: Refusal, secrets: readonly string[]): AzureFailure {
  const words = wordsOf(body);
  const { kind, settled } = verdictOn(status, words);
  const text = words
    ? `${words.code}: ${words.message}`
    : `The answer, HTTP ${status}, is none that Azure gives`;
  return new AzureFailure(
    kind,
    clean(text, secrets),
    words?.code ?? null,
    settled,
    readRetryAfter(retryAfter),
  );
}

/** Classifies what an operation that Azure had accepted ended with. It was not done, whatever the code. */
export function lateRefusal(body: unknown, secrets: readonly string[]): AzureFailure {
  const words = wordsOf(body);
  const kind = (words && kindOf(words)) ?? 'transient';
  const text = words ? `${words.code}: ${words.message}` : 'Azure gave up on the change and did not say why';
  return new AzureFailure(kind, clean(text, secrets), words?.code ?? null, true);
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
export function toFailure(error: unknown, secrets: readonly string[]): AzureFailure {
  if (error instanceof AzureFailure) return error;
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
  const words = clean(`No answer from Azure: ${code || (given.message ?? '')}`, secrets);
  return new AzureFailure('transient', words, null, NEVER_SENT.has(code));
}

/** @returns undefined when the text is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function verdictOn(status: number, words: AzureWords | null): { kind: DriverErrorKind; settled: boolean } {
  const known = words && kindOf(words);
  // 429 is both too many calls and a group that is being changed: the code tells.
  if (status === 429 && known !== 'conflict') return { kind: 'throttled', settled: true };
  if (known) return { kind: known, settled: known !== 'transient' || status < 500 };
  if (!words || status < 400 || status >= 500 || status === 408) return { kind: 'transient', settled: false };
  if (status === 401 || status === 403) return { kind: 'denied', settled: true };
  return { kind: status === 409 || status === 412 ? 'conflict' : 'invalid', settled: true };
}

function kindOf({ code, details }: AzureWords): DriverErrorKind | undefined {
  return [...details, code]
    .map((name) => KIND_OF.get(name) ?? (LIMIT.test(name) ? 'quota' : undefined))
    .find(Boolean);
}

/** Azure's own form `{error: {code, message, details}}`, or OAuth's `{error, error_description}`. */
function wordsOf(body: unknown): AzureWords | null {
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function clean(words: string, secrets: readonly string[]): string {
  const text = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), words);
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE - 1)}…`;
}
