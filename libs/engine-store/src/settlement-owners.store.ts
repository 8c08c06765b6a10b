import { LEAVING, rows, type Tx } from '#entities';
import { CAUSE_OF_OVERDUE, UNWANTED_SINCE } from './backlog.store';
import type { PlacedRule } from './rows';
import type {
  EndedReason,
  FamilyIp,
  OrganizationId,
  ResourceIpStatus,
  SessionStatus,
  TargetRule,
} from '#rules';

/** A session whose ResourceIps changed status. */
export interface AffectedSession {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly status: SessionStatus;
  readonly endedReason: EndedReason | null;
  /** its lease ended before the planned end */
  readonly leaseLost: boolean;
  readonly userId: string;
  readonly userEmail: string;
  /** of one of its failed ResourceIps */
  readonly errorMessage: string | null;
  readonly ips: FamilyIp[];
  /** one of its ResourceIps waits for a rule that is suspended, or that another program removed or changed */
  readonly isSuspended: boolean;
}

/** A static IP rule whose ResourceIps changed status. */
export interface AffectedStaticRule {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly label: string;
  readonly ipAddress: string;
  readonly statuses: ResourceIpStatus[];
}

/** An overdue rule, for one resource whose organization gets a record. */
export interface OverdueRule
  extends
    Omit<PlacedRule, 'provider' | 'resourceType'>,
    Pick<TargetRule, 'providerRuleId' | 'cause' | 'lastError'> {
  readonly ruleId: string;
  readonly unwantedSince: Date;
  readonly organizationId: OrganizationId;
  readonly resourceId: string;
  readonly resourceName: string | null;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly userId: string | null;
}

/** Sessions, static IP rules and resources affected by a settlement. */
export class SettlementOwnersStore {
  sessions(tx: Tx, ids: readonly string[]): Promise<AffectedSession[]> {
    return tx.query(
      `SELECT s.id, s.organization_id AS "organizationId", s.status, s.ended_reason AS "endedReason",
         coalesce(s.ended_reason = 'EXPIRED' AND s.lease_until < s.expires_at, false) AS "leaseLost",
         s.user_id AS "userId", u.email AS "userEmail",
         (SELECT ip.error_message FROM resource_ips ip WHERE ip.session_id = s.id AND ip.status = 'FAILED'
          ORDER BY ip.wrong_family, ip.error_message LIMIT 1) AS "errorMessage",
         ARRAY(SELECT jsonb_build_object('status', ip.status, 'ipVersion', ip.ip_version, 'isWrongFamily', ip.wrong_family)
           FROM resource_ips ip WHERE ip.session_id = s.id) AS ips,
         s.status NOT IN ('PENDING', 'EXPIRING') AND EXISTS (
           SELECT FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
           WHERE ip.session_id = s.id AND ip.status = 'PENDING' AND (r.is_suspended OR r.is_missing)) AS "isSuspended"
       FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = ANY ($1::uuid[]) ORDER BY s.id`,
      [ids],
    );
  }

  /** @returns the ids of the sessions moved; the status of the others has changed since it was read */
  async moveSessions(
    tx: Tx,
    moves: readonly { readonly id: string; readonly from: SessionStatus; readonly to: SessionStatus }[],
  ): Promise<string[]> {
    const moved = await rows<{ id: string }>(
      tx,
      `UPDATE sessions s SET status = m."to" FROM jsonb_to_recordset($1::jsonb) AS m(id uuid, "from" text, "to" text)
       WHERE s.id = m.id AND s.status = m."from" RETURNING s.id`,
      [JSON.stringify(moves)],
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

  /**
   * Overdue rules, each for the resources of its holders that have ended, or, without holders, for every write-verified resource on the
   * target.
   */
  overdue(tx: Tx, ruleIds: readonly string[]): Promise<OverdueRule[]> {
    return tx.query(
      `SELECT r.id AS "ruleId", t.identifier, r.address, r.protocol, r.ports, r.provider_rule_id AS "providerRuleId",
         ${CAUSE_OF_OVERDUE} AS cause, ${UNWANTED_SINCE} AS "unwantedSince", r.last_error AS "lastError", held.organization_id AS "organizationId",
         held.resource_id AS "resourceId", held.name AS "resourceName", held.session_id AS "sessionId",
         held.static_ip_rule_id AS "staticIpRuleId", held.user_id AS "userId"
       FROM rules r JOIN targets t ON t.id = r.target_id JOIN LATERAL (
         SELECT ip.organization_id, ip.resource_id, coalesce(res.name, ip.resource_name) AS name, ip.session_id,
           ip.static_ip_rule_id, s.user_id
         FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
         LEFT JOIN resources res ON res.id = ip.resource_id LEFT JOIN sessions s ON s.id = ip.session_id
         WHERE h.rule_id = r.id AND (h.released_at IS NOT NULL OR r.unwanted_since IS NULL)
         UNION ALL
         SELECT res.organization_id, res.id, res.name, NULL, NULL, NULL FROM resources res
         WHERE res.target_id = r.target_id AND res.write_verified AND res.deleted_at IS NULL
           AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id)
       ) held ON true
       WHERE r.id = ANY ($1::uuid[])`,
      [ruleIds],
    );
  }
}
