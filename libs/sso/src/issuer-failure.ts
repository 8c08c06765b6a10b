import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { connectionProblem } from '#config';
import { ForbiddenHost, NoTenantResponse } from '#drivers';
import { refusalMeaning, type RefusalMeaning } from './issuer-refusals';

/**
 * `denied`: the person or the issuer ended the sign-in. `unreachable`: no answer, or the issuer has a problem; later it may work.
 * `invalid`: the answer, or how the two are set up.
 */
export type IssuerFailureKind = RefusalMeaning | 'denied' | 'unreachable' | 'invalid';

/** An issuer did not vouch for a user. The message is for administrators: it has nothing that the issuer wrote. */
export class IssuerFailure extends Error {
  override readonly name = 'IssuerFailure';

  constructor(
    readonly kind: IssuerFailureKind,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }

  /** Whether the issuer has done nothing that was asked of it; otherwise a used refresh token may be replaced. */
  get isWithoutEffect(): boolean {
    const causes = causesOf(this);
    const status = statusOf(causes) ?? 0;
    const isRefusal = status >= FIRST_CLIENT_ERROR && status < FIRST_SERVER_ERROR;
    return isRefusal || causes.some(isWithoutEffect);
  }
}

const CODE = /^[a-z_]{1,40}$/;
/** Entra ID's own code, which its documentation explains, is the first word of its description. */
const ENTRA_CODE = /^AADSTS\d{4,10}\b/;

/** What of an issuer's error is no text of its own. */
function coded({ error, error_description: description = '' }: OAuthError): string {
  if (!CODE.test(error)) return '';
  const [code] = ENTRA_CODE.exec(description) ?? [];
  return `: ${error}${code === undefined ? '' : ` (${code})`}`;
}

type OAuthError = Pick<AuthorizationResponseError | ResponseBodyError, 'error' | 'error_description'>;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;
/** Of the library: what it says about other failures is about the content of an answer. */
const TIMED_OUT = ['OAUTH_TIMEOUT', 'OAUTH_ABORT'];

/** What a failure of the OpenID library, or of the way to the issuer, means. */
export function issuerFailureOf(error: unknown): IssuerFailure {
  if (error instanceof IssuerFailure) return error;
  const causes = causesOf(error);
  if (causes.some((cause) => cause instanceof ForbiddenHost))
    return new IssuerFailure('unreachable', 'its address is one that this deployment does not reach', error);
  if (error instanceof AuthorizationResponseError)
    return new IssuerFailure('denied', `it ended the sign-in${coded(error)}`, error);
  if (error instanceof WWWAuthenticateChallengeError)
    return new IssuerFailure('invalid', 'it does not accept the client id and its secret', error);
  if (error instanceof ResponseBodyError) return refusalOf(error);
  const status = statusOf(causes);
  if (status !== undefined)
    return new IssuerFailure(isPassing(status) ? 'unreachable' : 'invalid', `it answered ${status}`, error);
  const problem = connectionProblem(error);
  if (problem !== null) return new IssuerFailure('unreachable', problem, error);
  if (causes.some(isNoAnswer))
    return new IssuerFailure(
      'unreachable',
      'it did not answer, or not within the limits of 5 seconds and 64 kB',
      error,
    );
  const shown = error instanceof ClientError ? error.message : 'it is not as OpenID Connect demands';
  return new IssuerFailure('invalid', `its answer is not valid: ${shown}`, error);
}

/** Whether a token endpoint knows no such client, or takes another secret. */
export const refusesClient = (error: unknown): boolean =>
  error instanceof WWWAuthenticateChallengeError ||
  (error instanceof ResponseBodyError && ['invalid_client', 'unauthorized_client'].includes(error.error));

const REFUSALS: Readonly<Record<RefusalMeaning, string>> = {
  refused: 'it no longer vouches for this sign-in',
  'session-over': 'its own session is over',
  'used-before': 'the refresh token was used before',
};

function refusalOf(error: ResponseBodyError): IssuerFailure {
  const meaning = refusalMeaning(error.cause);
  if (meaning !== null) return new IssuerFailure(meaning, REFUSALS[meaning], error);
  const kind =
    isPassing(error.status) || error.error === 'temporarily_unavailable' ? 'unreachable' : 'invalid';
  return new IssuerFailure(kind, `it refused the request${coded(error)}`, error);
}

const isWithoutEffect = (cause: unknown): boolean =>
  cause instanceof ResponseBodyError ||
  cause instanceof WWWAuthenticateChallengeError ||
  cause instanceof ForbiddenHost ||
  (cause instanceof NoTenantResponse && !cause.sent);

const statusOf = (causes: readonly unknown[]): number | undefined =>
  causes.find((cause) => cause instanceof Response)?.status;

const isPassing = (status: number): boolean => status >= FIRST_SERVER_ERROR || status === TOO_MANY_REQUESTS;

const isNoAnswer = (cause: unknown): boolean =>
  cause instanceof NoTenantResponse ||
  (cause instanceof ClientError && TIMED_OUT.includes(cause.code ?? '')) ||
  // of the resolver
  (cause instanceof Error && 'syscall' in cause);

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && causes.length < 10;)
    cause = (causes.push(cause), cause instanceof Error ? cause.cause : undefined);
  return causes;
}
