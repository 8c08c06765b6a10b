import { CallFailure, MAX_MESSAGE_LENGTH, shortened } from './call-failure';
import { DriverError } from './driver-error';

/** Tokens that this deployment signs about one credential, for clouds that trust its issuer. None is stored. */
export interface IdentityTokens {
  /** the organization's issuer, an https URL: the `iss` claim */
  readonly issuer: string;
  /** the `sub` claim: `org:<organization id>:credential:<credential id>` */
  readonly subject: string;
  /**
   * a subject of the same form that no credential has and no trust may accept: a condition that every credential of the
   * organization fulfils is found too
   */
  readonly probeSubject: string;
  /**
   * Signs a token that is valid for five minutes.
   * @param audience the `aud` claim, as the cloud's trust names it
   * @param subject `probe`: with `probeSubject`
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

/** Adds to a cloud's refusal what the token holds, which the cloud does not quote. Other errors are returned as they are. */
export function withIdentity(error: unknown, { issuer, subject }: IdentityTokens): unknown {
  if (!(error instanceof CallFailure)) return error;
  const { kind, code, settled, retryAfterMs } = error;
  const token = ` (the token is of the issuer ${issuer}, about ${subject})`;
  // a long refusal is shortened, and not what the administrator has to compare
  const message = shortened(error.message, MAX_MESSAGE_LENGTH - token.length) + token;
  return new CallFailure(kind, message, code, settled, retryAfterMs);
}

/**
 * Checks that a trust names the subject: otherwise every credential of the organization could use it.
 * @param identity of the credential
 * @param exchangeProbe exchanges a token with the subject that no trust may accept
 * @param trust what lacks the condition, for the error message
 * @throws DriverError `denied` when the cloud accepts it
 */
export async function requireSubjectCondition(
  { subject, probeSubject }: IdentityTokens,
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
    `${trust} accepts any subject of the issuer, or any of a pattern: it accepted ${probeSubject}. ` +
      `It needs a condition that "sub" equals ${subject}`,
  );
}
