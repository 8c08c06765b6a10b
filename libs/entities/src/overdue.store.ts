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
   * @param seconds since they were let go
   * @returns how many there were, `limit` at most
   */
  async recordOverdue(tx: Tx, seconds: number, limit: number): Promise<number> {
    const overdue = returned<OverdueIp>(
      await tx.query(
        `UPDATE resource_ips ip SET overdue_at = now()
         FROM (
           SELECT i.id, s.user_id, r.name FROM resource_ips i
           LEFT JOIN sessions s ON s.id = i.session_id
           LEFT JOIN resources r ON r.id = i.resource_id
           WHERE i.status = 'REMOVING' AND i.overdue_at IS NULL
             AND i.released_at < now() - make_interval(secs => $1)
           ORDER BY i.released_at LIMIT $2 FOR UPDATE OF i SKIP LOCKED
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
    await this.tellResources(tx, overdue);
    return overdue.length;
  }

  private async tellResources(tx: Tx, overdue: readonly OverdueIp[]): Promise<void> {
    const events = overdue.map(({ organizationId, resourceId, ipAddress, lastError }) => ({
      organizationId,
      resourceId,
      message: `${ipAddress} is still open though it should be closed: ${lastError ?? 'the cloud has not said why'}`,
    }));
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
       SELECT e."organizationId", e."resourceId", 'RECONCILE_FAILED', e.message
       FROM jsonb_to_recordset($1::jsonb) AS e("organizationId" uuid, "resourceId" uuid, message text)
       JOIN resources r ON r.id = e."resourceId"`,
      [JSON.stringify(events)],
    );
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
