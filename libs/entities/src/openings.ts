import { randomUUID } from 'node:crypto';
import { portsText, ruleKey, type IpVersion, type Provider, type RuleSpec } from '#rules';
import { MAY_RELEASE } from './status-lists';

/** One address on one resource, and the cloud rules that takes. */
export interface NewOpening {
  readonly resourceId: string;
  /** the resource's when the opening was planned: changed since, the plan is void */
  readonly revision: number;
  readonly targetId: string;
  readonly ipVersion: IpVersion;
  readonly ipAddress: string;
  readonly specs: readonly RuleSpec[];
}

/** Cloud objects with something due, by provider: whom to wake. */
export interface WokenTargets {
  readonly provider: Provider;
  readonly targetIds: string[];
}

/** The cloud rules an existing ResourceIp wants. */
export interface WantedRules {
  readonly resourceIpId: string;
  readonly targetId: string;
  readonly specs: readonly RuleSpec[];
}

/** New openings as the parameters that `OPEN` reads: the ResourceIps, and the cloud rules they want. */
export function openingsJson(openings: readonly NewOpening[]): { ips: string; wants: string } {
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

/** Wanted cloud rules as the parameter that `WANT` reads. */
export const wantsJson = (wants: readonly WantedRules[]): string =>
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

/** CTE `want`: what the ResourceIps of the CTE `ip` want. @param wants parameter that holds `wantsJson()` */
export const WANT = (wants: string): string => `want AS (
    SELECT w.* FROM jsonb_to_recordset(${wants}::jsonb)
      AS w(ip_id uuid, target_id uuid, key text, address text, protocol text, ports text) JOIN ip ON ip.id = w.ip_id
  )`;

/** CTEs `rule` and `holder`: the cloud rules of `wanted` exist, are due, and are held by who wants them. */
export const HOLD = (wanted: string): string => `rule AS (
    INSERT INTO rules (target_id, key, address, protocol, ports, due_at)
    SELECT DISTINCT target_id, key, address, protocol, ports, now() FROM ${wanted} ORDER BY target_id, key
    ON CONFLICT (target_id, key) DO UPDATE
      SET due_at = excluded.due_at, revision = rules.revision + 1, attempts = 0, closing = false
    RETURNING id, target_id, key
  ), holder AS (
    INSERT INTO rule_holders (rule_id, resource_ip_id)
    SELECT rule.id, ${wanted}.ip_id FROM ${wanted} JOIN rule USING (target_id, key)
    ON CONFLICT DO NOTHING
  )`;

/** CTEs `ip`, `want`, `rule`, `holder`: opens the ResourceIps of `planned` for the row of the CTE `owner`. */
export const OPEN = (owner: 'session_id' | 'static_ip_rule_id', wants: string): string => `ip AS (
    INSERT INTO resource_ips
      (id, organization_id, ${owner}, resource_id, resource_name, ip_version, ip_address)
    SELECT p.id, owner.organization_id, owner.id, p.resource_id, place.name, p.ip_version, p.ip_address
    FROM owner, planned p JOIN place ON place.id = p.resource_id
    RETURNING *
  ), ${WANT(wants)}, ${HOLD('want')}`;

/**
 * CTEs `planned` and `place`: the resources that are still as the openings were planned for. One that is just being
 * moved or deleted is waited for.
 * @param ips parameter that holds `openingsJson().ips`
 */
export const PLACES = (ips: string): string => `planned AS (
    SELECT * FROM jsonb_to_recordset(${ips}::jsonb)
      AS i(id uuid, resource_id uuid, revision int, ip_version int, ip_address text)
  ), place AS (
    SELECT r.id, r.name FROM (SELECT DISTINCT resource_id, revision FROM planned) wanted
    CROSS JOIN LATERAL (
      SELECT id, name, revision, deleted_at FROM resources WHERE id = wanted.resource_id FOR KEY SHARE
    ) r
    WHERE r.revision = wanted.revision AND r.deleted_at IS NULL
  )`;

/** For `WHERE`: none of the planned resources has changed. */
export const ALL_IN_PLACE =
  '(SELECT count(*) FROM place) = (SELECT count(DISTINCT resource_id) FROM planned)';

/** CTE `due`: the cloud rules of the ResourceIps in the CTE `released` are to be looked at. */
export const DUE = `due AS (
    UPDATE rules SET due_at = now(), revision = revision + 1, attempts = 0, closing = true
    WHERE id IN (SELECT holder.rule_id FROM rule_holders holder JOIN released ON released.id = holder.resource_ip_id)
    RETURNING target_id
  )`;

/** An array of `WokenTargets`. @param targets a query for `target_id` */
export const wokenTargets = (targets: string): string => `ARRAY(
    SELECT jsonb_build_object('provider', t.provider, 'targetIds', jsonb_agg(t.id))
    FROM targets t WHERE t.id IN (${targets}) GROUP BY t.provider)`;

/** The steps after `ended` (sessions just moved to EXPIRING): their addresses let go, their rules are due. */
export const RELEASE = `released AS (
    UPDATE resource_ips ip SET status = 'REMOVING', released_at = now() FROM ended
    WHERE ip.session_id = ended.id AND ip.status IN (${MAY_RELEASE}) RETURNING ip.id
  ), ${DUE}`;
