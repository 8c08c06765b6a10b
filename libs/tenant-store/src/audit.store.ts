import type { OrganizationId } from '#rules';
import {
  type ActorType,
  type AuditEntry,
  type AuditEventType,
  AuditTrail,
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  auditInsert,
  auditJson,
  sliced,
} from '#entities';

export interface AuditRecordRow {
  readonly id: string;
  readonly eventType: AuditEventType;
  readonly timestamp: Date;
  readonly actorType: ActorType;
  readonly actorId: string | null;
  readonly actorEmail: string | null;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly result: 'SUCCESS' | 'FAILURE';
  readonly ipAddress: string | null;
  readonly errorMessage: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  /** only records with this user as actor or object; null: all */
  readonly concerns: string | null;
  readonly eventTypes: readonly AuditEventType[] | null;
  readonly actorEmail: string | null;
  readonly resourceId: string | null;
  readonly from: Date | null;
  /** inclusive, with millisecond precision */
  readonly to: Date | null;
}

/** $2 to $7: the filter, in the order of `filterValues` */
const FILTERED = `FROM audit_records a
  WHERE a.organization_id = $1
    AND a.timestamp >= coalesce($2::timestamptz, '-infinity')
    AND a.timestamp < coalesce($3::timestamptz + interval '1 millisecond', 'infinity')
    AND ($4::text[] IS NULL OR a.event_type = ANY ($4))
    AND ($5::text IS NULL OR a.actor_email = $5)
    AND ($6::uuid IS NULL OR a.resource_id = $6)
    AND ($7::uuid IS NULL OR $7 IN (a.actor_id, a.resource_id) OR a.details->>'userId' = $7::text
      OR a.actor_id IN (SELECT id FROM api_keys WHERE organization_id = $1 AND user_id = $7)
      OR a.resource_id IN (SELECT id FROM api_keys WHERE organization_id = $1 AND user_id = $7
        UNION ALL SELECT id FROM sessions WHERE organization_id = $1 AND user_id = $7))`;

const filterValues = (filter: AuditFilter): unknown[] => [
  filter.from,
  filter.to,
  filter.eventTypes,
  filter.actorEmail,
  filter.resourceId,
  filter.concerns,
];

export class AuditStore extends AuditTrail implements TenantStore<AuditStore> {
  /**
   * Records a denied action, unless its actor already has `maxPerMinute` of them within the last minute: repeated
   * attempts must not fill the trail.
   */
  async writeDeniedAction(
    tx: Tx,
    organization: OrganizationId,
    entry: AuditEntry & { readonly result: 'FAILURE' },
    maxPerMinute: number,
  ): Promise<void> {
    await tx.query(
      `${auditInsert('$1', '$2')}
       WHERE (SELECT count(*) FROM audit_records a
         WHERE a.organization_id = $1 AND a.timestamp > now() - interval '1 minute'
           AND a.actor_id = $3 AND a.result = 'FAILURE') < $4`,
      [organization, auditJson(entry), entry.actorId, maxPerMinute],
    );
  }

  /** Newest first; equal timestamps by descending sequence. */
  list(
    tx: Tx,
    organization: OrganizationId,
    filter: AuditFilter,
    slice: Slice,
  ): Promise<Sliced<AuditRecordRow>> {
    return sliced(
      tx,
      {
        counted: FILTERED,
        rows: `SELECT a.id, a.event_type AS "eventType", a.timestamp, a.actor_type AS "actorType", a.actor_id AS "actorId",
         a.actor_email AS "actorEmail", a.resource_type AS "resourceType", a.resource_id AS "resourceId",
         a.resource_name AS "resourceName", a.result, a.ip_address AS "ipAddress",
         a.error_message AS "errorMessage", a.details
       ${FILTERED} ORDER BY a.timestamp DESC, a.sequence DESC`,
      },
      [organization, ...filterValues(filter)],
      slice,
    );
  }
}
