import type { Schemas } from '#client';
import { randomUUID } from 'node:crypto';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';
import type { OidcIssuer } from '../../harness/issuers/oidc-issuer';
import type { Organization } from '../accounts/organization';

export type OidcTrust = Schemas['OidcTrustDto'];
export type TokenCheck = Schemas['TokenCheckDto'];

export type WorkloadToken = Schemas['WorkloadTokenDto'] & { readonly message?: string };

export const CONDITIONS = {
  repository_id: ['74'],
  repository_owner_id: ['65'],
  environment: ['production'],
  ref: ['refs/heads/main', 'refs/heads/release/*'],
};

export const now = (): number => Math.floor(Date.now() / 1000);

/** The claims of a job that fits `CONDITIONS`. */
export const jobClaims = (issuer: OidcIssuer, audience: string): Record<string, unknown> => ({
  iss: issuer.url,
  aud: audience,
  sub: 'repo:octo-org/octo-repo:environment:production',
  jti: randomUUID(),
  iat: now(),
  nbf: now() - 5,
  exp: now() + 300,
  repository: 'octo-org/octo-repo',
  repository_id: '74',
  repository_owner_id: '65',
  environment: 'production',
  ref: 'refs/heads/main',
  event_name: 'push',
  run_id: '4711',
});

let names = 0;

/** A trust of the preset GITHUB whose issuer is on this machine. */
export const githubTrust = (
  org: Pick<Organization, 'admin'> & Partial<Pick<Organization, 'roleId'>>,
  issuer: OidcIssuer,
  body: object = {},
): Promise<OidcTrust> =>
  org.admin.created<OidcTrust>('/oidc-trusts', {
    name: `Deploy ${(names += 1)} ${randomUUID().slice(0, 8)}`,
    preset: 'GITHUB',
    issuer: issuer.url,
    conditions: CONDITIONS,
    scopes: ['sessions:write', 'sessions:read', 'resources:read'],
    roleIds: org.roleId === undefined ? [] : [org.roleId],
    ...body,
  });

export const exchange = (
  { api }: Pick<Drawbridge, 'api'>,
  idToken: unknown,
  trustId?: string,
): Promise<Answer<WorkloadToken>> =>
  api.post('/auth/oidc/exchange', trustId === undefined ? { idToken } : { idToken, trustId });

/** A client with the access token of a job that fits the trust. */
export async function jobClient(
  drawbridge: Drawbridge,
  issuer: OidcIssuer,
  trust: OidcTrust,
): Promise<ApiClient> {
  const idToken = await issuer.sign(jobClaims(issuer, trust.audience));
  const { accessToken } = await drawbridge.api.expect(200, exchange(drawbridge, idToken, trust.id));
  return drawbridge.api.as({ token: accessToken });
}
