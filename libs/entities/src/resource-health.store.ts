import type { OrganizationId } from '#rules';
import type { Tx } from './database';
import type { HealthEventType } from './resource.entity';
import type { Slice } from './slice';
import type { TenantStore } from './tenant-store';

export interface HealthEventRow {
  readonly id: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly eventType: HealthEventType;
  readonly message: string | null;
  readonly createdAt: Date;
}

const OF_RESOURCES = `FROM resource_health_events e
  JOIN resources r ON r.id = e.resource_id AND r.organization_id = e.organization_id AND r.deleted_at IS NULL
  WHERE e.organization_id = $1 AND ($2::uuid IS NULL OR e.resource_id = $2)`;

/** What verifications and reconciliations found. */
export class ResourceHealthStore implements TenantStore<ResourceHealthStore> {
  /** Newest first. @param resourceId null for all of the organization's resources */
  async list(
    tx: Tx,
    organization: OrganizationId,
    resourceId: string | null,
    slice: Slice,
  ): Promise<{ rows: HealthEventRow[]; total: number }> {
    const [counted] = await tx.query<{ total: number }[]>(`SELECT count(*)::int AS total ${OF_RESOURCES}`, [
      organization,
      resourceId,
    ]);
    const rows = await tx.query<HealthEventRow[]>(
      `SELECT e.id, e.resource_id AS "resourceId", r.name AS "resourceName", e.event_type AS "eventType", e.message,
         e.created_at AS "createdAt"
       ${OF_RESOURCES} ORDER BY e.created_at DESC, e.id LIMIT $3 OFFSET $4`,
      [organization, resourceId, slice.size, slice.page * slice.size],
    );
    return { rows, total: counted!.total };
  }
}
