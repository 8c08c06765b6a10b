import type { OrganizationId } from '#rules';
import type { Tx } from './database';
import { lockOwners } from './lock-owners';
import { DUE, HOLD, WANT, wantsJson, wokenTargets, type WantedRules, type WokenTargets } from './openings';
import { HOLDING, LEAVING, MAY_RELEASE, UNFINISHED } from './status-lists';
import type { TenantStore } from './tenant-store';

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
   * @returns the cloud objects to wake
   */
  async delete(tx: Tx, organization: OrganizationId, id: string): Promise<WokenTargets[]> {
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.organization_id = $1 AND ip.resource_id = $2 AND ip.static_ip_rule_id IS NOT NULL`,
      [organization, id],
    );
    const [deleted] = await tx.query<{ targets: WokenTargets[] }[]>(
      `WITH gone AS (
         UPDATE resources SET deleted_at = now(), is_active = false, revision = revision + 1
         WHERE organization_id = $1 AND id = $2 RETURNING id
       ), unassigned AS (
         DELETE FROM role_resources WHERE organization_id = $1 AND resource_id = $2
       ), forgotten AS (
         DELETE FROM resource_ips WHERE organization_id = $1 AND resource_id = $2
           AND static_ip_rule_id IS NOT NULL AND status = 'FAILED'
       ), released AS (
         UPDATE resource_ips SET status = 'REMOVING', released_at = now() WHERE organization_id = $1 AND resource_id = $2
           AND static_ip_rule_id IS NOT NULL AND status IN (${MAY_RELEASE}) RETURNING id, static_ip_rule_id
       ), ended AS (
         UPDATE static_ip_rules rule SET deleted_at = now()
         WHERE rule.organization_id = $1 AND rule.deleted_at IS NULL
           AND EXISTS (SELECT FROM resource_ips ip WHERE ip.static_ip_rule_id = rule.id AND ip.resource_id = $2)
           AND NOT EXISTS (SELECT FROM resource_ips ip WHERE ip.static_ip_rule_id = rule.id
             AND ip.resource_id <> $2 AND ip.status NOT IN (${LEAVING}))
       ), ${DUE}
       SELECT ${wokenTargets('SELECT target_id FROM due')} AS targets FROM gone`,
      [organization, id],
    );
    return deleted!.targets;
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
   * @returns the cloud objects to wake, the old and the new
   */
  async rehold(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    wants: readonly WantedRules[],
    again: boolean,
  ): Promise<WokenTargets[]> {
    const [moved] = await tx.query<{ targets: WokenTargets[] }[]>(
      `WITH ip AS (
         SELECT id FROM resource_ips WHERE organization_id = $1 AND resource_id = $2 AND status IN (${HOLDING})
       ), ${WANT('$3')}, held AS (
         SELECT h.resource_ip_id AS ip_id, h.rule_id, r.target_id, r.key
         FROM ip JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
       ), fresh AS (
         SELECT want.* FROM want LEFT JOIN held USING (ip_id, target_id, key) WHERE $4 OR held.rule_id IS NULL
       ), ${HOLD('fresh')}, dropped AS (
         DELETE FROM rule_holders h USING held LEFT JOIN want USING (ip_id, target_id, key)
         WHERE h.resource_ip_id = held.ip_id AND h.rule_id = held.rule_id AND want.ip_id IS NULL
         RETURNING h.rule_id
       ), due AS (
         UPDATE rules SET due_at = now(), revision = revision + 1, attempts = 0, closing = true
         WHERE id IN (SELECT rule_id FROM dropped) RETURNING target_id
       ), waiting AS (
         UPDATE resource_ips SET status = 'PENDING', pending_since = now(), applied_at = NULL,
           provider_rule_id = NULL, error_message = NULL
         WHERE id IN (SELECT ip_id FROM fresh)
       )
       SELECT ${wokenTargets('SELECT target_id FROM due UNION SELECT target_id FROM rule')} AS targets`,
      [organization, id, wantsJson(wants), again],
    );
    return moved!.targets;
  }
}
