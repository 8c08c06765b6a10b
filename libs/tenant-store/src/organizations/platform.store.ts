import type { OrganizationId, PlatformRole, Tier } from '#rules';
import { LIVE, type Slice, type Sliced, type Tx, first, readPage, touches } from '#entities';

export const ORGANIZATION_STATUSES = ['ACTIVE', 'SUSPENDED', 'TERMINATING', 'DELETED'] as const;
/** TERMINATING: deleted, and something of it may still have to be ended. */
export type OrganizationStatus = (typeof ORGANIZATION_STATUSES)[number];

/** An organization as platform operators see it: counts, no tenant data. */
export interface PlatformOrganizationRow {
  readonly id: OrganizationId;
  readonly name: string;
  readonly slug: string;
  readonly subscriptionTier: Tier;
  readonly status: OrganizationStatus;
  readonly suspended: boolean;
  readonly suspendedAt: Date | null;
  readonly suspendedReason: string | null;
  readonly userCount: number;
  readonly resourceCount: number;
  readonly liveSessionCount: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface PlatformUserRow {
  readonly id: string;
  readonly email: string;
  readonly organizationId: OrganizationId;
  readonly organizationSlug: string;
  readonly platformRole: PlatformRole;
}

const SELECT = `SELECT o.id, o.name, o.slug, o.subscription_tier AS "subscriptionTier",
    CASE WHEN o.closed_at IS NOT NULL THEN 'DELETED' WHEN o.deleted_at IS NOT NULL THEN 'TERMINATING'
      WHEN o.suspended_at IS NOT NULL THEN 'SUSPENDED' ELSE 'ACTIVE' END AS status,
    o.suspended_at IS NOT NULL AS suspended, o.suspended_at AS "suspendedAt", o.suspended_reason AS "suspendedReason",
    (SELECT count(*)::int FROM users u WHERE u.organization_id = o.id AND u.deleted_at IS NULL) AS "userCount",
    (SELECT count(*)::int FROM resources r WHERE r.organization_id = o.id AND r.deleted_at IS NULL) AS "resourceCount",
    (SELECT count(*)::int FROM sessions s WHERE s.organization_id = o.id
      AND s.status IN (${LIVE})) AS "liveSessionCount",
    o.created_at AS "createdAt", o.updated_at AS "updatedAt"
  FROM organizations o`;

/** Serves all organizations. Only for callers with a verified platform role, and for the command that grants it. */
export class PlatformStore {
  /** Newest first. @param search a part of the name, the slug or a user's e-mail, in any case; null: all */
  list(tx: Tx, search: string | null, slice: Slice): Promise<Sliced<PlatformOrganizationRow>> {
    const where = `WHERE $1::text IS NULL OR strpos(lower(o.name), lower($1)) > 0 OR strpos(o.slug, lower($1)) > 0
      OR EXISTS (SELECT FROM users u WHERE u.organization_id = o.id AND u.deleted_at IS NULL
        AND strpos(u.email, lower($1)) > 0)`;
    return readPage(tx, `${SELECT} ${where}`, 'o.created_at DESC, o.id', [search], slice);
  }

  find(tx: Tx, id: string): Promise<PlatformOrganizationRow | null> {
    return first(tx, `${SELECT} WHERE o.id = $1`, [id]);
  }

  /** @returns false when there is no such organization, or it is already suspended */
  suspend(tx: Tx, id: string, reason: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE organizations SET suspended_at = now(), suspended_reason = $2, updated_at = now()
       WHERE id = $1 AND suspended_at IS NULL RETURNING id`,
      [id, reason],
    );
  }

  /** @returns false when there is no such organization, or it is not suspended, or deleted */
  reactivate(tx: Tx, id: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE organizations SET suspended_at = NULL, suspended_reason = NULL, updated_at = now()
       WHERE id = $1 AND suspended_at IS NOT NULL AND deleted_at IS NULL RETURNING id`,
      [id],
    );
  }

  /**
   * The active users with an e-mail, one per organization, locked until the commit.
   * @param organizationSlug null: in any organization
   */
  usersByEmail(tx: Tx, email: string, organizationSlug: string | null): Promise<PlatformUserRow[]> {
    return tx.query(
      `SELECT u.id, u.email, u.organization_id AS "organizationId", o.slug AS "organizationSlug",
         u.platform_role AS "platformRole"
       FROM users u JOIN organizations o ON o.id = u.organization_id
       WHERE u.email = $1 AND ($2::text IS NULL OR o.slug = $2) AND u.is_active AND NOT u.is_service
       ORDER BY o.slug FOR NO KEY UPDATE OF u`,
      [email, organizationSlug],
    );
  }

  async setPlatformRole(tx: Tx, userId: string, role: PlatformRole): Promise<void> {
    await tx.query('UPDATE users SET platform_role = $2, updated_at = now() WHERE id = $1', [userId, role]);
  }
}
