import type { OrganizationId } from '#rules';
import type { ActorType, AuditEventType } from './audit-record.entity';
import type { Trail } from './closing';
import type { Tx } from './database';
import { sliced, type Slice, type Sliced } from './slice';
import type { TenantStore } from './tenant-store';

export interface AuditActor {
  readonly actorType: ActorType;
  readonly actorId: string | null;
  readonly actorEmail: string | null;
  readonly ipAddress: string | null;
}

export interface AuditEntry extends AuditActor {
  readonly eventType: AuditEventType;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly result?: 'SUCCESS' | 'FAILURE';
  readonly errorMessage?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

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
  /** only what this user did, or what was done to the user; null: everything */
  readonly concerns: string | null;
  readonly eventTypes: readonly AuditEventType[] | null;
  readonly actorEmail: string | null;
  readonly resourceId: string | null;
  readonly from: Date | null;
  /** still included, as a whole millisecond */
  readonly to: Date | null;
}

/** The service itself, when nobody asked for the deed. */
export const SYSTEM_ACTOR: AuditActor = {
  actorType: 'SYSTEM',
  actorId: null,
  actorEmail: null,
  ipAddress: null,
};

/**
 * One INSERT of audit records, to stand alone or as a part of a larger statement.
 * @param organization parameter that holds the organization's id, e.g. `$1`
 * @param entries parameter that holds `auditJson(entries)`, e.g. `$2`
 * @param trail of a closing: where `closing` has it go
 */
export const auditInsert = (organization: string, entries: string, trail: Trail = 'audit_records'): string =>
  trail === 'audit_records' ? trailInsert(organization, entries) : keptInsert(organization, entries);

const keptInsert = (organization: string, entries: string): string => `
  INSERT INTO unwritten_audit_records (organization_id, entry)
  SELECT ${organization}::uuid, e FROM jsonb_array_elements(${entries}::jsonb) AS e`;

const trailInsert = (organization: string, entries: string): string => `
  INSERT INTO audit_records (organization_id, event_type, actor_type, actor_id, actor_email, ip_address,
    resource_type, resource_id, resource_name, result, error_message, details, timestamp)
  SELECT ${organization}, e."eventType", e."actorType", e."actorId", e."actorEmail", e."ipAddress",
    e."resourceType", e."resourceId", e."resourceName", coalesce(e.result, 'SUCCESS'), e."errorMessage",
    coalesce(e.details, '{}'), coalesce(e.timestamp, now())
  FROM jsonb_to_recordset(${entries}::jsonb) AS e("eventType" text, "actorType" text, "actorId" uuid,
    "actorEmail" text, "ipAddress" text, "resourceType" text, "resourceId" uuid, "resourceName" text, result text,
    "errorMessage" text, details jsonb, timestamp timestamptz)`;

export const auditJson = (...entries: AuditEntry[]): string => JSON.stringify(entries);

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

export class AuditStore implements TenantStore<AuditStore> {
  /** Call it in the transaction of the deed. */
  async write(tx: Tx, organization: OrganizationId, ...entries: AuditEntry[]): Promise<void> {
    await tx.query(auditInsert('$1', '$2'), [organization, auditJson(...entries)]);
  }

  /** As `write`, of a deed that closes access: where `closing` has it go. */
  async writeClosing(
    tx: Tx,
    organization: OrganizationId,
    trail: Trail,
    ...entries: AuditEntry[]
  ): Promise<void> {
    await tx.query(auditInsert('$1', '$2', trail), [organization, auditJson(...entries)]);
  }

  /**
   * Writes a deed that was refused, unless its actor has been refused as often as `mostAMinute` within a minute:
   * whoever tries on and on shall not fill the trail.
   */
  async writeRefusal(
    tx: Tx,
    organization: OrganizationId,
    entry: AuditEntry & { readonly result: 'FAILURE' },
    mostAMinute: number,
  ): Promise<void> {
    await tx.query(
      `${auditInsert('$1', '$2')}
       WHERE (SELECT count(*) FROM audit_records a
         WHERE a.organization_id = $1 AND a.timestamp > now() - interval '1 minute'
           AND a.actor_id = $3 AND a.result = 'FAILURE') < $4`,
      [organization, auditJson(entry), entry.actorId, mostAMinute],
    );
  }

  /** Newest first; records of one moment in the order they were written, the last one first. */
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
