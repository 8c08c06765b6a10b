import type { OrganizationId } from '#rules';
import { AuditStore, SYSTEM_ACTOR, type AuditEntry } from './audit.store';
import { returned, type Tx } from './database';

interface OverdueIp {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly ipAddress: string;
  readonly sessionId: string | null;
  readonly userId: string | null;
  readonly staticIpRuleId: string | null;
  readonly lastError: string | null;
}

/** Serves all organizations: the worker's look at what should be closed by now. */
export class OverdueStore {
  private readonly audit = new AuditStore();

  /**
   * Records of ResourceIps whose rules should have been out of the cloud for this long, each once.
   * @param seconds since the session ended, the static rule or the resource was deleted
   * @returns how many there were, `limit` at most
   */
  async recordOverdue(tx: Tx, seconds: number, limit: number): Promise<number> {
    const overdue = returned<OverdueIp>(
      await tx.query(
        `UPDATE resource_ips ip SET overdue_at = now()
         FROM (
           SELECT i.id, s.user_id, r.name FROM resource_ips i
           LEFT JOIN sessions s ON s.id = i.session_id
           LEFT JOIN static_ip_rules t ON t.id = i.static_ip_rule_id
           LEFT JOIN resources r ON r.id = i.resource_id
           WHERE i.id IN (SELECT h.resource_ip_id FROM rules due JOIN rule_holders h ON h.rule_id = due.id
               WHERE due.due_at IS NOT NULL)
             AND i.status = 'REMOVING' AND i.overdue_at IS NULL
             AND least(s.ended_at, t.deleted_at, r.deleted_at) < now() - make_interval(secs => $1)
           LIMIT $2 FOR UPDATE OF i SKIP LOCKED
         ) late
         WHERE ip.id = late.id
         RETURNING ip.id, ip.organization_id AS "organizationId", ip.resource_id AS "resourceId",
           coalesce(late.name, ip.resource_name) AS "resourceName", ip.ip_address AS "ipAddress",
           ip.session_id AS "sessionId", late.user_id AS "userId", ip.static_ip_rule_id AS "staticIpRuleId",
           (SELECT min(held.last_error) FROM rule_holders h JOIN rules held ON held.id = h.rule_id
            WHERE h.resource_ip_id = ip.id) AS "lastError"`,
        [seconds, limit],
      ),
    );
    for (const organization of new Set(overdue.map(({ organizationId }) => organizationId))) {
      const entries = overdue
        .filter(({ organizationId }) => organizationId === organization)
        .map((ip) => revocationOverdue(ip, seconds));
      await this.audit.write(tx, organization, ...entries);
    }
    return overdue.length;
  }
}

function revocationOverdue(ip: OverdueIp, seconds: number): AuditEntry {
  const { resourceId, resourceName, lastError, ipAddress, sessionId, userId, staticIpRuleId } = ip;
  return {
    ...SYSTEM_ACTOR,
    eventType: 'RULE_REVOCATION_OVERDUE',
    resourceType: 'RESOURCE',
    resourceId,
    resourceName,
    result: 'FAILURE',
    errorMessage:
      lastError ?? `The rule is still there after ${seconds} seconds; removing it is tried again and again`,
    details: { ipAddress, ...(sessionId ? { sessionId, userId } : { staticIpRuleId }) },
  };
}
