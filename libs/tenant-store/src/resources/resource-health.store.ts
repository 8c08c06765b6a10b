import type { OrganizationId } from '#rules';
import {
  type HealthEventType,
  type ResourceHealthEventEntity,
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  sliced,
} from '#entities';

export interface HealthEventRow extends Readonly<Omit<ResourceHealthEventEntity, 'organizationId'>> {
  readonly resourceName: string;
}

const OF_RESOURCES = `FROM resource_health_events e
  JOIN resources r ON r.id = e.resource_id AND r.organization_id = e.organization_id AND r.deleted_at IS NULL
  WHERE e.organization_id = $1 AND ($2::uuid IS NULL OR e.resource_id = $2)
    AND ($3::text[] IS NULL OR e.event_type = ANY ($3))`;

/** Results of verifications and reconciliations. */
export class ResourceHealthStore implements TenantStore<ResourceHealthStore> {
  /** Newest first. @param resourceId null for all of the organization's resources */
  list(
    tx: Tx,
    organization: OrganizationId,
    resourceId: string | null,
    eventTypes: readonly HealthEventType[] | null,
    slice: Slice,
  ): Promise<Sliced<HealthEventRow>> {
    return sliced(
      tx,
      `SELECT e.id, e.resource_id AS "resourceId", r.name AS "resourceName", e.event_type AS "eventType", e.message,
         e.created_at AS "createdAt"
       ${OF_RESOURCES}`,
      'e.created_at DESC, e.id',
      [organization, resourceId, eventTypes],
      slice,
    );
  }
}
