import { definedFields, type OrganizationId } from '#rules';
import {
  RoleEntity,
  type ListDefinition,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
  choiceFilter,
  first,
  idFilter,
  listPage,
  unlessTaken,
} from '#entities';
import { ListedStore } from '../listed-store';
import { reaches, resourcesOf } from './granted-sql';

export interface RoleRow extends Readonly<Omit<RoleEntity, 'organizationId'>> {
  readonly resourceIds: string[];
  readonly userIds: string[];
  readonly userCount: number;
  /** by id and by label */
  readonly resourceCount: number;
}

const USER_COUNT = '(SELECT count(*) FROM role_users m WHERE m.role_id = r.id)';
const RESOURCE_COUNT = `(SELECT count(*) FROM ${resourcesOf('r.id')} reached
    JOIN resources known ON known.id = reached.id AND known.deleted_at IS NULL)`;

const select = (members: string): string => `SELECT r.id, r.name, r.description,
    r.max_session_duration_hours AS "maxSessionDurationHours", r.require_reason AS "requireReason",
    r.reason_pattern AS "reasonPattern", r.approvals, r.approver_role_ids AS "approverRoleIds",
    r.may_break_glass AS "mayBreakGlass", r.ipv6_prefix_length AS "ipv6PrefixLength",
    r.resource_selector AS "resourceSelector", ${USER_COUNT}::int AS "userCount", ${RESOURCE_COUNT}::int AS "resourceCount",
    ${members}, r.created_at AS "createdAt", r.updated_at AS "updatedAt"
  FROM roles r WHERE r.organization_id = $1`;

const SELECT = select(
  `ARRAY(SELECT resource_id FROM role_resources WHERE role_id = r.id ORDER BY created_at, resource_id) AS "resourceIds",
    ARRAY(SELECT user_id FROM role_users WHERE role_id = r.id ORDER BY created_at, user_id) AS "userIds"`,
);

export const ROLE_LIST: ListDefinition = {
  list: SELECT,
  id: 'r.id',
  search: ['r.name', 'r.description'],
  sort: {
    name: 'r.name',
    createdAt: 'r.created_at',
    userCount: USER_COUNT,
    resourceCount: RESOURCE_COUNT,
  },
  order: 'name',
  filters: {
    resourceId: idFilter(reaches('r.id', '?::uuid')),
    userId: idFilter('EXISTS (SELECT FROM role_users m WHERE m.role_id = r.id AND m.user_id = ?)'),
    approvals: choiceFilter('r.approvals::text', ['0', '1', '2']),
  },
};

/** Without the ids of its members, of which there may be thousands. */
const BARE_ROLES: ListDefinition = {
  ...ROLE_LIST,
  list: select(`'{}'::uuid[] AS "resourceIds", '{}'::uuid[] AS "userIds"`),
};

/** What a role asks of a session, and lets it do. */
export const ROLE_FIELDS = [
  'name',
  'description',
  'maxSessionDurationHours',
  'requireReason',
  'reasonPattern',
  'approvals',
  'approverRoleIds',
  'mayBreakGlass',
  'ipv6PrefixLength',
  'resourceSelector',
] as const satisfies readonly (keyof RoleRow)[];

export type NewRole = Pick<RoleRow, 'name'> & RoleChanges;

/** undefined: unchanged */
export type RoleChanges = { readonly [Name in (typeof ROLE_FIELDS)[number]]?: RoleRow[Name] | undefined };

export type Assignment = 'assigned' | 'already-assigned' | 'role-missing' | 'other-missing';
export type Unassignment = 'unassigned' | 'not-assigned' | 'role-missing' | 'other-missing';

/** Every choice of one value for each key; none for no key. */
function combinations(selector: Readonly<Record<string, readonly string[]>>): Record<string, string>[] {
  const [one, ...others] = Object.entries(selector).map(([key, values]) =>
    [...new Set(values)].map((value) => ({ [key]: value })),
  );
  return others.reduce<Record<string, string>[]>(
    (some, next) => some.flatMap((labels) => next.map((label) => ({ ...labels, ...label }))),
    one ?? [],
  );
}

/** What a role is assigned to. */
export interface RoleMember {
  readonly kind: 'resource' | 'user';
  readonly id: string;
}

/** The tables of the two many-to-many relations. */
const LINKS = {
  resource: { table: 'resources', link: 'role_resources', column: 'resource_id' },
  user: { table: 'users', link: 'role_users', column: 'user_id' },
} as const;

export class RoleStore extends ListedStore<RoleRow> implements TenantStore<RoleStore> {
  protected readonly definition = ROLE_LIST;

  override list(tx: Tx, organization: OrganizationId, query: ListQuery): Promise<Sliced<RoleRow>> {
    return listPage(tx, query['withMembers'] === false ? BARE_ROLES : ROLE_LIST, organization, query);
  }

