import { randomUUID } from 'node:crypto';
import {
  portsText,
  ruleKey,
  type AdditionCause,
  type IpVersion,
  type Provider,
  type RemovalCause,
  type RuleSpec,
} from '#rules';
import { HOLDING, Trial, type Tx } from '#entities';

/** A new ResourceIp: one address on one resource, and the rules it holds. */
export interface NewResourceIp {
  readonly resourceId: string;
  /** of the resource at planning time; the plan is void if it has changed since */
  readonly revision: number;
  readonly targetId: string;
  readonly ipVersion: IpVersion;
  readonly ipAddress: string;
  readonly specs: readonly RuleSpec[];
}

/** Targets with due rules, by provider, to be woken. */
export interface WokenTargets {
  readonly provider: Provider;
  readonly targetIds: string[];
}

/** The desired rules of a ResourceIp. */
export interface DesiredRules {
  readonly resourceIpId: string;
  readonly targetId: string;
  readonly specs: readonly RuleSpec[];
}

/** The parameters of a start: the new ResourceIps, and their desired rules. */
export function newResourceIpsJson(newIps: readonly NewResourceIp[]): { ips: string; rules: string } {
  const ips = newIps.map((ip) => ({ id: randomUUID(), ...ip }));
  const rows = ips.map(({ id, resourceId, revision, ipVersion, ipAddress }) => ({
    id,
    resource_id: resourceId,
    revision,
    ip_version: ipVersion,
    ip_address: ipAddress,
  }));
  const desired = ips.map(({ id, targetId, specs }) => ({ resourceIpId: id, targetId, specs }));
  return { ips: JSON.stringify(rows), rules: desiredRulesJson(desired) };
}

/** The parameter of `desiredRules`. */
export const desiredRulesJson = (desired: readonly DesiredRules[]): string =>
  JSON.stringify(
    desired.flatMap(({ resourceIpId, targetId, specs }) =>
      specs.map((spec) => ({
        ip_id: resourceIpId,
        target_id: targetId,
        key: ruleKey(spec),
        address: spec.address,
        protocol: spec.protocol,
        ports: portsText(spec.ports),
      })),
    ),
  );

/**
 * CTE `desired`: the rules that the ResourceIps in the CTE `ip` desire (`id`, `organization_id`).
 * @param rules placeholder of `desiredRulesJson()`
 */
export const desiredRules = (rules: string): string => `desired AS (
    SELECT d.*, ip.organization_id FROM jsonb_to_recordset(${rules}::jsonb)
      AS d(ip_id uuid, target_id uuid, key text, address text, protocol text, ports text)
    JOIN ip ON ip.id = d.ip_id
  )`;

/**
 * Two CTEs: `rule` inserts desired rules or makes them due (`id`, `target_id`, `key`), and `holder` adds their holders.
 * @param cause why the rules are desired
 * @param desired name of the CTE of `desiredRules`, or of one with some of its rows
 */
export const hold = (cause: AdditionCause, desired = 'desired'): string => `rule AS (
    INSERT INTO rules (target_id, key, address, protocol, ports, due_at, accounted_to)
    SELECT DISTINCT ON (target_id, key) target_id, key, address, protocol, ports, now(), organization_id
    FROM ${desired} ORDER BY target_id, key
    ON CONFLICT (target_id, key) DO UPDATE
      SET due_at = excluded.due_at, revision = rules.revision + 1, attempts = 0, closing = false,
        accounted_to = excluded.accounted_to, cause = NULL, unwanted_since = NULL, overdue_at = NULL,
        is_suspended = false
    RETURNING id, target_id, key
  ), holder AS (
    INSERT INTO rule_holders (rule_id, resource_ip_id, cause)
    SELECT r.id, d.ip_id, '${cause}' FROM ${desired} d JOIN rule r USING (target_id, key)
    ON CONFLICT (rule_id, resource_ip_id) DO UPDATE
      SET cause = excluded.cause, released_at = NULL, release_cause = NULL
  )`;

/** CTE `ip`: inserts the planned ResourceIps of the session in the CTE `owner`. */
export const INSERT_RESOURCE_IPS = `ip AS (
    INSERT INTO resource_ips
      (id, organization_id, session_id, resource_id, resource_name, ip_version, ip_address)
    SELECT p.id, o.organization_id, o.id, p.resource_id, u.name, p.ip_version, p.ip_address
    FROM owner o, planned p JOIN unchanged u ON u.id = p.resource_id
    RETURNING *
  )`;

/**
 * Two CTEs: `planned` are ResourceIps, `unchanged` those of their resources whose revision is still the planned one. A
 * concurrent move or deletion of a resource is waited for.
 * @param ips placeholder of `newResourceIpsJson().ips`
 */
export const plannedResources = (ips: string): string => `planned AS (
    SELECT * FROM jsonb_to_recordset(${ips}::jsonb)
      AS i(id uuid, resource_id uuid, revision int, ip_version int, ip_address text)
  ), unchanged AS (
    SELECT r.id, r.name, r.is_active FROM (SELECT DISTINCT resource_id, revision FROM planned) p
    CROSS JOIN LATERAL (
      SELECT id, name, is_active, revision, deleted_at FROM resources WHERE id = p.resource_id FOR KEY SHARE
    ) r
    WHERE r.revision = p.revision AND r.deleted_at IS NULL
  )`;

