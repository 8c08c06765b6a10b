import type { OrganizationId } from '#rules';
import { type AuditRecordEntity, type TenantStore, type Tx } from '#entities';
import { recordOfSeal } from './audit-chain.store';

/** A record as GET /audit-logs shows it, `timestamp` in ISO 8601. */
export type FeedRecord = Readonly<
  Omit<AuditRecordEntity, 'organizationId' | 'sequence' | 'transactionId' | 'timestamp'>
> & { readonly timestamp: string };

/** A place in an organization's chain. */
export interface FeedItem {
  readonly position: string;
  /** null: it was exported, and is no longer in the database */
  readonly record: FeedRecord | null;
}

/** SQL: the position of an organization's newest sealed record. */
export const feedEnd = (organization: string): string =>
  `coalesce((SELECT position FROM audit_seals WHERE organization_id = ${organization} ORDER BY position DESC LIMIT 1), 0)`;

const FEED_RECORD = `jsonb_build_object('id', r.id, 'eventType', r.event_type,
    'timestamp', to_char(r.timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'actorType', r.actor_type,
    'actorId', r.actor_id, 'actorEmail', r.actor_email, 'resourceType', r.resource_type, 'resourceId', r.resource_id,
    'resourceName', r.resource_name, 'result', r.result, 'ipAddress', r.ip_address, 'errorMessage', r.error_message,
    'details', r.details)`;

/**
 * The audit trail for those who tell others about it. An organization's records have positions without gaps, in the order in
 * which they were sealed: a consumer that keeps the position of the last one it has passed on misses none, and passes on none before
 * its time. A consumer without new records reads one entry of an index.
 */
export class AuditFeed implements TenantStore<AuditFeed> {
  /** The records after a position, in order. */
  after(tx: Tx, organization: OrganizationId, position: string, limit: number): Promise<FeedItem[]> {
    return tx.query(
      `SELECT s.position::text, found.record
       FROM (SELECT * FROM audit_seals WHERE organization_id = $1 AND position > $2 ORDER BY position LIMIT $3) s
       ${recordOfSeal(FEED_RECORD)}
       ORDER BY s.position`,
      [organization, position, limit],
    );
  }

  /** The record at a position; null: it is no longer in the database. */
  async at(tx: Tx, organization: OrganizationId, position: string): Promise<FeedRecord | null> {
    const [item] = await this.after(tx, organization, String(BigInt(position) - 1n), 1);
    return item?.position === position ? item.record : null;
  }
}
