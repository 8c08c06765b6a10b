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
import { MAY_RELEASE, type Tx } from '#entities';

/** One address on one resource, and the rules that takes. */
export interface NewHolder {
  readonly resourceId: string;
  /** the resource's when the opening was planned: changed since, the plan is void */
  readonly revision: number;
  readonly targetId: string;
  readonly ipVersion: IpVersion;
  readonly ipAddress: string;
  readonly specs: readonly RuleSpec[];
}

/** Targets with something due, by provider: what to wake. */
export interface WokenTargets {
  readonly provider: Provider;
  readonly targetIds: string[];
}

/** The rules an existing ResourceIp wants. */
export interface DesiredRules {
  readonly resourceIpId: string;
  readonly targetId: string;
  readonly specs: readonly RuleSpec[];
}

/** New openings as the parameters that `OPEN` reads: the ResourceIps, and the rules they want. */
export function newHoldersJson(openings: readonly NewHolder[]): { ips: string; wants: string } {
  const ips = openings.map((opening) => ({ id: randomUUID(), ...opening }));
  const rows = ips.map(({ id, resourceId, revision, ipVersion, ipAddress }) => ({
    id,
    resource_id: resourceId,
    revision,
    ip_version: ipVersion,
    ip_address: ipAddress,
  }));
  const wants = ips.map(({ id, targetId, specs }) => ({ resourceIpId: id, targetId, specs }));
  return { ips: JSON.stringify(rows), wants: wantsJson(wants) };
}

