import { randomUUID } from 'node:crypto';
import type { IdentityTokens } from '#drivers';
import type { IssuerKey, OidcIssuer } from '../harness/oidc-issuer';

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
  return {
    issuer: issuer.url,
    subject,
    sign: (audience, who) => {
      const sub = who === 'probe' ? `org:${organization}:probe` : subject;
      return issuer.sign(identityClaims(issuer, sub, audience), {}, key);
    },
  };
}
