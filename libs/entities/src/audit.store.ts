import type { OrganizationId } from '#rules';
import type { ActorType, AuditEventType } from './audit-record.entity';
import type { Tx } from './database';
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
 */
export const auditInsert = (organization: string, entries: string): string => `
  INSERT INTO audit_records (organization_id, event_type, actor_type, actor_id, actor_email, ip_address,
    resource_type, resource_id, resource_name, result, error_message, details)
  SELECT ${organization}, e."eventType", e."actorType", e."actorId", e."actorEmail", e."ipAddress",
    e."resourceType", e."resourceId", e."resourceName", coalesce(e.result, 'SUCCESS'), e."errorMessage",
    coalesce(e.details, '{}')
  FROM jsonb_to_recordset(${entries}::jsonb) AS e("eventType" text, "actorType" text, "actorId" uuid,
    "actorEmail" text, "ipAddress" text, "resourceType" text, "resourceId" uuid, "resourceName" text, result text,
    "errorMessage" text, details jsonb)`;

export const auditJson = (...entries: AuditEntry[]): string => JSON.stringify(entries);

export class AuditStore implements TenantStore<AuditStore> {
  /** Call it in the transaction of the deed. */
  async write(tx: Tx, organization: OrganizationId, ...entries: AuditEntry[]): Promise<void> {
    await tx.query(auditInsert('$1', '$2'), [organization, auditJson(...entries)]);
  }
}
