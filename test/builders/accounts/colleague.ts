import { randomUUID } from 'node:crypto';
import { PasswordHasher } from '#secrets';
import type { ApiClient } from '../../harness/product/api-client';
import type { Organization } from './organization';

const hasher = new PasswordHasher(4);

export interface Colleague {
  readonly id: string;
  readonly email: string;
  readonly client: ApiClient;
}

/** A signed-in user of the organization without admin rights. @param roleIds by default the role of the organization's resources */
export async function colleague(
  org: Organization,
  roleIds: readonly string[] = [org.roleId],
): Promise<Colleague> {
  const { drawbridge, organizationId, admin } = org;
  const email = `${randomUUID()}@example.com`;
  const password = randomUUID();
  const [user] = await drawbridge.query<{ id: string }>(
    `INSERT INTO users (organization_id, email, name, password_hash) VALUES ($1, $2, 'Colleague', $3) RETURNING id`,
    [organizationId, email, await hasher.hash(password, { group: '' })],
  );
  const { id } = user!;
  for (const roleId of roleIds) await admin.posted(`/roles/${roleId}/users/${id}`);
  const { api } = drawbridge;
  const login = await api.posted<{ accessToken: string }>('/auth/login', { email, password });
  return { id, email, client: api.as({ token: login.accessToken }) };
}
