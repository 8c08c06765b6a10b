import type { OrganizationId } from '#rules';
import type { Tx } from './database';
import type { TenantStore } from './tenant-store';

export interface RoleRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** what the role allows now: its own hours, or the tier's */
  readonly maxSessionDurationHours: number | null;
  readonly resourceIds: string[];
  readonly userIds: string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const SELECT = `SELECT r.id, r.name, r.description, r.max_session_duration_hours AS "maxSessionDurationHours",
    ARRAY(SELECT resource_id FROM role_resources WHERE role_id = r.id ORDER BY created_at, resource_id) AS "resourceIds",
    ARRAY(SELECT user_id FROM role_users WHERE role_id = r.id ORDER BY created_at, user_id) AS "userIds",
    r.created_at AS "createdAt", r.updated_at AS "updatedAt"
  FROM roles r`;

export type Assignment = 'assigned' | 'already-assigned' | 'role-missing' | 'other-missing';

export class RoleStore implements TenantStore<RoleStore> {
  list(tx: Tx, organization: OrganizationId): Promise<RoleRow[]> {
    return tx.query(`${SELECT} WHERE r.organization_id = $1 ORDER BY r.name, r.id`, [organization]);
  }

  async find(tx: Tx, organization: OrganizationId, id: string): Promise<RoleRow | null> {
    const [row] = await tx.query<RoleRow[]>(`${SELECT} WHERE r.organization_id = $1 AND r.id = $2`, [
      organization,
      id,
    ]);
    return row ?? null;
  }

  /** @returns null when the name is taken */
  async create(
    tx: Tx,
    organization: OrganizationId,
    role: { name: string; description: string | null; maxSessionDurationHours: number | null },
  ): Promise<RoleRow | null> {
    const [created] = await tx.query<{ id: string }[]>(
      `INSERT INTO roles (organization_id, name, description, max_session_duration_hours) VALUES ($1, $2, $3, $4)
       ON CONFLICT (organization_id, name) DO NOTHING RETURNING id`,
      [organization, role.name, role.description, role.maxSessionDurationHours],
    );
    return created ? this.find(tx, organization, created.id) : null;
  }

  assignResource(
    tx: Tx,
    organization: OrganizationId,
    roleId: string,
    resourceId: string,
  ): Promise<Assignment> {
    return this.assign(
      tx,
      organization,
      roleId,
      { table: 'resources', link: 'role_resources', column: 'resource_id' },
      resourceId,
    );
  }

  assignUser(tx: Tx, organization: OrganizationId, roleId: string, userId: string): Promise<Assignment> {
    return this.assign(
      tx,
      organization,
      roleId,
      { table: 'users', link: 'role_users', column: 'user_id' },
      userId,
    );
  }

  /** One statement: both sides are looked up in the organization, and the link is made, or its key refuses it. */
  private async assign(
    tx: Tx,
    organization: OrganizationId,
    roleId: string,
    names: { table: 'resources' | 'users'; link: string; column: string },
    otherId: string,
  ): Promise<Assignment> {
    const [outcome] = await tx.query<{ role: boolean; other: boolean; linked: boolean }[]>(
      `WITH role AS (SELECT id FROM roles WHERE organization_id = $1 AND id = $2),
       other AS (SELECT id FROM ${names.table} WHERE organization_id = $1 AND id = $3),
       link AS (
         INSERT INTO ${names.link} (organization_id, role_id, ${names.column})
         SELECT $1, role.id, other.id FROM role, other ON CONFLICT DO NOTHING RETURNING 1
       )
       SELECT EXISTS (SELECT FROM role) AS role, EXISTS (SELECT FROM other) AS other,
         EXISTS (SELECT FROM link) AS linked`,
      [organization, roleId, otherId],
    );
    if (!outcome!.role) return 'role-missing';
    if (!outcome!.other) return 'other-missing';
    return outcome!.linked ? 'assigned' : 'already-assigned';
  }
}
