import { DRIVER_ERROR_KINDS, type ChangeResult, type DriverErrorKind } from '#rules';
import { DriverError } from './driver-error';
import { PROXY_FAILED } from './egress';

export const MAX_MESSAGE_LENGTH = 500;

/** Node's error codes for failures before the connection was established: nothing was sent. */
const CONNECT_ERROR_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  PROXY_FAILED,
]);

/** Node's system calls before anything is sent. */
const CONNECT_SYSCALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** A failed call to a provider. */
export class CallFailure extends DriverError {
  /**
   * @param code the provider's error code; null: none
   * @param settled true: the call had no effect; false: the outcome is unknown, only a read shows it
   */
  constructor(
    kind: DriverErrorKind,
    message: string,
    readonly code: string | null,
    readonly settled: boolean,
    retryAfterMs: number | null = null,
  ) {
    super(kind, shortened(message), retryAfterMs);
    this.name = 'CallFailure';
  }

  /** The result for the changes of a write that failed like this. */
  get changeResult(): ChangeResult {
    const { kind, message, retryAfterMs, settled } = this;
    const wait = retryAfterMs !== null && { retryAfterMs };
    return settled ? { result: 'refused', kind, message, ...wait } : { result: 'unknown', message, ...wait };
  }

  /** The failure for later changes that were not sent because of this one: always settled. */
  get unsent(): CallFailure {
    return new CallFailure(this.kind, `Not sent: ${this.message}`, this.code, true, this.retryAfterMs);
  }
}

/** The cloud refused the token or session of a call and did nothing. */
export class TokenRefused extends CallFailure {
  constructor(
    kind: DriverErrorKind,
    message: string,
    code: string | null,
    retryAfterMs: number | null = null,
  ) {
    super(kind, message, code, true, retryAfterMs);
    this.name = 'TokenRefused';
  }
}

/** The failure of a call that had no effect, in our own words. */
export const refused = (kind: DriverErrorKind, message: string): CallFailure =>
  new CallFailure(kind, message, null, true);

/** Narrows to CallFailure. @throws any other error: it is a defect */
export function asCallFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  throw error;
}

/** A response that neither confirms nor refuses the call. @param cloud name for the message */
export const unexpectedResponse = (cloud: string, operation: string): CallFailure =>
  new CallFailure('transient', `Unexpected response from ${cloud} to ${operation}`, null, false);

/** Common fields of errors of sockets, SDKs and `fetch`, all optional. */
interface Thrown {
  readonly code?: unknown;
  readonly message?: string;
  readonly syscall?: string;
  readonly cause?: { readonly code?: unknown };
}

/** The failure of a call without a response. @param secrets masked in the message */
export function noResponse(cloud: string, error: unknown, secrets: readonly string[]): CallFailure {
  if (error instanceof CallFailure) return error;
  const given: Thrown = typeof error === 'object' && error !== null ? error : { message: String(error) };
  const found = given.cause?.code ?? given.code;
  const code = typeof found === 'string' ? found : '';
  const isUnsent = CONNECT_ERROR_CODES.has(code) || CONNECT_SYSCALLS.has(given.syscall ?? '');
  const message = withoutSecrets(`No response from ${cloud}: ${code || (given.message ?? '')}`, secrets);
  return new CallFailure('transient', message, null, isUnsent);
}

/** Looks up the kind of a cloud's error code. @param codes by kind: those that say more than the HTTP status */
export function kindsByCode(
  codes: Partial<Readonly<Record<DriverErrorKind, readonly string[]>>>,
): ReadonlyMap<string, DriverErrorKind> {
  return new Map(
    DRIVER_ERROR_KINDS.flatMap((kind) => (codes[kind] ?? []).map((code) => [code, kind] as const)),
  );
}

/** Whether a call failed because its resource does not exist. */
export const isMissing = (error: unknown): error is CallFailure =>
  error instanceof CallFailure && error.kind === 'target-missing';

/** Masks secrets in a provider's message. */
export const withoutSecrets = (message: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), message);

/** A provider's message of this length at most. */
export const shortened = (message: string, length = MAX_MESSAGE_LENGTH): string =>
  message.length <= length ? message : `${message.slice(0, length - 1)}…`;
