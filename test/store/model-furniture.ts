import type { Tx } from '#entities';
import type { OrganizationId } from '#rules';

/** Rows that every history starts with. */
export interface Furnished {
  readonly organizationId: OrganizationId;
  readonly userIds: readonly string[];
  readonly resourceIds: readonly string[];
  /** the initial target and credential of every resource */
  readonly places: readonly {
    readonly id: string;
    readonly targetId: string;
    readonly credentialId: string;
  }[];
}

/** Two users, two credentials, five resources on three targets; one is another organization's. */
export async function furnish(tx: Tx): Promise<Furnished> {
  const one = async (text: string, given: unknown[]): Promise<string> =>
    (await tx.query<{ id: string }[]>(`${text} RETURNING id`, given))[0]!.id;
  const organizationId = await one(`INSERT INTO organizations (name, slug) VALUES ($1, $1)`, ['model']);
  const user = (email: string): Promise<string> =>
    one(`INSERT INTO users (organization_id, email, name) VALUES ($1, $2, $2)`, [organizationId, email]);
  const userIds = [await user('a@example.org'), await user('b@example.org')];
  const credential = (name: string, owner = organizationId): Promise<string> =>
    one(
      `INSERT INTO credentials (organization_id, name, provider, credential_type, sealed_data) VALUES ($1, $2, 'AWS', 'ACCESS_KEY', '{}')`,
      [owner, name],
    );
  const credentials = [await credential('one'), await credential('two')];
  const target = (identifier: string): Promise<string> =>
    one(
      `INSERT INTO targets (provider, key, resource_type, identifier) VALUES ('AWS', $1, 'SECURITY_GROUP', $1)`,
      [identifier],
    );
  const resource = (
    owner: string,
    name: string,
    credentialId: string,
    port: number,
    on: string,
  ): Promise<string> =>
    one(
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, config,
         is_active, target_id) VALUES ($1, $2, $3, 'AWS', 'SECURITY_GROUP', 'any', $4, true, $5)`,
      [owner, name, credentialId, JSON.stringify({ port }), on],
    );
  const [shared, own, foreign] = [await target('sg-1'), await target('sg-2'), await target('sg-3')];
  const others = await one(`INSERT INTO organizations (name, slug) VALUES ($1, $1)`, ['others']);
  const resourceIds = [
    await resource(organizationId, 'a', credentials[0]!, 22, shared),
    await resource(organizationId, 'b', credentials[1]!, 22, shared),
    await resource(organizationId, 'c', credentials[0]!, 443, shared),
    await resource(organizationId, 'd', credentials[0]!, 22, own),
  ];
  const role = await one(`INSERT INTO roles (organization_id, name) VALUES ($1, 'everything')`, [
    organizationId,
  ]);
  await tx.query(
    'INSERT INTO role_users (organization_id, role_id, user_id) SELECT $1, $2, unnest($3::uuid[])',
    [organizationId, role, userIds],
  );
  await tx.query(
    'INSERT INTO role_resources (organization_id, role_id, resource_id) SELECT $1, $2, unnest($3::uuid[])',
    [organizationId, role, resourceIds],
  );
  await resource(others, 'e', await credential('theirs', others), 22, foreign);
  const places = await tx.query<Furnished['places'][number][]>(
    'SELECT id, target_id AS "targetId", credential_id AS "credentialId" FROM resources',
  );
  return { organizationId: organizationId as OrganizationId, userIds, resourceIds, places };
}
