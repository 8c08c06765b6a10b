import { randomUUID } from 'node:crypto';
import type { IdentityTokens } from '#drivers';
import type { IssuerKey, OidcIssuer } from '../../harness/issuers/oidc-issuer';

/** In the place of a credential's id, in the subject that no trust may accept. */
export const PROBE = '00000000-0000-0000-0000-000000000000';

export const now = (): number => Math.floor(Date.now() / 1000);

/** The claims of a token as Drawbridge signs them. */
export const identityClaims = (
  { url }: Pick<OidcIssuer, 'url'>,
  subject: string,
  audience: string,
): Record<string, unknown> => ({
  iss: url,
  sub: subject,
  aud: audience,
  iat: now(),
  nbf: now() - 60,
  exp: now() + 300,
  jti: randomUUID(),
});

/**
 * Tokens of an issuer about one credential of an organization.
 * @param key of another issuer, for tokens that must be refused
 */
export function identityTokens(
  issuer: OidcIssuer,
  organization: string,
  credential: string,
  key?: IssuerKey,
): IdentityTokens {
  const subject = `org:${organization}:credential:${credential}`;
  const probeSubject = `org:${organization}:credential:${PROBE}`;
  return {
    issuer: issuer.url,
    subject,
    probeSubject,
    sign: (audience, who) => {
      const sub = who === 'probe' ? probeSubject : subject;
      return issuer.sign(identityClaims(issuer, sub, audience), {}, key);
    },
  };
}
