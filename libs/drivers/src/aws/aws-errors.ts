import type { DriverErrorKind } from '#rules';
import {
  CallFailure,
  kindsByCode,
  noResponse,
  TokenRefused,
  unexpectedResponse as unexpected,
  withoutSecrets,
} from '../call-failure';
import { readRetryAfter } from '../retry-after';

export const DUPLICATE_RULE = 'InvalidPermission.Duplicate';

/** A change of a prefix list adds an existing entry or removes an absent one. */
export const ENTRY_MISMATCH = 'InvalidPrefixListModification';

/** A revocation contains a rule that the group does not have: the whole call was refused. */
export const RULE_NOT_FOUND: ReadonlySet<string | null> = new Set([
  'InvalidSecurityGroupRuleId.NotFound',
  'InvalidPermission.NotFound',
]);

/** Codes that say more than the HTTP status. */
const KIND_OF = kindsByCode({
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
    'WAFOptimisticLockException',
    'ResourceInUseException',
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
    'WAFNonexistentItemException',
    'ResourceNotFoundException',
  ],
  quota: [
    'RulesPerSecurityGroupLimitExceeded',
    'PrefixListMaxEntriesExceeded',
    'WAFLimitsExceededException',
    'ResourceLimitExceededException',
  ],
});

/** The keys are unknown or expired: those of a role's session, or a user's own keys. */
const KEY_ERROR_CODES: ReadonlySet<string | null> = new Set([
  'AuthFailure',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'RequestExpired',
  'UnrecognizedClientException',
]);

export const unexpectedResponse = (operation: string): CallFailure => unexpected('AWS', operation);

/**
 * Classifies an error of the SDK by its name and HTTP status.
 * @param secrets masked in the message: AWS quotes signed headers, including the session token
 */
export function toFailure(error: unknown, secrets: readonly string[]): CallFailure {
  const given: SdkError = typeof error === 'object' && error !== null ? error : {};
  const status = given.$metadata?.httpStatusCode;
  if (status === undefined) return noResponse('AWS', error, secrets);
  // `Unknown` and `NotFound` are the SDK's names for a response without an error code.
  const hasCode = given.$fault !== undefined && given.name !== 'Unknown' && given.name !== 'NotFound';
  const code = hasCode ? (given.name ?? null) : null;
  const text = code === null ? `Unexpected HTTP ${status} response from AWS` : `${code}: ${given.message}`;
  const message = withoutSecrets(text, secrets);
  const retryAfterMs = readRetryAfter(given.$response?.headers?.['retry-after']);
  const { kind, settled } = verdictOn(status, code);
  if (settled && KEY_ERROR_CODES.has(code)) return new TokenRefused(kind, message, code, retryAfterMs);
  return new CallFailure(kind, message, code, settled, retryAfterMs);
}

/** Common fields of the SDK's errors, all optional. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly $fault?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

function verdictOn(status: number, code: string | null): { kind: DriverErrorKind; settled: boolean } {
  const known = KIND_OF.get(code ?? '');
  if (known) return { kind: known, settled: known !== 'transient' || status < 500 };
  if (status === 429) return { kind: 'throttled', settled: true };
  if (code === null || status >= 500) return { kind: 'transient', settled: false };
  return { kind: status === 401 || status === 403 ? 'denied' : 'invalid', settled: true };
}
