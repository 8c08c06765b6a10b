import type { OrganizationId } from '#rules';
import {
  release,
  releaseClaims,
  hold,
  isOnlyTried,
  desiredRules,
  type DesiredRules,
  type WokenTargets,
  lockOwners,
  desiredRulesJson,
  wokenTargets,
} from '#engine-store/port';
import {
  ENDED_AT,
  HOLDING,
  LEAVING,
  MAY_EXPIRE,
  type TenantStore,
  Trial,
  type Tx,
  UNFINISHED,
  rows,
  type HealthEventType,
  type ResourceHealthEventEntity,
  type Slice,
  type Sliced,
  readPage,
} from '#entities';

export interface ResourceMove {
  /** credential or region changed: unchanged rules must be observed through the new access */
  readonly accessChanged: boolean;
  /** another target, or other ports and protocols */
  readonly cause: 'RESOURCE_MOVED' | 'CONFIG_CHANGED';
}

/** Rules and holders of a resource that is moved or deleted. Callers must have locked it with `ResourceStore.lock`. */
export class ResourceRulesStore implements TenantStore<ResourceRulesStore> {
  /** Whether no live or ending session uses it. */
  async isUnused(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    const used = await tx.query<unknown[]>(
      `SELECT 1 FROM resource_ips ip JOIN sessions s ON s.id = ip.session_id
       WHERE ip.organization_id = $1 AND ip.resource_id = $2 AND s.status IN (${UNFINISHED}) LIMIT 1`,
      [organization, id],
    );
    return used.length === 0;
  }

  /**
   * Deletes the resource from the API and from all roles, and releases its static IP rules' entries. A static IP rule
   * that has no other entry is deleted too.
   * @returns the targets to wake
   */
  async delete(tx: Tx, organization: OrganizationId, id: string): Promise<WokenTargets[]> {
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.organization_id = $1 AND ip.resource_id = $2 AND ip.static_ip_rule_id IS NOT NULL`,
      [organization, id],
    );
    const ended = await rows<{ id: string }>(
      tx,
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
           AND coalesce(rule.closed_on <@ ARRAY[$2::uuid], true)
         RETURNING rule.id
       ), gone AS (
         UPDATE resources SET deleted_at = now(), is_active = false, revision = revision + 1
         WHERE organization_id = $1 AND id = $2
       )
       SELECT id FROM ended`,
      [organization, id],
    );
    for (const rule of ended) Trial.current?.staticIpRuleIds.add(rule.id);
    return release(tx, 'RESOURCE_DELETED', { staticEntriesOnResource: id });
  }

  /**
   * Locks the ResourceIps of the resource that hold cloud rules. Owners are locked before rules, the same order as in
   * every other writer.
   */
  async lockHolders(
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
   * Replaces the rules that the ResourceIps of a moved resource hold. Rules they no longer hold become due; unless they
   * have other holders, they are revoked with the credential they were written with.
   * @param desired the rules of every ResourceIp that `lockHolders` returned
   * @returns the old and the new targets to wake
   */
  async updateHeldRules(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    desired: readonly DesiredRules[],
    { accessChanged, cause }: ResourceMove,
  ): Promise<WokenTargets[]> {
    const left = await releaseClaims(
      tx,
      cause,
      `SELECT h.rule_id, h.resource_ip_id
       FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
       WHERE ip.organization_id = $2 AND ip.resource_id = $3 AND ip.status IN (${HOLDING}) AND h.released_at IS NULL
         AND (ip.id, r.target_id, r.key) NOT IN (
           SELECT w.ip_id, w.target_id, w.key FROM jsonb_to_recordset($4::jsonb) AS w(ip_id uuid, target_id uuid, key text))`,
      [organization, id, desiredRulesJson(desired)],
    );
    if (isOnlyTried(desired)) return [];
    const [moved] = await tx.query<{ targets: WokenTargets[] }[]>(
      `WITH ip AS (
         SELECT id, organization_id FROM resource_ips
         WHERE organization_id = $1 AND resource_id = $2 AND status IN (${HOLDING})
       ), ${desiredRules('$3')}, fresh AS (
         SELECT desired.* FROM desired WHERE $4 OR NOT EXISTS (
           SELECT FROM rule_holders h JOIN rules r ON r.id = h.rule_id
           WHERE h.resource_ip_id = desired.ip_id AND h.released_at IS NULL
             AND r.target_id = desired.target_id AND r.key = desired.key)
       ), ${hold(cause, 'fresh')}, waiting AS (
         UPDATE resource_ips SET status = 'PENDING', pending_since = now(), applied_at = NULL,
           provider_rule_id = NULL, error_message = NULL
         WHERE id IN (SELECT ip_id FROM fresh)
       )
       SELECT ${wokenTargets('SELECT target_id FROM rule')} AS targets`,
      [organization, id, desiredRulesJson(desired), accessChanged],
    );
    return [...left, ...moved!.targets];
  }

  /**
   * Gives up the resource's target: ends its sessions, releases its static IP rules, and stops waiting for rules that
   * are not confirmed closed. A worker settles them.
   * @returns the rules that may still be there, and the targets to wake
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
    const ended = await rows<{ id: string }>(
      tx,
      `UPDATE sessions SET status = 'EXPIRING', ended_at = ${ENDED_AT}, ended_reason = 'ADMIN', ended_cause = 'ABANDONED'
       WHERE organization_id = $1 AND status IN (${MAY_EXPIRE}) AND id IN (SELECT ip.session_id FROM ${held})
       RETURNING id`,
      [organization, id],
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

/** A rule that may still be present. */
export interface AbandonedRule {
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly providerRuleId: string | null;
}

export interface HealthEventRow extends Readonly<Omit<ResourceHealthEventEntity, 'organizationId'>> {
  readonly resourceName: string;
}

const OF_RESOURCES = `FROM resource_health_events e
  JOIN resources r ON r.id = e.resource_id AND r.organization_id = e.organization_id AND r.deleted_at IS NULL
  WHERE e.organization_id = $1 AND ($2::uuid IS NULL OR e.resource_id = $2)
    AND ($3::text[] IS NULL OR e.event_type = ANY ($3))`;

/** Results of verifications and reconciliations. */
export class ResourceHealthStore implements TenantStore<ResourceHealthStore> {
  /** Newest first. @param resourceId null for all of the organization's resources */
  list(
    tx: Tx,
    organization: OrganizationId,
    resourceId: string | null,
    eventTypes: readonly HealthEventType[] | null,
    slice: Slice,
  ): Promise<Sliced<HealthEventRow>> {
    return readPage(
      tx,
      `SELECT e.id, e.resource_id AS "resourceId", r.name AS "resourceName", e.event_type AS "eventType", e.message,
         e.created_at AS "createdAt"
       ${OF_RESOURCES}`,
      'e.created_at DESC, e.id',
      [organization, resourceId, eventTypes],
      slice,
    );
  }
}
