import type { OrganizationId, Provider } from '#rules';
import {
  HOLDING,
  LIVE,
  type ListDefinition,
  listPage,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
} from '#entities';
import { GRANT, reaches, resourcesOf } from './granted-sql';
import { STATUS, type UserStatus } from '../accounts/user.store';

/** What a person may open, by which roles. */
interface RightRow {
  /** the longest session; null: that of the plan */
  readonly hours: number | null;
  readonly approvalsNeeded: number;
  readonly needsReason: boolean;
  readonly mayBreakGlass: boolean;
  /** ID: the resource is assigned; LABEL: its labels fit */
  readonly roles: { readonly id: string; readonly name: string; readonly by: 'ID' | 'LABEL' }[];
  /** a live session of the person lets an address in */
  readonly openNow: boolean;
}

interface PersonRightRow extends RightRow {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly status: UserStatus;
}

interface ResourceRightRow extends RightRow {
  readonly resourceId: string;
  readonly name: string;
  readonly provider: Provider;
  readonly isActive: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

const rolesBy = (
  resourceId: string,
): string => `jsonb_agg(jsonb_build_object('id', role.id, 'name', role.name,
    'by', CASE WHEN EXISTS (SELECT FROM role_resources m WHERE m.role_id = role.id AND m.resource_id = ${resourceId})
      THEN 'ID' ELSE 'LABEL' END) ORDER BY role.name) AS roles`;

const RIGHT = `g.hours, g."approvalsNeeded", g."needsReason", g."mayBreakGlass", g.roles`;

const openNow = (userId: string, resourceId: string): string => `EXISTS (SELECT FROM resource_ips ip
    JOIN sessions s ON s.id = ip.session_id WHERE ip.organization_id = $1 AND ip.resource_id = ${resourceId}
      AND ip.status IN (${HOLDING}) AND s.user_id = ${userId} AND s.status IN (${LIVE})) AS "openNow"`;

/** $2: the resource */
export const PEOPLE_OF_RESOURCE: ListDefinition = {
  list: `SELECT u.id AS "userId", u.name, u.email, ${STATUS} AS status, ${RIGHT}, ${openNow('u.id', '$2')}
    FROM (SELECT held.user_id, ${GRANT}, ${rolesBy('$2')}
      FROM roles role JOIN role_users held ON held.role_id = role.id
      WHERE role.organization_id = $1 AND ${reaches('role.id', '$2::uuid')} GROUP BY held.user_id) g
    JOIN users u ON u.id = g.user_id WHERE u.organization_id = $1 AND u.deleted_at IS NULL`,
  id: 'u.id',
  search: ['u.name', 'u.email'],
  sort: { name: 'u.name', email: 'u.email' },
  order: 'name',
  filters: {},
};

/** $2: the user */
export const RESOURCES_OF_USER: ListDefinition = {
  list: `SELECT r.id AS "resourceId", r.name, r.provider, r.is_active AS "isActive", r.labels, ${RIGHT}, ${openNow('$2', 'r.id')}
    FROM (SELECT reached.id, ${GRANT}, ${rolesBy('reached.id')}
      FROM role_users held JOIN roles role ON role.id = held.role_id AND role.organization_id = $1
      CROSS JOIN LATERAL ${resourcesOf('role.id')} reached WHERE held.user_id = $2::uuid GROUP BY reached.id) g
    JOIN resources r ON r.id = g.id WHERE r.organization_id = $1 AND r.deleted_at IS NULL`,
  id: 'r.id',
  search: ['r.name', 'r.resource_identifier', 'r.endpoint'],
  sort: { name: 'r.name', createdAt: 'r.created_at' },
  order: 'name',
  filters: {},
};

/** Who may open what now, whether or not anybody does. */
export class RightsStore implements TenantStore<RightsStore> {
  peopleOf(
    tx: Tx,
    organization: OrganizationId,
    resourceId: string,
    query: ListQuery,
  ): Promise<Sliced<PersonRightRow>> {
    return listPage(tx, PEOPLE_OF_RESOURCE, organization, query, [resourceId]);
  }

  resourcesOf(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    query: ListQuery,
  ): Promise<Sliced<ResourceRightRow>> {
    return listPage(tx, RESOURCES_OF_USER, organization, query, [userId]);
  }
}
