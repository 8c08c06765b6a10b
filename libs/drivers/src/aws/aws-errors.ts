import { DRIVER_ERROR_KINDS, type DriverErrorKind } from '#rules';
import { CallFailure, NEVER_SENT, TokenRefused, withoutSecrets } from '../call-failure';
import { readRetryAfter } from '../retry-after';

export const DUPLICATE_RULE = 'InvalidPermission.Duplicate';

/** A change of a prefix list adds what stands, or removes what does not. */
export const ENTRY_MISMATCH = 'InvalidPrefixListModification';

/** A revocation names a rule that the group does not have: the whole call was refused. */
export const RULE_NOT_FOUND: ReadonlySet<string | null> = new Set([
  'InvalidSecurityGroupRuleId.NotFound',
  'InvalidPermission.NotFound',
]);

const CODES: Readonly<Record<DriverErrorKind, readonly string[]>> = {
  throttled: [
    'RequestLimitExceeded',
    'Throttling',
    'ThrottlingException',
    'ThrottledException',
    'EC2ThrottledException',
    'RequestThrottled',
    'RequestThrottledException',
    'TooManyRequestsException',
    'BandwidthLimitExceeded',
    'SlowDown',
  ],
  transient: [
    'InternalError',
    'InternalFailure',
    'Unavailable',
    'ServiceUnavailable',
    'ServiceUnavailableException',
    // A clock that runs wrong: the SDK corrects it by the answer, for the next call.
    'RequestExpired',
    'RequestInTheFuture',
    'RequestTimeTooSkewed',
  ],
  conflict: [
    DUPLICATE_RULE,
    ...[...RULE_NOT_FOUND].filter((code) => code !== null),
    // Somebody else changes the object, or has changed it since we looked.
    'IncorrectState',
    'PrefixListVersionMismatch',
    ENTRY_MISMATCH,
    'ConcurrentMutationLimitExceeded',
  ],
  denied: [
    'UnauthorizedOperation',
    'AccessDenied',
    'AccessDeniedException',
    'AuthFailure',
    'OptInRequired',
    'Blocked',
    'PendingVerification',
    'ExpiredToken',
    'ExpiredTokenException',
    'InvalidClientTokenId',
    'UnrecognizedClientException',
    'SignatureDoesNotMatch',
    'IncompleteSignature',
    'InvalidSignatureException',
    'MissingAuthenticationToken',
    'OperationNotPermitted',
    'RegionDisabledException',
  ],
  'target-missing': [
    'InvalidGroup.NotFound',
    'InvalidGroupId.Malformed',
    'InvalidSecurityGroupID.NotFound',
    'InvalidSecurityGroupId.NotFound',
    'InvalidPrefixListID.NotFound',
    'InvalidPrefixListId.NotFound',
    'InvalidPrefixListID.Malformed',
    'InvalidPrefixListId.Malformed',
  ],
  quota: ['RulesPerSecurityGroupLimitExceeded', 'PrefixListMaxEntriesExceeded'],
  invalid: [
    'InvalidParameterValue',
    'InvalidParameterCombination',
    'InvalidParameter',
    'MissingParameter',
    'UnknownParameter',
    'InvalidPermission.Malformed',
    'InvalidSecurityGroupRuleId.Malformed',
    'InvalidCidr',
    'ValidationError',
  ],
};

const KIND_OF: ReadonlyMap<string, DriverErrorKind> = new Map(
  DRIVER_ERROR_KINDS.flatMap((kind) => CODES[kind].map((code) => [code, kind] as const)),
);

/** The keys of a role's session are not known, or their time is over. Of a user's own keys they say the same. */
const OF_KEYS: ReadonlySet<string | null> = new Set([
  'AuthFailure',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'RequestExpired',
  'UnrecognizedClientException',
]);

const CONNECTING: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** An answer that says neither yes nor no. */
export const oddAnswer = (operation: string): CallFailure =>
  new CallFailure('transient', `The answer to ${operation} is none that AWS gives`, null, false);

/**
 * Classifies what the SDK threw, by the error's name and the HTTP status.
 * @param secrets texts that must not get into the message: AWS quotes signed headers, the session token among them
 */
export function toFailure(error: unknown, secrets: readonly string[]): CallFailure {
  if (error instanceof CallFailure) return error;
  const thrown = readThrown(error);
  const { kind, settled } = verdictOn(thrown);
  if (settled && OF_KEYS.has(thrown.code))
    return new TokenRefused(kind, messageOf(thrown, secrets), thrown.code, thrown.retryAfterMs);
  return new CallFailure(kind, messageOf(thrown, secrets), thrown.code, settled, thrown.retryAfterMs);
}

/** What the SDK's errors have in common; everything may be missing. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly $fault?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

interface Thrown {
  readonly code: string | null;
  readonly status: number | null;
  readonly neverSent: boolean;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

function readThrown(error: unknown): Thrown {
  const given: SdkError = typeof error === 'object' && error !== null ? error : { message: String(error) };
  // `Unknown` and `NotFound` are the SDK's own names for an answer without a code.
  const hasCode = given.$fault !== undefined && given.name !== 'Unknown' && given.name !== 'NotFound';
  return {
    code: hasCode ? (given.name ?? null) : null,
    status: given.$metadata?.httpStatusCode ?? null,
    neverSent: NEVER_SENT.has(given.code ?? '') || CONNECTING.has(given.syscall ?? ''),
    message: given.message ?? '',
    retryAfterMs: readRetryAfter(given.$response?.headers?.['retry-after']),
  };
}

function verdictOn({ code, status, neverSent }: Thrown): { kind: DriverErrorKind; settled: boolean } {
  const isServerError = status === null || status >= 500;
  const known = KIND_OF.get(code ?? '');
  if (known) return { kind: known, settled: known !== 'transient' || !isServerError };
  if (status === 429) return { kind: 'throttled', settled: true };
  if (code === null || isServerError) return { kind: 'transient', settled: neverSent };
  return { kind: status === 401 || status === 403 ? 'denied' : 'invalid', settled: true };
}

function messageOf({ code, status, message }: Thrown, secrets: readonly string[]): string {
  const words =
    code === null
      ? status === null
        ? `No answer from AWS: ${message}`
        : `The answer, HTTP ${status}, is none that AWS gives`
      : `${code}: ${message}`;
  return withoutSecrets(words, secrets);
}
