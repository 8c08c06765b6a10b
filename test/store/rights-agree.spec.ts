import { randomInt, randomUUID } from 'node:crypto';
import type { OrganizationId } from '#rules';
import { ResourceStore, RightsStore, RoleStore, SessionStore } from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';

/** More of them find rarer differences: `WORLDS=1000`. */
const WORLDS = Number(process.env['WORLDS'] ?? 40);

type Labels = Readonly<Record<string, string>>;

interface Resource {
  readonly id: string;
  readonly labels: Labels;
}

interface Role {
  readonly id: string;
  readonly selector: Readonly<Record<string, string[]>> | null;
  readonly resourceIds: readonly string[];
  readonly userIds: readonly string[];
}

const VALUES = ['a', 'b', 'c'];
const KEYS = ['env', 'team'];
const some = <T>(of: readonly T[]): T[] => of.filter(() => randomInt(3) === 0);
const labelsOf = (): Labels => Object.fromEntries(some(KEYS).map((key) => [key, VALUES[randomInt(3)]!]));

/** By ids and labels alone. */
function reaches({ selector, resourceIds }: Role, { id, labels }: Resource): boolean {
  if (resourceIds.includes(id)) return true;
  return (
    selector !== null && Object.entries(selector).every(([key, values]) => values.includes(labels[key] ?? ''))
  );
}

describe('Rights in random worlds', () => {
  const database = ownDatabase(4);
  const stores = {
    roles: new RoleStore(),
    resources: new ResourceStore(),
    rights: new RightsStore(),
    sessions: new SessionStore(),
  };

  interface World {
    readonly organization: OrganizationId;
    readonly userIds: readonly string[];
    readonly resources: readonly Resource[];
    readonly roles: readonly Role[];
  }

  async function world(): Promise<World> {
    const tx = database.autocommit;
    const organization = randomUUID() as OrganizationId;
    const userIds = [1, 2, 3].map(() => randomUUID());
    const resources = [1, 2, 3, 4, 5].map(() => ({ id: randomUUID(), labels: labelsOf() }));
    const credentialId = randomUUID();
    await tx.query('INSERT INTO organizations (id, name, slug) VALUES ($1, $2, $2)', [
      organization,
      organization,
    ]);
    await tx.query(
      `INSERT INTO users (id, organization_id, email, name) SELECT id, $1, id || '@example.com', id FROM unnest($2::uuid[]) id`,
      [organization, userIds],
    );
    await tx.query(
      `INSERT INTO credentials (id, organization_id, name, provider, credential_type, sealed_data)
       VALUES ($2, $1, 'aws', 'AWS', 'ACCESS_KEY', '{}')`,
      [organization, credentialId],
    );
    await tx.query(
      `WITH given AS (SELECT * FROM jsonb_to_recordset($2) AS r(id uuid, labels jsonb)), place AS (
         INSERT INTO targets (provider, key, resource_type, identifier) SELECT 'AWS', id, 'SECURITY_GROUP', id FROM given
         RETURNING id, identifier
       )
       INSERT INTO resources (id, organization_id, name, credential_id, provider, resource_type, resource_identifier, is_active,
         target_id, labels)
       SELECT given.id, $1, given.id, $3, 'AWS', 'SECURITY_GROUP', given.id, true, place.id, given.labels
       FROM given JOIN place ON place.identifier = given.id::text`,
      [organization, JSON.stringify(resources), credentialId],
    );
    const roles: Role[] = [];
    for (const name of ['one', 'two', 'three', 'four']) {
      const keys = some(KEYS);
      const selector =
        keys.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, [VALUES[randomInt(3)]!, 'c']]));
      const created = await stores.roles.create(tx, organization, { name, resourceSelector: selector });
      const role = {
        id: created!.id,
        selector,
        resourceIds: some(resources).map(({ id }) => id),
        userIds: some(userIds),
      };
      for (const id of role.resourceIds)
        await stores.roles.assign(tx, organization, role.id, { kind: 'resource', id });
      for (const id of role.userIds)
        await stores.roles.assign(tx, organization, role.id, { kind: 'user', id });
      roles.push(role);
    }
    return { organization, userIds, resources, roles };
  }

  it(
    `${WORLDS} of them: the start, both lists of rights and the member's list agree on every pair`,
    { timeout: 3_600_000 },
    async () => {
      const tx = database.autocommit;
      for (let round = 0; round < WORLDS; round += 1) {
        const { organization, userIds, resources, roles } = await world();
        const given = (userId: string, resource: Resource): string[] =>
          roles
            .filter((role) => role.userIds.includes(userId) && reaches(role, resource))
            .map(({ id }) => id);
        for (const resource of resources) {
          const { rows } = await stores.rights.peopleOf(tx, organization, resource.id, {});
          const found = rows.map(({ userId, roles: by }) => [userId, by.map(({ id }) => id).toSorted()]);
          const expected = userIds.map((id) => [id, given(id, resource).toSorted()] as const);
          expect(new Map(found as [string, string[]][])).toEqual(
            new Map(expected.filter(([, by]) => by.length > 0).map(([id, by]) => [id, by])),
          );
        }
        for (const userId of userIds) {
          const expected = resources
            .filter((resource) => given(userId, resource).length > 0)
            .map(({ id }) => id)
            .toSorted();
          const grants = await stores.sessions.grants(tx, organization, userId, {});
          const own = await stores.rights.resourcesOf(tx, organization, userId, {});
          const assigned = await stores.resources.list(tx, organization, {}, userId);
          const granted = await stores.resources.listGranted(tx, organization, userId);
          expect(grants.map(({ resourceId }) => resourceId).toSorted()).toEqual(expected);
          expect(own.rows.map(({ resourceId }) => resourceId).toSorted()).toEqual(expected);
          expect(assigned.rows.map(({ id }) => id).toSorted()).toEqual(expected);
          expect(granted.map(({ resourceId }) => resourceId).toSorted()).toEqual(expected);
        }
        const { rows } = await stores.roles.list(tx, organization, {});
        expect(new Map(rows.map(({ id, resourceCount }) => [id, resourceCount]))).toEqual(
          new Map(roles.map((role) => [role.id, resources.filter((one) => reaches(role, one)).length])),
        );
      }
    },
  );
});
