import { randomBytes, randomUUID } from 'node:crypto';
import { type TenantNetwork, tenantNetworks } from '#drivers';
import type { Database } from '#entities';
import { asOrganizationId, type OrganizationId } from '#rules';
import { MasterKeys, newDataKey, sealCredential } from '#secrets';
import { IssuerClients } from '#sso';
import type { IssuerPerson, SignInIssuer } from '../../harness/issuers/sign-in-issuer';
import { person } from './company-sign-in';

const CALLBACK = 'https://drawbridge.example.com/api/v1/auth/sso/example/callback';

export const MASTER_KEYS = MasterKeys.parse(`1:${randomBytes(32).toString('base64')}`);
export const LOCAL: readonly TenantNetwork[] = tenantNetworks({ TENANT_URL_NETWORKS: '127.0.0.0/8' });

/** Somebody with an open session and an API key, whose sign-in an issuer vouches for. */
export interface VouchedPerson {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly sessionId: string;
  readonly familyId: string;
  readonly providerId: string;
  readonly atIssuer: IssuerPerson;
}

/** Signs somebody in at an issuer, and stores what a company sign-in does. */
export async function vouchedPerson(database: Database, issuer: SignInIssuer): Promise<VouchedPerson> {
  const organizationId = randomUUID();
  const userId = randomUUID();
  const providerId = randomUUID();
  const familyId = randomUUID();
  const atIssuer = person();
  const { id: clientId, secret: clientSecret } = issuer.client;
  const client = await new IssuerClients(LOCAL).of({
    issuer: issuer.url,
    clientId,
    clientSecret,
    groupsClaim: null,
  });
  const secrets = { state: 'state', nonce: 'nonce', codeVerifier: 'x'.repeat(43) };
  const callback = issuer.signIn(await client.authorizationUrl(CALLBACK, secrets), atIssuer);
  const { refreshToken } = await client.redeem(CALLBACK, callback.searchParams, secrets);
  const dataKey = { organizationId, ...newDataKey(MASTER_KEYS, organizationId) };
  const sealed = (id: string, fields: Record<string, string>): string =>
    JSON.stringify(sealCredential(MASTER_KEYS, dataKey, id, fields));
  const [made] = await database.autocommit.query<{ sessionId: string }[]>(
    `WITH organization AS (INSERT INTO organizations (id, name, slug) VALUES ($1, 'Example', $1::uuid::text)),
     data_key AS (INSERT INTO data_keys VALUES ($1, $2, $3, $4)),
     account AS (INSERT INTO users (id, organization_id, email, name) VALUES ($5, $1, $6, 'Ada')),
     provider AS (INSERT INTO identity_providers (id, organization_id, name, issuer, client_id, sealed_data, groups_claim,
         created_by_email) VALUES ($7, $1, 'Directory', $8, $9, $10, 'groups', 'x@example.com')),
     identity AS (INSERT INTO user_identities (organization_id, provider_id, subject, user_id) VALUES ($1, $7, $11, $5)
       RETURNING id),
     token AS (INSERT INTO refresh_tokens (organization_id, user_id, family_id, token_hash, signed_in_at, expires_at)
       VALUES ($1, $5, $12::uuid, $12::uuid::text, now(), now() + interval '1 day')),
     key AS (INSERT INTO api_keys (organization_id, user_id, name, key_hash, scopes, key_prefix, created_by_email)
       VALUES ($1, $5, 'own', $12::uuid::text, '{}', 'db', 'x@example.com')),
     sign_in AS (INSERT INTO sso_sign_ins (organization_id, family_id, identity_id, user_id, sealed_data, check_due_at)
       SELECT $1, $12::uuid, id, $5, $13::jsonb, now() FROM identity)
     INSERT INTO sessions (organization_id, user_id, ipv4_address, status, expires_at)
     VALUES ($1, $5, '203.0.113.1', 'ACTIVE', now() + interval '1 hour') RETURNING id AS "sessionId"`,
    [
      organizationId,
      dataKey.version,
      dataKey.masterKeyVersion,
      dataKey.wrappedKey,
      userId,
      atIssuer.email,
      providerId,
      issuer.url,
      clientId,
      sealed(providerId, { clientSecret }),
      atIssuer.sub,
      familyId,
      sealed(familyId, { refreshToken: refreshToken! }),
    ],
  );
  return {
    organizationId: asOrganizationId(organizationId),
    userId,
    ...made!,
    familyId,
    providerId,
    atIssuer,
  };
}