  /** @returns null when the name is taken */
  async create(tx: Tx, organization: OrganizationId, role: NewRole): Promise<RoleRow | null> {
    const [created] = await tx.query<{ id: string }[]>(
      `INSERT INTO roles (organization_id, name) VALUES ($1, $2)
       ON CONFLICT (organization_id, name) DO NOTHING RETURNING id`,
      [organization, role.name],
    );
    if (!created) return null;
    await this.update(tx, organization, created.id, role);
    return this.find(tx, organization, created.id);
  }

  /** @returns false when another role has the name: a constraint decides, and the transaction is aborted */
  update(tx: Tx, organization: OrganizationId, id: string, changes: RoleChanges): Promise<boolean> {
    return unlessTaken('roles_organization_id_name_key', async () => {
      await tx.update(RoleEntity, { organizationId: organization, id }, definedFields(changes));
      if (changes.resourceSelector !== undefined)
        await this.select(tx, organization, id, changes.resourceSelector);
    });
  }

  /** Replaces the combinations of its selector. */
  private async select(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    selector: RoleRow['resourceSelector'],
  ): Promise<void> {
    await tx.query('DELETE FROM role_selectors WHERE organization_id = $1 AND role_id = $2', [
      organization,
      id,
    ]);
    await tx.query(
      `INSERT INTO role_selectors (organization_id, role_id, labels)
       SELECT $1, $2, labels FROM unnest($3::jsonb[]) labels ON CONFLICT DO NOTHING`,
      [organization, id, combinations(selector ?? {}).map((labels) => JSON.stringify(labels))],
    );
  }

  /**
   * Deletes its assignments too. Where its members decided alone, administrators do from now on. Call it in a transaction.
   * @returns the name it had, null when there is no such role
   */
  async delete(tx: Tx, organization: OrganizationId, id: string): Promise<{ name: string } | null> {
    const deleted = await first<{ name: string }>(
      tx,
      'DELETE FROM roles WHERE organization_id = $1 AND id = $2 RETURNING name',
      [organization, id],
    );
    for (const [table, condition] of [
      ['roles', 'true'],
      ['access_requests', 'due_at IS NOT NULL'],
    ] as const)
      await tx.query(
        `UPDATE ${table} SET approver_role_ids = array_remove(approver_role_ids, $2::uuid)
         WHERE organization_id = $1 AND $2::uuid = ANY (approver_role_ids) AND ${condition}`,
        [organization, id],
      );
    return deleted;
  }

  /**
   * One statement looks up both sides in the organization and inserts the link. The locks serialize it with a deletion
   * of either side.
   */
  async assign(
    tx: Tx,
    organization: OrganizationId,
    roleId: string,
    { kind, id }: RoleMember,
  ): Promise<Assignment> {
    const { table, link, column } = LINKS[kind];
    const [outcome] = await tx.query<{ role: boolean; other: boolean; linked: boolean }[]>(
      `WITH role AS (SELECT id FROM roles WHERE organization_id = $1 AND id = $2 FOR KEY SHARE),
       other AS (SELECT id FROM ${table} WHERE organization_id = $1 AND id = $3 AND deleted_at IS NULL FOR SHARE),
       link AS (
         INSERT INTO ${link} (organization_id, role_id, ${column})
         SELECT $1, role.id, other.id FROM role, other ON CONFLICT DO NOTHING RETURNING 1
       )
       SELECT EXISTS (SELECT FROM role) AS role, EXISTS (SELECT FROM other) AS other,
         EXISTS (SELECT FROM link) AS linked`,
      [organization, roleId, id],
    );
    if (!outcome!.role) return 'role-missing';
    if (!outcome!.other) return 'other-missing';
    return outcome!.linked ? 'assigned' : 'already-assigned';
  }

  async unassign(
    tx: Tx,
    organization: OrganizationId,
    roleId: string,
    { kind, id }: RoleMember,
  ): Promise<Unassignment> {
    const { table, link, column } = LINKS[kind];
    const [outcome] = await tx.query<{ role: boolean; other: boolean; unlinked: boolean }[]>(
      `WITH unlinked AS (
         DELETE FROM ${link} WHERE organization_id = $1 AND role_id = $2 AND ${column} = $3 RETURNING 1
       )
       SELECT EXISTS (SELECT FROM roles WHERE organization_id = $1 AND id = $2) AS role,
         EXISTS (SELECT FROM ${table} WHERE organization_id = $1 AND id = $3 AND deleted_at IS NULL) AS other,
         EXISTS (SELECT FROM unlinked) AS unlinked`,
      [organization, roleId, id],
    );
    if (outcome!.unlinked) return 'unassigned';
    if (!outcome!.role) return 'role-missing';
    return outcome!.other ? 'not-assigned' : 'other-missing';
  }
}
