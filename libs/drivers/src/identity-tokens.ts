import { CallFailure } from './call-failure';
import { DriverError } from './driver-error';

/** Tokens that this deployment signs about one credential, for clouds that trust its issuer. None is stored. */
export interface IdentityTokens {
  /** the organization's issuer, an https URL: the `iss` claim */
  readonly issuer: string;
  /** the `sub` claim: `org:<organization id>:credential:<credential id>` */
  readonly subject: string;
  /**
   * Signs a token that is valid for five minutes.
   * @param audience the `aud` claim, as the cloud's trust names it
   * @param subject `probe`: with the subject `org:<organization id>:probe`, which no trust may accept
   * @param target what is entered with the token, for the record of the signature: a role, a provider, an app
   */
  sign(audience: string, subject: 'credential' | 'probe', target: string): Promise<string>;
}

/** @throws DriverError `denied` when this deployment has no issuer */
export function requireIdentity(identity: IdentityTokens | null): IdentityTokens {
  if (identity) return identity;
  throw new DriverError(
    'denied',
    'This deployment has no issuer that the cloud could trust: its operator sets OIDC_ISSUER_URL',
  );
}

/** Adds to a cloud's refusal what the token said, which the cloud does not quote. Other errors are returned as they are. */
export function withIdentity(error: unknown, { issuer, subject }: IdentityTokens): unknown {
  if (!(error instanceof CallFailure)) return error;
  const { kind, code, settled, retryAfterMs } = error;
  const message = `${error.message} (the token is of the issuer ${issuer}, about ${subject})`;
  return new CallFailure(kind, message, code, settled, retryAfterMs);
}

/**
 * Checks that a trust names the subject: otherwise every credential of the organization could use it.
 * @param exchangeProbe exchanges a token with a subject that no trust may accept
 * @param trust what lacks the condition, for the error message
 * @throws DriverError `denied` when the cloud accepts it
 */
export async function requireSubjectCondition(
  exchangeProbe: () => Promise<unknown>,
  trust: string,
): Promise<void> {
  try {
    await exchangeProbe();
  } catch (error) {
    if (error instanceof DriverError && error.kind === 'denied') return;
    throw error;
  }
  throw new DriverError(
    'denied',
    `${trust} accepts any subject of the issuer: it lacks a condition on "sub"`,
  );
}
