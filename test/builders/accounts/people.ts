import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';

/** Conforms to the default password policy. */
export const PASSWORD = 'Correct-horse-1';

export const email = (): string => `${randomUUID()}@example.com`;

interface Login {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly user: { readonly id: string; readonly organizationId: string; readonly organizationSlug: string };
}

/** A signed-in user. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly organizationId: string;
  readonly organizationSlug: string;
  readonly refreshToken: string;
  readonly client: ApiClient;
}

const personOf = ({ api }: Pick<Drawbridge, 'api'>, address: string, login: Login): Person => ({
  ...login.user,
  email: address,
  refreshToken: login.refreshToken,
  client: api.as({ token: login.accessToken }),
});

/** Registers an organization on the Free plan, with an admin only. */
export async function founder(
  drawbridge: Pick<Drawbridge, 'api'>,
  organizationName = 'Example',
  address = email(),
): Promise<Person> {
  const account = { organizationName, email: address, password: PASSWORD };
  const login = await drawbridge.api.created<Login>('/auth/register', account);
  return personOf(drawbridge, address, login);
}

/** Adds a user with a password as an admin, and signs the user in. */
export async function newcomer(
  drawbridge: Drawbridge,
  admin: ApiClient,
  body: { name?: string; email?: string; isOrgAdmin?: boolean; roleIds?: readonly string[] } = {},
): Promise<Person> {
  const account = { email: body.email ?? email(), password: PASSWORD };
  await admin.created('/users', { ...body, ...account });
  const { api } = drawbridge;
  return personOf(drawbridge, account.email, await api.posted<Login>('/auth/login', account));
}

/** Sets a column of an organization. */
export const organizationSets = (
  drawbridge: Pick<Drawbridge, 'query'>,
  id: string,
  column: string,
  value: unknown,
): Promise<unknown> => drawbridge.query(`UPDATE organizations SET ${column} = $2 WHERE id = $1`, [id, value]);

export const paid = (drawbridge: Pick<Drawbridge, 'query'>, id: string, tier = 'PAID'): Promise<unknown> =>
  organizationSets(drawbridge, id, 'subscription_tier', tier);

export interface AuditRow {
  readonly eventType: string;
  readonly actorType: string;
  readonly actorEmail: string | null;
  readonly resourceId: string | null;
  readonly details: Record<string, unknown>;
}

/** An organization's audit records of one type, oldest first. */
export const audited = (
  drawbridge: Drawbridge,
  organizationId: string,
  eventType: string,
): Promise<AuditRow[]> =>
  drawbridge.query<AuditRow>(
    `SELECT event_type AS "eventType", actor_type AS "actorType", actor_email AS "actorEmail",
       resource_id AS "resourceId", details
     FROM audit_records WHERE organization_id = $1 AND event_type = $2 ORDER BY sequence`,
    [organizationId, eventType],
  );
