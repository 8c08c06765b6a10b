import type { OrganizationId } from '#rules';
import { NOTICE_CURSORS, type NoticeCursorKind, type NoticeSwitch, type Tx, rows } from '#entities';
import { feedEnd, type FeedRecord } from '../audit/audit.store';

/** Up to where an organization has got its mails, one for each kind; this worker alone reads from it until its lease ends. */
export interface LeasedCursor {
  readonly organizationId: OrganizationId;
  readonly kind: NoticeCursorKind;
  readonly organizationName: string;
  readonly position: string;
  /** what was collected is to be sent now */
  readonly isDue: boolean;
  readonly lease: string;
}

/** A person who may get notices by mail. */
export interface Recipient {
  readonly id: string;
  readonly email: string;
  readonly isAdmin: boolean;
  readonly noticesOff: readonly NoticeSwitch[];
}

/** Up to where people have got notices by mail. Serves all organizations: each row names its own. */
export class NoticeStore {
  /**
   * Adds the cursors of organizations that have none. The first ones begin at the end: from when mail was off, nothing is
   * reported. Later ones are those of new organizations.
   */
  async begin(tx: Tx): Promise<void> {
    await tx.query(
      `INSERT INTO notice_cursors (organization_id, kind, position)
       SELECT o.id, kind, CASE WHEN EXISTS (SELECT FROM notice_cursors) THEN 0 ELSE ${feedEnd('o.id')} END
       FROM organizations o CROSS JOIN unnest($1::text[]) AS kind
       WHERE o.deleted_at IS NULL AND NOT EXISTS (
         SELECT FROM notice_cursors c WHERE c.organization_id = o.id AND c.kind = kind.kind)
       ON CONFLICT DO NOTHING`,
      [NOTICE_CURSORS],
    );
  }

  /** Forgets how far it was: mail is off. */
  async forget(tx: Tx): Promise<void> {
    await tx.query('DELETE FROM notice_cursors');
  }

  /**
   * Leases cursors that have something to read, what is overdue first; no two workers get the same. Probes an index for each
   * organization.
   */
  lease(tx: Tx, limit: number, seconds: number): Promise<LeasedCursor[]> {
    return rows(
      tx,
      `WITH ends AS MATERIALIZED (
         SELECT o.id, ${feedEnd('o.id')} AS position FROM organizations o
       ), free AS (
         SELECT c.organization_id, c.kind FROM notice_cursors c JOIN ends ON ends.id = c.organization_id
         WHERE c.leased_until <= now() AND (c.due_at IS NULL OR c.due_at <= now()) AND c.position < ends.position
         ORDER BY c.kind <> 'URGENT', c.leased_until LIMIT $1 FOR NO KEY UPDATE OF c SKIP LOCKED
       )
       UPDATE notice_cursors c SET leased_until = now() + make_interval(secs => $2)
       FROM free JOIN organizations o ON o.id = free.organization_id
       WHERE c.organization_id = free.organization_id AND c.kind = free.kind
       RETURNING c.organization_id AS "organizationId", c.kind, o.name AS "organizationName",
         c.position::text, c.due_at IS NOT NULL AS "isDue", c.leased_until::text AS lease`,
      [limit, seconds],
    );
  }

  /**
   * Ends the lease.
   * @param position up to where people were notified
   * @param pauseSeconds until it is read again; null: when there is something
   */
  async release(
    tx: Tx,
    { organizationId, kind, lease }: LeasedCursor,
    position: string,
    pauseSeconds: number | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE notice_cursors SET position = $4, due_at = now() + make_interval(secs => $5), leased_until = now()
       WHERE organization_id = $1 AND kind = $2 AND leased_until = $3::timestamptz`,
      [organizationId, kind, lease, position, pauseSeconds],
    );
  }

  /** Active people: the administrators, and those with these ids. */
  recipients(tx: Tx, organization: OrganizationId, userIds: readonly string[]): Promise<Recipient[]> {
    return rows(
      tx,
      `SELECT id, email, is_org_admin AS "isAdmin", notices_off AS "noticesOff" FROM users
       WHERE organization_id = $1 AND is_active AND NOT is_service AND (is_org_admin OR id = ANY ($2::uuid[]))
       ORDER BY id`,
      [organization, userIds],
    );
  }

  /** Whether a record of this kind about the same object is less than a day older. */
  async isRepeated(tx: Tx, organization: OrganizationId, record: FeedRecord): Promise<boolean> {
    const found = await rows(
      tx,
      `SELECT FROM audit_records WHERE organization_id = $1 AND event_type = $2 AND resource_id = $3
         AND timestamp >= $4::timestamptz - interval '1 day' AND timestamp < $4 LIMIT 1`,
      [organization, record.eventType, record.resourceId, record.timestamp],
    );
    return found.length > 0;
  }
}
