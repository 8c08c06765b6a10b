import { DRIVER_ERROR_KINDS, type DriverErrorKind } from '#rules';
import { CallFailure, CONNECT_ERROR_CODES, TokenRefused, withoutSecrets } from '../call-failure';
import { readRetryAfter } from '../retry-after';

export const DUPLICATE_RULE = 'InvalidPermission.Duplicate';

/** A change of a prefix list adds an existing entry or removes an absent one. */
export const ENTRY_MISMATCH = 'InvalidPrefixListModification';

/** A revocation contains a rule that the group does not have: the whole call was refused. */
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
    // Clock skew: the SDK corrects it from the response, for the next call.
    'RequestExpired',
    'RequestInTheFuture',
    'RequestTimeTooSkewed',
    // AWS could not fetch the issuer's keys.
    'IDPCommunicationError',
    'IDPCommunicationErrorException',
  ],
  conflict: [
    DUPLICATE_RULE,
    ...[...RULE_NOT_FOUND].filter((code) => code !== null),
    // Another writer is changing the target, or has changed it since it was read.
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
    // Of a token that a role is assumed with.
    'InvalidIdentityToken',
    'InvalidIdentityTokenException',
    'IDPRejectedClaim',
    'IDPRejectedClaimException',
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
  'wrong-family': [],
};

const KIND_OF: ReadonlyMap<string, DriverErrorKind> = new Map(
  DRIVER_ERROR_KINDS.flatMap((kind) => CODES[kind].map((code) => [code, kind] as const)),
);

/** The keys are unknown or expired: those of a role's session, or a user's own keys. */
const KEY_ERROR_CODES: ReadonlySet<string | null> = new Set([
  'AuthFailure',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'RequestExpired',
  'UnrecognizedClientException',
]);

const CONNECT_SYSCALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** A response that neither confirms nor refuses the call. */
export const unexpectedResponse = (operation: string): CallFailure =>
  new CallFailure('transient', `Unexpected response from AWS to ${operation}`, null, false);

/**
 * Classifies an error of the SDK by its name and HTTP status.
 * @param secrets masked in the message: AWS quotes signed headers, including the session token
 */
export function toFailure(error: unknown, secrets: readonly string[]): CallFailure {
  if (error instanceof CallFailure) return error;
  const thrown = readThrown(error);
  const { kind, settled } = verdictOn(thrown);
  if (settled && KEY_ERROR_CODES.has(thrown.code))
    return new TokenRefused(kind, messageOf(thrown, secrets), thrown.code, thrown.retryAfterMs);
  return new CallFailure(kind, messageOf(thrown, secrets), thrown.code, settled, thrown.retryAfterMs);
}

/** Common fields of the SDK's errors, all optional. */
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
  readonly isUnsent: boolean;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

function readThrown(error: unknown): Thrown {
  const given: SdkError = typeof error === 'object' && error !== null ? error : { message: String(error) };
  // `Unknown` and `NotFound` are the SDK's names for a response without an error code.
  const hasCode = given.$fault !== undefined && given.name !== 'Unknown' && given.name !== 'NotFound';
  return {
    code: hasCode ? (given.name ?? null) : null,
    status: given.$metadata?.httpStatusCode ?? null,
    isUnsent: CONNECT_ERROR_CODES.has(given.code ?? '') || CONNECT_SYSCALLS.has(given.syscall ?? ''),
    message: given.message ?? '',
    retryAfterMs: readRetryAfter(given.$response?.headers?.['retry-after']),
  };
}

function verdictOn({ code, status, isUnsent }: Thrown): { kind: DriverErrorKind; settled: boolean } {
  const isServerError = status === null || status >= 500;
  const known = KIND_OF.get(code ?? '');
  if (known) return { kind: known, settled: known !== 'transient' || !isServerError };
  if (status === 429) return { kind: 'throttled', settled: true };
  if (code === null || isServerError) return { kind: 'transient', settled: isUnsent };
  return { kind: status === 401 || status === 403 ? 'denied' : 'invalid', settled: true };
}

function messageOf({ code, status, message }: Thrown, secrets: readonly string[]): string {
  const text =
    code === null
      ? status === null
        ? `No response from AWS: ${message}`
        : `Unexpected HTTP ${status} response from AWS`
      : `${code}: ${message}`;
  return withoutSecrets(text, secrets);
}
