import { randomUUID } from 'node:crypto';
import type { IdentityTokens } from '#drivers';
import type { Credential } from '../../harness/product/api-client';
import type { IssuerKey, OidcIssuer } from '../../harness/issuers/oidc-issuer';
import type { Organization } from '../accounts/organization';

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

/** A verified security group of the organization's role, by a credential that needs its issuer. @returns that one's id */
export async function groupByTrust(
  { admin, drawbridge, roleId }: Organization,
  resourceIdentifier: string,
): Promise<string> {
  type Federated = Credential & { readonly identity: { issuer: string; subject: string } };
  const named = { name: 'By trust', provider: 'AWS' };
  const { id, identity } = await admin.created<Federated>('/credentials', {
    ...named,
    credentialType: 'WEB_IDENTITY',
    credentialData: { roleArn: 'arn:aws:iam::123456789012:role/federated' },
  });
  const { issuer, subject } = identity;
  await drawbridge.cloud.trust({ provider: 'AWS', issuer, subject });
  const resource = await admin.created<{ id: string }>('/resources', {
    ...named,
    credentialId: id,
    resourceType: 'SECURITY_GROUP',
    resourceIdentifier,
    region: 'eu-central-1',
    config: { port: 22 },
  });
  await admin.posted(`/resources/${resource.id}/verify`);
  await admin.posted(`/roles/${roleId}/resources/${resource.id}`);
  return id;
}
