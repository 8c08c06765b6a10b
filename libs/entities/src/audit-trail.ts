import type { OrganizationId } from '#rules';
import type { ActorType, AuditEventType } from './audit-record.entity';
import { auditTable, type AuditTable } from './audit-table';
import type { Tx } from './database';

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

/** The service itself, for actions without a caller. */
export const SYSTEM_ACTOR: AuditActor = {
  actorType: 'SYSTEM',
  actorId: null,
  actorEmail: null,
  ipAddress: null,
};

/**
 * SQL: one INSERT of audit records, alone or as part of a larger statement.
 * @param organization parameter with the organization's id, e.g. `$1`
 * @param entries parameter with `auditJson(entries)`, e.g. `$2`
 * @param table `auditTable` of the transaction, where it may revoke access
 */
export const auditInsert = (
  organization: string,
  entries: string,
  table: AuditTable = 'audit_records',
): string =>
  table === 'audit_records' ? trailInsert(organization, entries) : fallbackInsert(organization, entries);

const fallbackInsert = (organization: string, entries: string): string => `
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

/** Writes audit records. */
export class AuditTrail {
  /** Call it in the transaction of the action. */
  async write(tx: Tx, organization: OrganizationId, ...entries: AuditEntry[]): Promise<void> {
    await tx.query(auditInsert('$1', '$2', auditTable(tx)), [organization, auditJson(...entries)]);
  }
}
