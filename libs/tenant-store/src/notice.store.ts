import type { OrganizationId } from '#rules';
import { type Tx, rows } from '#entities';
import { feedEnd } from './audit-feed';

/** One of the two positions of an organization up to which it was told what happened. */
interface NoticeCursor {
  readonly organizationId: OrganizationId;
  /** what it reads is collected before it is told; false: it is told at once */
  readonly isCollected: boolean;
}

/** A cursor that this worker alone reads from, until its lease ends. */
export interface LeasedCursor extends NoticeCursor {
  readonly organizationName: string;
  readonly position: string;
  /** what was collected is to be told now */
  readonly isDue: boolean;
  readonly lease: string;
}

/** Somebody who may be told something by mail. */
export interface Recipient {
  readonly id: string;
  readonly email: string;
  readonly isAdmin: boolean;
}

const IS_READY = `c.leased_until <= now() AND (c.due_at IS NULL OR c.due_at <= now())
  AND c.position < ${feedEnd('c.organization_id')}`;

/** Up to where people were told by mail what happened. Serves all organizations: each row names its own. */
export class NoticeStore {
  /**
   * Adds the cursors of organizations that have none. The first ones begin at the end: from when mail was off, nothing is
   * told. Later ones are those of new organizations.
   */
  async begin(tx: Tx): Promise<void> {
    await tx.query(
      `INSERT INTO notice_cursors (organization_id, is_collected, position)
       SELECT o.id, kind.is_collected, CASE WHEN EXISTS (SELECT FROM notice_cursors) THEN 0 ELSE ${feedEnd('o.id')} END
       FROM organizations o CROSS JOIN (VALUES (false), (true)) AS kind (is_collected)
       WHERE o.deleted_at IS NULL AND NOT EXISTS (
         SELECT FROM notice_cursors c WHERE c.organization_id = o.id AND c.is_collected = kind.is_collected)
       ON CONFLICT DO NOTHING`,
    );
  }

  /** Forgets how far it was: mail is off. */
  async forget(tx: Tx): Promise<void> {
    await tx.query('DELETE FROM notice_cursors');
  }

  /** Leases cursors that have something to read; no two workers get the same. */
  lease(tx: Tx, limit: number, seconds: number): Promise<LeasedCursor[]> {
    return rows<LeasedCursor>(
      tx,
      `WITH free AS (
         SELECT c.organization_id, c.is_collected FROM notice_cursors c WHERE ${IS_READY}
         ORDER BY c.is_collected, c.leased_until LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE notice_cursors c SET leased_until = now() + make_interval(secs => $2)
       FROM free JOIN organizations o ON o.id = free.organization_id
       WHERE c.organization_id = free.organization_id AND c.is_collected = free.is_collected
       RETURNING c.organization_id AS "organizationId", c.is_collected AS "isCollected", o.name AS "organizationName",
         c.position::text, c.due_at IS NOT NULL AS "isDue", c.leased_until::text AS lease`,
      [limit, seconds],
    );
  }

  /**
   * Ends the lease.
   * @param position up to where people were told
   * @param pauseSeconds until it is read again; null: when there is something
   */
  async release(
    tx: Tx,
    { organizationId, isCollected, lease }: LeasedCursor,
    position: string,
    pauseSeconds: number | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE notice_cursors SET position = $4, due_at = now() + make_interval(secs => $5), leased_until = now()
       WHERE organization_id = $1 AND is_collected = $2 AND leased_until = $3::timestamptz`,
      [organizationId, isCollected, lease, position, pauseSeconds],
    );
  }

  /** Active people: the administrators, and those with these ids. */
  recipients(tx: Tx, organization: OrganizationId, userIds: readonly string[]): Promise<Recipient[]> {
    return rows<Recipient>(
      tx,
      `SELECT id, email, is_org_admin AS "isAdmin" FROM users
       WHERE organization_id = $1 AND is_active AND NOT is_service AND (is_org_admin OR id = ANY ($2::uuid[]))
       ORDER BY id`,
      [organization, userIds],
    );
  }
}
