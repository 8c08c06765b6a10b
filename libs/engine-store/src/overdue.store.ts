import type { OrganizationId, RemovalCause } from '#rules';
import { AuditTrail, returned, SYSTEM_ACTOR, type AuditEntry, type Tx } from '#entities';

/** An overdue rule, for one resource whose organization gets a record. */
interface OverdueRule {
  readonly ruleId: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly providerRuleId: string | null;
  readonly cause: RemovalCause | null;
  readonly unwantedSince: Date;
  readonly lastError: string | null;
  readonly organizationId: OrganizationId | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly userId: string | null;
}

/** Overdue rules, with or without a holder. Serves all organizations. */
export class OverdueStore {
  private readonly audit = new AuditTrail();

  /**
   * Records rules that have been unwanted for this long and may still be present, each once: for the organizations of its
   * holders, or, without holders, for every organization with a write-verified resource on the target.
   * @returns the ids of the recorded rules, at most `limit`
   */
  async recordOverdue(tx: Tx, seconds: number, limit: number): Promise<string[]> {
    const rules = returned<{ id: string }>(
      await tx.query(
        `UPDATE rules SET overdue_at = now() WHERE id IN (
           SELECT id FROM rules
           WHERE overdue_at IS NULL AND unwanted_since < now() - make_interval(secs => $1) AND state <> 'absent'
           ORDER BY unwanted_since LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)
         RETURNING id`,
        [seconds, limit],
      ),
    );
    if (rules.length === 0) return [];
    const ids = rules.map(({ id }) => id);
    const overdue = await this.perResource(tx, ids);
    for (const organization of new Set(overdue.map(({ organizationId }) => organizationId))) {
      if (organization === null) continue;
      const entries = overdue
        .filter(({ organizationId }) => organizationId === organization)
        .map((rule) => revocationOverdue(rule, seconds));
      await this.audit.write(tx, organization, ...entries);
    }
    await this.reportOnResources(tx, overdue);
    return ids;
  }

  private perResource(tx: Tx, ruleIds: readonly string[]): Promise<OverdueRule[]> {
    return tx.query(
      `SELECT r.id AS "ruleId", r.address, r.protocol, r.ports, r.provider_rule_id AS "providerRuleId", r.cause,
         r.unwanted_since AS "unwantedSince", r.last_error AS "lastError", held.organization_id AS "organizationId",
         held.resource_id AS "resourceId", held.name AS "resourceName", held.session_id AS "sessionId",
         held.static_ip_rule_id AS "staticIpRuleId", held.user_id AS "userId"
       FROM rules r LEFT JOIN LATERAL (
         SELECT ip.organization_id, ip.resource_id, coalesce(res.name, ip.resource_name) AS name, ip.session_id,
           ip.static_ip_rule_id, s.user_id
         FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
         LEFT JOIN resources res ON res.id = ip.resource_id LEFT JOIN sessions s ON s.id = ip.session_id
         WHERE h.rule_id = r.id AND h.released_at IS NOT NULL
         UNION ALL
         SELECT res.organization_id, res.id, res.name, NULL, NULL, NULL FROM resources res
         WHERE res.target_id = r.target_id AND res.write_verified AND res.deleted_at IS NULL
           AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id)
       ) held ON true
       WHERE r.id = ANY ($1::uuid[])`,
      [ruleIds],
    );
  }

  private async reportOnResources(tx: Tx, overdue: readonly OverdueRule[]): Promise<void> {
    const events = overdue.map(({ organizationId, resourceId, address, lastError }) => ({
      organizationId,
      resourceId,
      message: `${hostOf(address)} is still open though it should be closed: ${lastError ?? 'the provider has not said why'}`,
    }));
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
       SELECT DISTINCT e."organizationId", e."resourceId", 'RECONCILE_FAILED', e.message
       FROM jsonb_to_recordset($1::jsonb) AS e("organizationId" uuid, "resourceId" uuid, message text)
       JOIN resources r ON r.id = e."resourceId"`,
      [JSON.stringify(events)],
    );
  }
}

/** A single address without its prefix length; a range unchanged. */
const hostOf = (address: string): string => address.replace(/\/(32|128)$/, '');

function revocationOverdue(rule: OverdueRule, seconds: number): AuditEntry {
  const { resourceId, resourceName, lastError, address, sessionId, userId, staticIpRuleId } = rule;
  return {
    ...SYSTEM_ACTOR,
    eventType: 'RULE_REVOCATION_OVERDUE',
    resourceType: 'RESOURCE',
    resourceId,
    resourceName,
    result: 'FAILURE',
    errorMessage: lastError ?? `The rule is still there after ${seconds} seconds; its removal is retried`,
    details: {
      ipAddress: hostOf(address),
      protocol: rule.protocol,
      ports: rule.ports,
      providerRuleId: rule.providerRuleId,
      cause: rule.cause,
      unwantedSince: rule.unwantedSince.toISOString(),
      ...(sessionId ? { sessionId, userId } : {}),
      ...(staticIpRuleId ? { staticIpRuleId } : {}),
    },
  };
}
