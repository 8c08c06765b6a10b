import { randomUUID } from 'node:crypto';
import type { Answer } from '../../harness/product/api-client';
import type { Organization } from '../accounts/organization';

/** What no issuer is behind. */
export const REGISTERED = {
  name: 'Example',
  issuer: 'http://127.0.0.1:9',
  clientId: 'drawbridge',
  clientSecret: 'a secret of the client',
} as const;

/** Somebody who signed in and waits to be linked. @returns the identity's id */
export async function waiting(
  { drawbridge, organizationId }: Organization,
  providerId: string,
): Promise<string> {
  const [made] = await drawbridge.query<{ id: string }>(
    `INSERT INTO user_identities (organization_id, provider_id, subject, email)
     VALUES ($1, $2, $3, 'grace@example.com') RETURNING id`,
    [organizationId, providerId, randomUUID()],
  );
  return made!.id;
}

/** Does every operation that changes an identity provider. */
export async function throughIdentityProviders(
  org: Organization,
  did: (operation: string, action: Promise<Answer<{ id: string }>>) => Promise<{ id: string }>,
): Promise<void> {
  const { admin, adminId: userId } = org;
  const { id } = await did('POST /identity-providers', admin.post('/identity-providers', REGISTERED));
  const path = `/identity-providers/${id}`;
  await did('PATCH /identity-providers/{id}', admin.patch(path, { emailDomains: ['Example.COM'] }));
  await did('POST /identity-providers/{id}/test', admin.post(`${path}/test`));
  const identity = `${path}/identities/${await waiting(org, id)}`;
  const linked = '/identity-providers/{id}/identities/{identityId}';
  await did(`PUT ${linked}`, admin.put(identity, { userId }));
  await did(`DELETE ${linked}`, admin.delete(identity));
  await did('DELETE /identity-providers/{id}', admin.delete(path));
}
