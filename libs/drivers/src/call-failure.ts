import type { ChangeResult, DriverErrorKind } from '#rules';
import { DriverError } from './driver-error';

const MAX_MESSAGE_LENGTH = 500;

/** Node's codes for failures before a connection stood: nothing was sent. */
export const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** A call to a provider that did not succeed. */
export class CallFailure extends DriverError {
  /**
   * @param code the provider's name for the error; null when it gave none
   * @param settled true: the provider surely did not do what was asked; false: only reading tells
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

  /** What a write that failed like this means for its changes. */
  get changeResult(): ChangeResult {
    const { kind, message, retryAfterMs, settled } = this;
    if (!settled) return { result: 'unknown', message };
    return { result: 'refused', kind, message, ...(retryAfterMs !== null && { retryAfterMs }) };
  }

  /** The same for changes that were to be sent after it: they surely were not made, whatever it left open. */
  get unsent(): CallFailure {
    return new CallFailure(this.kind, `Not sent: ${this.message}`, this.code, true, this.retryAfterMs);
  }
}

/** The cloud did not accept the token or the session that a call was made with, and did nothing. */
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

/** The failure of a call; anything else is a defect and is thrown on. */
export function asCallFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  throw error;
}

/** A provider's words, without what must not be shown. */
export const withoutSecrets = (words: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), words);

const shortened = (words: string): string =>
  words.length <= MAX_MESSAGE_LENGTH ? words : `${words.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