/** For `WHERE`: none of the planned resources has changed. */
export const ALL_UNCHANGED =
  '(SELECT count(*) FROM unchanged) = (SELECT count(DISTINCT resource_id) FROM planned)';

/** An array of `WokenTargets`. @param targets a query for `target_id` */
export const wokenTargets = (targets: string): string => `ARRAY(
    SELECT jsonb_build_object('provider', t.provider, 'targetIds', jsonb_agg(t.id))
    FROM targets t WHERE t.id IN (${targets}) GROUP BY t.provider)`;

/** Notes the rules in a trial, which opens nothing. @returns whether this is one */
export function isOnlyTried(desired: readonly Pick<DesiredRules, 'targetId' | 'specs'>[]): boolean {
  const trial = Trial.current;
  if (!trial) return false;
  for (const { targetId, specs } of desired)
    for (const spec of specs) trial.desired.push({ targetId, key: ruleKey(spec) });
  return true;
}

/** Which holders to release. Callers have locked the owners in the transaction, and checked their organization. */
export type ReleaseSelector =
  /** of sessions that have just ended */
  | { readonly sessionIds: readonly string[] }
  /** of a static IP rule, on these resources */
  | { readonly staticIpRuleId: string; readonly resourceIds: readonly string[] }
  /** of static IP rules, on every resource */
  | { readonly staticIpRuleIds: readonly string[] }
  /** of every static IP rule on a resource */
  | { readonly staticEntriesOnResource: string };

/** The condition on `resource_ips ip` of a selector, with its parameters from $2 on. */
function selected(selector: ReleaseSelector): { where: string; given: unknown[] } {
  if ('sessionIds' in selector) {
    return { where: 'ip.session_id = ANY ($2::uuid[])', given: [selector.sessionIds] };
  }
  if ('staticIpRuleIds' in selector) {
    return { where: 'ip.static_ip_rule_id = ANY ($2::uuid[])', given: [selector.staticIpRuleIds] };
  }
  if ('staticIpRuleId' in selector) {
    return {
      where: 'ip.static_ip_rule_id = $2 AND ip.resource_id = ANY ($3::uuid[])',
      given: [selector.staticIpRuleId, selector.resourceIds],
    };
  }
  return {
    where: 'ip.resource_id = $2 AND ip.static_ip_rule_id IS NOT NULL',
    given: [selector.staticEntriesOnResource],
  };
}

/**
 * SQL: releases ResourceIps, which become REMOVING, and their holders; each rule that loses its last holder becomes
 * unwanted, for this cause. An array of `WokenTargets`. The function locks the rules before it reads their holders, so that
 * two last holders released concurrently see each other.
 * @param ips a query for the ids of ResourceIps; others than PENDING and APPLIED are not changed
 */
export const releasedIps = (cause: string, ips: string): string => `release_ips(${cause}, ARRAY(${ips}))`;

/** Releases holders with their ResourceIps, see `releasedIps`. @returns the targets to wake */
export async function release(
  tx: Tx,
  cause: RemovalCause,
  selector: ReleaseSelector,
): Promise<WokenTargets[]> {
  const { where, given } = selected(selector);
  if (Trial.current) {
    const holders = `SELECT h.rule_id, h.resource_ip_id FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id
      WHERE ${where} AND ip.status IN (${HOLDING}) AND h.released_at IS NULL`;
    return releaseClaims(tx, cause, holders, given);
  }
  const [released] = await tx.query<{ targets: WokenTargets[] }[]>(
    `SELECT ${releasedIps('$1', `SELECT ip.id FROM resource_ips ip WHERE ${where}`)} AS targets`,
    [cause, ...given],
  );
  return released!.targets;
}

/**
 * Releases single holders while their ResourceIps continue: on another target, or as FAILED.
 * @param holders a query for `rule_id` and `resource_ip_id`, whose parameters begin at $2
 * @returns the targets to wake
 */
export async function releaseClaims(
  tx: Tx,
  cause: RemovalCause,
  holders: string,
  given: readonly unknown[],
): Promise<WokenTargets[]> {
  const trial = Trial.current;
  if (trial) {
    const claims = await tx.query<(typeof trial.released)[number][]>(
      `SELECT rule_id AS "ruleId", resource_ip_id AS "resourceIpId", $1::text AS cause FROM (${holders}) claim`,
      [cause, ...given],
    );
    for (const claim of claims) trial.released.push(claim);
    return [];
  }
  const [released] = await tx.query<{ targets: WokenTargets[] }[]>(
    `SELECT release_claims($1, coalesce(array_agg(rule_id), '{}'), coalesce(array_agg(resource_ip_id), '{}')) AS targets
     FROM (${holders}) claim`,
    [cause, ...given],
  );
  return released!.targets;
}
