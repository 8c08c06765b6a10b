import type { OrganizationId } from '#rules';
import {
  release,
  releaseClaims,
  HOLD,
  WANT,
  type DesiredRules,
  type WokenTargets,
  lockOwners,
  wantsJson,
  wokenTargets,
} from '#engine-store/port';
import { HOLDING, LEAVING, MAY_EXPIRE, type TenantStore, type Tx, UNFINISHED, returned } from '#entities';

/** The openings on a resource that moves or goes. Whoever calls has locked it (`ResourceStore.lock`) in the transaction. */
export class ResourceRulesStore implements TenantStore<ResourceRulesStore> {
  /** No session uses it that is live or still being taken out. */
  async isFree(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      `SELECT 1 FROM resource_ips ip JOIN sessions s ON s.id = ip.session_id
       WHERE ip.organization_id = $1 AND ip.resource_id = $2 AND s.status IN (${UNFINISHED}) LIMIT 1`,
      [organization, id],
    );
    return rows.length === 0;
  }

  /**
   * Takes the resource out of the API: out of all roles, and its static IP rules' entries out of the cloud. A
   * static IP rule whose last entry that was goes with it.
   * @returns the targets to wake
   */
  async delete(tx: Tx, organization: OrganizationId, id: string): Promise<WokenTargets[]> {
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.organization_id = $1 AND ip.resource_id = $2 AND ip.static_ip_rule_id IS NOT NULL`,
      [organization, id],
    );
    await tx.query(
      `WITH unassigned AS (
         DELETE FROM role_resources WHERE organization_id = $1 AND resource_id = $2
       ), forgotten AS (
         UPDATE resource_ips SET released_at = now() WHERE organization_id = $1 AND resource_id = $2
           AND static_ip_rule_id IS NOT NULL AND status = 'FAILED'
       ), ended AS (
         UPDATE static_ip_rules rule SET deleted_at = now()
         WHERE rule.organization_id = $1 AND rule.deleted_at IS NULL
           AND EXISTS (SELECT FROM resource_ips ip WHERE ip.static_ip_rule_id = rule.id AND ip.resource_id = $2)
           AND NOT EXISTS (SELECT FROM resource_ips ip WHERE ip.static_ip_rule_id = rule.id
             AND ip.resource_id <> $2 AND ip.status NOT IN (${LEAVING}) AND ip.released_at IS NULL)
       )
       UPDATE resources SET deleted_at = now(), is_active = false, revision = revision + 1
       WHERE organization_id = $1 AND id = $2`,
      [organization, id],
    );
    return release(tx, 'RESOURCE_DELETED', { staticEntriesOnResource: id });
  }

  /**
   * The ResourceIps of the resource that hold cloud rules. Their owners are locked too, before any rule, as every
   * other writer does.
   */
  async holding(
    tx: Tx,
    organization: OrganizationId,
    id: string,
  ): Promise<{ id: string; ipAddress: string }[]> {
    const holding = `resource_ips ip
       WHERE ip.organization_id = $1 AND ip.resource_id = $2 AND ip.status IN (${HOLDING})`;
    await lockOwners(tx, holding, [organization, id]);
    return tx.query(`SELECT ip.id, ip.ip_address AS "ipAddress" FROM ${holding}`, [organization, id]);
  }

  /**
   * Has the ResourceIps of a moved resource hold what they want now. Cloud rules they hold no longer become due, to be
   * revoked with the credential they were written with unless somebody else holds them.
   * @param wants of every ResourceIp that `holding` told
   * @param again the way into the cloud changed: what stays is to be seen through the new one
   * @param cause whether it names another target, or lets in other traffic
   * @returns the targets to wake, the old and the new
   */
  async rehold(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    wants: readonly DesiredRules[],
    again: boolean,
    cause: 'RESOURCE_MOVED' | 'CONFIG_CHANGED',
  ): Promise<WokenTargets[]> {
    const left = await releaseClaims(
      tx,
      cause,
      `SELECT h.rule_id, h.resource_ip_id, ip.organization_id
       FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
       WHERE ip.organization_id = $2 AND ip.resource_id = $3 AND ip.status IN (${HOLDING}) AND h.released_at IS NULL
         AND (ip.id, r.target_id, r.key) NOT IN (
           SELECT w.ip_id, w.target_id, w.key FROM jsonb_to_recordset($4::jsonb) AS w(ip_id uuid, target_id uuid, key text))`,
      [organization, id, wantsJson(wants)],
    );
    const [moved] = await tx.query<{ targets: WokenTargets[] }[]>(
      `WITH ip AS (
         SELECT id, organization_id FROM resource_ips
         WHERE organization_id = $1 AND resource_id = $2 AND status IN (${HOLDING})
       ), ${WANT('$3')}, fresh AS (
         SELECT want.* FROM want WHERE $4 OR NOT EXISTS (
           SELECT FROM rule_holders h JOIN rules r ON r.id = h.rule_id
           WHERE h.resource_ip_id = want.ip_id AND h.released_at IS NULL
             AND r.target_id = want.target_id AND r.key = want.key)
       ), ${HOLD('fresh', cause)}, waiting AS (
         UPDATE resource_ips SET status = 'PENDING', pending_since = now(), applied_at = NULL,
           provider_rule_id = NULL, error_message = NULL
         WHERE id IN (SELECT ip_id FROM fresh)
       )
       SELECT ${wokenTargets('SELECT target_id FROM rule')} AS targets`,
      [organization, id, wantsJson(wants), again],
    );
    return [...left, ...moved!.targets];
  }

  /**
   * Gives up the target that the resource names: its sessions end, its static IP rules leave it, and what is not known to be
   * closed by now will not be waited for. A worker settles that.
   * @returns the rules it had there, and the targets to wake
   */
  async abandon(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    reason: string,
  ): Promise<{ rules: AbandonedRule[]; targets: WokenTargets[] }> {
    const held = `resource_ips ip WHERE ip.organization_id = $1 AND ip.resource_id = $2
      AND ip.status IN (${HOLDING}, 'REMOVING')`;
    await lockOwners(tx, held, [organization, id]);
    const rules = await tx.query<AbandonedRule[]>(
      `SELECT DISTINCT r.address, r.protocol, r.ports, r.provider_rule_id AS "providerRuleId"
       FROM rules r JOIN rule_holders h ON h.rule_id = r.id
       WHERE h.resource_ip_id IN (SELECT ip.id FROM ${held}) AND r.state <> 'absent' ORDER BY r.address, r.ports`,
      [organization, id],
    );
    const ended = returned<{ id: string }>(
      await tx.query(
        `UPDATE sessions SET status = 'EXPIRING', ended_at = now(), ended_reason = 'ADMIN'
         WHERE organization_id = $1 AND status IN (${MAY_EXPIRE}) AND id IN (SELECT ip.session_id FROM ${held})
         RETURNING id`,
        [organization, id],
      ),
    );
    await tx.query(
      `UPDATE resources SET abandoned_at = now(), abandon_reason = $3, is_active = false, write_verified = false,
         suspended_by_check = false, updated_at = now() WHERE organization_id = $1 AND id = $2`,
      [organization, id, reason],
    );
    const targets = [
      ...(await release(tx, 'ABANDONED', { sessionIds: ended.map((session) => session.id) })),
      ...(await release(tx, 'ABANDONED', { staticEntriesOnResource: id })),
    ];
    const waiting = await tx.query<WokenTargets[]>(
      `WITH due AS (
         UPDATE rules SET due_at = now(), attempts = 0, revision = revision + 1 WHERE unwanted_since IS NOT NULL
           AND target_id = (SELECT target_id FROM resources WHERE id = $1) RETURNING target_id
       )
       SELECT t.provider, jsonb_agg(t.id) AS "targetIds" FROM targets t
       WHERE t.id IN (SELECT target_id FROM due) GROUP BY t.provider`,
      [id],
    );
    return { rules, targets: [...targets, ...waiting] };
  }
}

/** A rule of which is not known whether it is still present. */
export interface AbandonedRule {
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly providerRuleId: string | null;
}
