import { LEAVING, returned, type Tx } from '#entities';
import type { OrganizationId, SessionStatus } from '#rules';
import type { AffectedSession, AffectedStaticRule } from './settlement';

/** Sessions, static IP rules and resources affected by a settlement. */
export class SettlementOwnersStore {
  sessions(tx: Tx, ids: readonly string[]): Promise<AffectedSession[]> {
    return tx.query(
      `SELECT s.id, s.organization_id AS "organizationId", s.status, s.ended_reason AS "endedReason",
         coalesce(s.ended_reason = 'EXPIRED' AND s.lease_until < s.expires_at, false) AS "leaseLost",
         s.user_id AS "userId", u.email AS "userEmail",
         (SELECT min(ip.error_message) FROM resource_ips ip
          WHERE ip.session_id = s.id AND ip.status = 'FAILED') AS "errorMessage",
         ARRAY(SELECT ip.status FROM resource_ips ip WHERE ip.session_id = s.id) AS statuses,
         s.status NOT IN ('PENDING', 'EXPIRING') AND EXISTS (
           SELECT FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
           WHERE ip.session_id = s.id AND ip.status = 'PENDING' AND r.is_suspended) AS "isSuspended"
       FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = ANY ($1::uuid[]) ORDER BY s.id`,
      [ids],
    );
  }

  /** @returns the ids of the sessions moved; the status of the others has changed since it was read */
  async moveSessions(
    tx: Tx,
    moves: readonly { readonly id: string; readonly from: SessionStatus; readonly to: SessionStatus }[],
  ): Promise<string[]> {
    const moved = returned<{ id: string }>(
      await tx.query(
        `UPDATE sessions s SET status = m."to" FROM jsonb_to_recordset($1::jsonb) AS m(id uuid, "from" text, "to" text)
         WHERE s.id = m.id AND s.status = m."from" RETURNING s.id`,
        [JSON.stringify(moves)],
      ),
    );
    return moved.map(({ id }) => id);
  }

  staticRules(tx: Tx, ids: readonly string[]): Promise<AffectedStaticRule[]> {
    return tx.query(
      `SELECT id, organization_id AS "organizationId", label, ip_address AS "ipAddress",
         ARRAY(SELECT ip.status FROM resource_ips ip
           WHERE ip.static_ip_rule_id = r.id AND ip.status NOT IN (${LEAVING}) AND ip.released_at IS NULL) AS statuses
       FROM static_ip_rules r WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL`,
      [ids],
    );
  }

  /** Resources on the target whose organizations are notified of rules without holders. */
  writeVerifiedResources(
    tx: Tx,
    targetId: string,
  ): Promise<{ id: string; organizationId: OrganizationId; name: string }[]> {
    return tx.query(
      `SELECT id, organization_id AS "organizationId", name FROM resources
       WHERE target_id = $1 AND write_verified AND deleted_at IS NULL`,
      [targetId],
    );
  }
}