/** Desired rules as the parameter that `WANT` reads. */
export const wantsJson = (wants: readonly DesiredRules[]): string =>
  JSON.stringify(
    wants.flatMap(({ resourceIpId, targetId, specs }) =>
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
 * CTE `want`: what the ResourceIps of the CTE `ip` (`id`, `organization_id`) want.
 * @param wants parameter that holds `wantsJson()`
 */
export const WANT = (wants: string): string => `want AS (
    SELECT w.*, ip.organization_id FROM jsonb_to_recordset(${wants}::jsonb)
      AS w(ip_id uuid, target_id uuid, key text, address text, protocol text, ports text) JOIN ip ON ip.id = w.ip_id
  )`;

/**
 * CTEs `rule` and `holder`: the rules of `desired` are desired, due, and held by the ResourceIps that want them.
 * @param cause why they are
 */
export const HOLD = (desired: string, cause: AdditionCause): string => `rule AS (
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
    SELECT rule.id, ${desired}.ip_id, '${cause}' FROM ${desired} JOIN rule USING (target_id, key)
    ON CONFLICT (rule_id, resource_ip_id) DO UPDATE
      SET cause = excluded.cause, released_at = NULL, release_cause = NULL
  )`;

/** CTEs `ip`, `want`, `rule`, `holder`: opens the ResourceIps of `planned` for the row of the CTE `owner`. */
export const OPEN = (wants: string): string => `ip AS (
    INSERT INTO resource_ips
      (id, organization_id, session_id, resource_id, resource_name, ip_version, ip_address)
    SELECT p.id, owner.organization_id, owner.id, p.resource_id, place.name, p.ip_version, p.ip_address
    FROM owner, planned p JOIN place ON place.id = p.resource_id
    RETURNING *
  ), ${WANT(wants)}, ${HOLD('want', 'SESSION_STARTED')}`;

/**
 * CTEs `planned` and `place`: the resources that are still as the openings were planned for. One that is just being
 * moved or deleted is waited for.
 * @param ips parameter that holds `newHoldersJson().ips`
 */
export const PLACES = (ips: string): string => `planned AS (
    SELECT * FROM jsonb_to_recordset(${ips}::jsonb)
      AS i(id uuid, resource_id uuid, revision int, ip_version int, ip_address text)
  ), place AS (
    SELECT r.id, r.name FROM (SELECT DISTINCT resource_id, revision FROM planned) desired
    CROSS JOIN LATERAL (
      SELECT id, name, revision, deleted_at FROM resources WHERE id = desired.resource_id FOR KEY SHARE
    ) r
    WHERE r.revision = desired.revision AND r.deleted_at IS NULL
  )`;

/** For `WHERE`: none of the planned resources has changed. */
export const ALL_IN_PLACE =
  '(SELECT count(*) FROM place) = (SELECT count(DISTINCT resource_id) FROM planned)';

/** An array of `WokenTargets`. @param targets a query for `target_id` */
export const wokenTargets = (targets: string): string => `ARRAY(
    SELECT jsonb_build_object('provider', t.provider, 'targetIds', jsonb_agg(t.id))
    FROM targets t WHERE t.id IN (${targets}) GROUP BY t.provider)`;

/** Whose holders are released. Callers have locked the owners, and checked whose they are, in the transaction. */
export type ReleaseSelector =
  /** sessions that were just ended */
  | { readonly sessionIds: readonly string[] }
  /** entries of a static IP rule */
  | { readonly staticIpRuleId: string; readonly resourceIds: readonly string[] }
  /** every static IP rule's entry on a resource */
  | { readonly staticEntriesOnResource: string };

/** The `resource_ips ip` of a selector, with the parameters from $2 on. */
function selected(selector: ReleaseSelector): { where: string; given: unknown[] } {
  if ('sessionIds' in selector) {
    return { where: 'ip.session_id = ANY ($2::uuid[])', given: [selector.sessionIds] };
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
 * CTE `due`: the rules of the CTE `gone` (`rule_id`, `organization_id`: holders released in this statement) are due. What
 * no other holder wants is unwanted from now on, for this cause. The rules are locked: two last holders that go at once
 * see each other.
 * @param cause parameter that holds it
 */
const DUE = (cause: string): string => `due AS (
    UPDATE rules r SET due_at = now(), revision = revision + 1, attempts = 0, closing = true,
      accounted_to = held.organization_id,
      unwanted_since = CASE WHEN held.kept THEN r.unwanted_since ELSE coalesce(r.unwanted_since, now()) END,
      cause = CASE WHEN held.kept THEN r.cause ELSE coalesce(r.cause, ${cause}) END
    FROM (
      SELECT DISTINCT ON (g.rule_id) g.rule_id, g.organization_id, EXISTS (
        SELECT FROM rule_holders other WHERE other.rule_id = g.rule_id AND other.released_at IS NULL
          AND NOT EXISTS (SELECT FROM gone WHERE gone.rule_id = g.rule_id AND gone.resource_ip_id = other.resource_ip_id)
      ) AS kept
      FROM gone g ORDER BY g.rule_id
    ) held
    WHERE r.id = held.rule_id RETURNING r.target_id
  )`;

/**
 * Releases holders: their ResourceIps are to be removed, and each rule that loses its last holder is unwanted from now on.
 * The one way by which a session, a static IP rule or a resource gives up its rules.
 * @returns the targets to wake
 */
export async function release(
  tx: Tx,
  cause: RemovalCause,
  selector: ReleaseSelector,
): Promise<WokenTargets[]> {
  const { where, given } = selected(selector);
  await tx.query(
    `SELECT 1 FROM rules WHERE id IN (
       SELECT h.rule_id FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id
       WHERE $1::text IS NOT NULL AND ${where}) ORDER BY id FOR NO KEY UPDATE`,
    [cause, ...given],
  );
  const [released] = await tx.query<{ targets: WokenTargets[] }[]>(
    `WITH released AS (
       UPDATE resource_ips ip SET status = 'REMOVING', released_at = now()
       WHERE ${where} AND ip.status IN (${MAY_RELEASE}) RETURNING ip.id, ip.organization_id
     ), gone AS (
       UPDATE rule_holders h SET released_at = now(), release_cause = $1 FROM released
       WHERE h.resource_ip_id = released.id AND h.released_at IS NULL
       RETURNING h.rule_id, h.resource_ip_id, released.organization_id
     ), ${DUE('$1')}
     SELECT ${wokenTargets('SELECT target_id FROM due')} AS targets`,
    [cause, ...given],
  );
  return released!.targets;
}

/**
 * Releases single claims while their ResourceIps go on: on another target, or as FAILED.
 * @param holders a query for `rule_id`, `resource_ip_id` and `organization_id`, whose parameters begin at $2
 * @returns the targets to wake
 */
export async function releaseClaims(
  tx: Tx,
  cause: RemovalCause,
  holders: string,
  given: readonly unknown[],
): Promise<WokenTargets[]> {
  await tx.query(
    `SELECT 1 FROM rules WHERE $1::text IS NOT NULL AND id IN (SELECT rule_id FROM (${holders}) claim)
     ORDER BY id FOR NO KEY UPDATE`,
    [cause, ...given],
  );
  const [released] = await tx.query<{ targets: WokenTargets[] }[]>(
    `WITH gone AS (
       UPDATE rule_holders h SET released_at = now(), release_cause = $1 FROM (${holders}) claim
       WHERE h.rule_id = claim.rule_id AND h.resource_ip_id = claim.resource_ip_id AND h.released_at IS NULL
       RETURNING h.rule_id, h.resource_ip_id, claim.organization_id
     ), ${DUE('$1')}
     SELECT ${wokenTargets('SELECT target_id FROM due')} AS targets`,
    [cause, ...given],
  );
  return released!.targets;
}
