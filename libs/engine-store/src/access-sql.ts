import { INTERVAL_ENDS } from '#rules';
import { sqlList } from '#entities';
import { byKey } from './by-key';

/** Limit of paging and counting events, and of the items of a report. */
export const MAX_LEDGER_ITEMS = 10_000;

/** One more than the limit, to detect that it is exceeded. */
const MAX_READ = MAX_LEDGER_ITEMS + 1;

/** Intervals up to this length are found by their end; longer ones have their own index. */
export const LONG_HOURS = 48;

/** Longer than any provider lets an address in whose rule is gone. */
const LATEST_EFFECT = '15 minutes';

const ENDS = `e.kind IN (${sqlList(INTERVAL_ENDS)})`;

/** Must match the predicate of the partial indexes literally. */
const LONG = `${ENDS}
    AND (e.possible_from IS NULL OR e.possible_until IS NULL OR e.at - e.possible_from > interval '${LONG_HOURS} hours')`;

/** Responses have ms resolution: rounding must not extend a certain interval or shorten a possible one. */
const roundedUp = (time: string): string =>
  `date_trunc('milliseconds', ${time} + interval '999 microseconds')`;

/** The end of a certain interval. One that is shorter than a millisecond stays: a rule that was observed once so far. */
const lastCertain = (certainFrom: string, certainUntil: string): string =>
  `CASE WHEN ${certainUntil} >= ${certainFrom} THEN greatest(${certainUntil}, ${roundedUp(certainFrom)}) END`;

const times = (
  possibleFrom: string,
  certainFrom: string,
  certainUntil: string,
  possibleUntil: string,
): string =>
  `${possibleFrom} AS "possibleFrom", ${roundedUp(certainFrom)} AS "certainFrom",
    ${lastCertain(certainFrom, certainUntil)} AS "certainUntil", ${roundedUp(possibleUntil)} AS "possibleUntil"`;

/** Placeholders of the requested window. */
export interface WindowSql {
  readonly from: string;
  readonly to: string;
  /** `to` plus `LONG_HOURS`: the latest end of a short interval that began in the window */
  readonly shortEnd: string;
}

/**
 * Ended intervals that possibly overlap the window. Short ones are read by their end, until `shortEnd`; the few long ones are
 * read through their own index.
 * @param condition on `rule_events e`
 * @param organization placeholder; rows of another organization show only that there was a holder
 */
export function closedIntervals(
  condition: string,
  organization: string,
  { from, to, shortEnd }: WindowSql,
): string {
  const own = (column: string): string => `CASE WHEN e.organization_id = ${organization} THEN ${column} END`;
  const columns = `e.target_id AS "targetId", e.provider, e.target AS identifier, e.address,
    e.protocol, e.ports,
    CASE WHEN e.organization_id <> ${organization} THEN 'OTHER' ELSE e.holder_kind END AS "holderKind",
    ${own('e.resource_id')} AS "resourceId", ${own('e.resource_name')} AS "resourceName",
    ${own('coalesce(e.session_id, e.static_ip_rule_id)')} AS "holderId", ${own('e.user_email')} AS "userEmail",
    CASE WHEN e.organization_id <> ${organization} THEN NULL ELSE e.cause END AS cause,
    ${times('e.possible_from', 'e.certain_from', 'e.certain_until', 'e.possible_until')}`;
  const begun = `(e.possible_from IS NULL OR e.possible_from <= ${to})`;
  return `(SELECT ${columns} FROM rule_events e
      WHERE ${condition} AND ${ENDS} AND e.at >= ${from}::timestamptz - interval '${LATEST_EFFECT}' AND e.at <= ${shortEnd}
        AND e.possible_until >= ${from} AND ${begun} LIMIT ${MAX_READ})
    UNION ALL
    (SELECT ${columns} FROM rule_events e
      WHERE ${condition} AND ${LONG} AND (e.at > ${shortEnd} OR e.possible_until IS NULL)
        AND (e.possible_until IS NULL OR e.possible_until >= ${from}) AND ${begun} LIMIT ${MAX_READ})`;
}

/** Last observation of a live rule, by a pass or by a comparison of its target. */
export const LAST_OBSERVED = `least(
    greatest(r.present_since, r.observed_at, CASE WHEN t.compared_at >= r.present_since THEN t.compared_at END),
    r.removal_sent_at)`;

/**
 * Live access of the organization's holders, including released ones that are not removed yet. A holder's access begins no
 * earlier than the holder.
 * @param condition on `resource_ips ip`, `rules r` or `sessions s`
 */
export function liveHolders(condition: string, organization: string, { to }: WindowSql): string {
  return `SELECT r.target_id AS "targetId", t.provider, t.identifier, r.address, r.protocol, r.ports,
      CASE WHEN ip.session_id IS NULL THEN 'STATIC_RULE' ELSE 'SESSION' END AS "holderKind",
      ip.resource_id AS "resourceId", coalesce(named.name, ip.resource_name) AS "resourceName",
      coalesce(ip.session_id, ip.static_ip_rule_id) AS "holderId", u.email AS "userEmail",
      coalesce(h.release_cause, h.cause) AS cause,
      ${times(
        'greatest(r.possible_since, ip.created_at)',
        'CASE WHEN r.present_since IS NOT NULL THEN greatest(r.present_since, ip.created_at) END',
        `CASE WHEN r.present_since IS NOT NULL THEN ${LAST_OBSERVED} END`,
        'NULL::timestamptz',
      )}
    FROM resource_ips ip
    JOIN rule_holders h ON h.resource_ip_id = ip.id
    CROSS JOIN LATERAL ${byKey('rules', 'h.rule_id')} r
    JOIN targets t ON t.id = r.target_id
    LEFT JOIN sessions s ON s.id = ip.session_id
    LEFT JOIN users u ON u.id = s.user_id
    LEFT JOIN resources named ON named.id = ip.resource_id
    WHERE ip.organization_id = ${organization} AND ip.status IN ('PENDING', 'APPLIED', 'REMOVING')
      AND ${condition} AND r.state <> 'absent' AND greatest(r.possible_since, ip.created_at) <= ${to}
    LIMIT ${MAX_READ}`;
}

/** Live rules on targets without a holder of the organization. @param condition on `rules r` */
export function liveWithoutHolder(condition: string, organization: string, { to }: WindowSql): string {
  return `SELECT r.target_id AS "targetId", t.provider, t.identifier, r.address, r.protocol, r.ports,
      CASE WHEN holders.any THEN 'OTHER' ELSE 'ORPHAN' END AS "holderKind",
      NULL::uuid AS "resourceId", NULL AS "resourceName", NULL::uuid AS "holderId", NULL AS "userEmail",
      CASE WHEN NOT holders.any THEN r.cause END AS cause,
      ${times(
        'r.possible_since',
        'r.present_since',
        `CASE WHEN r.present_since IS NOT NULL THEN ${LAST_OBSERVED} END`,
        'NULL::timestamptz',
      )}
    FROM rules r JOIN targets t ON t.id = r.target_id
    CROSS JOIN LATERAL (
      SELECT count(*) > 0 AS any, coalesce(bool_or(ip.organization_id = ${organization}), false) AS own
      FROM rule_holders h CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
      WHERE h.rule_id = r.id
    ) holders
    WHERE ${condition} AND r.state <> 'absent' AND NOT holders.own
      AND (r.possible_since IS NULL OR r.possible_since <= ${to})
    LIMIT ${MAX_READ}`;
}

/** Unmanaged rules observed by the last comparison of their target. @param condition on `unmanaged_rules n` */
export function liveUnmanaged(condition: string, { to }: WindowSql): string {
  return `SELECT n.target_id AS "targetId", t.provider, t.identifier,
      split_part(n.key, ' ', 1) AS address, split_part(n.key, ' ', 2) AS protocol, split_part(n.key, ' ', 3) AS ports,
      'UNMANAGED' AS "holderKind",
      NULL::uuid AS "resourceId", NULL AS "resourceName", NULL::uuid AS "holderId", NULL AS "userEmail", NULL AS cause,
      ${times('n.possible_since', 'n.present_since', 'greatest(n.present_since, t.compared_at)', 'NULL::timestamptz')}
    FROM unmanaged_rules n JOIN targets t ON t.id = n.target_id
    WHERE ${condition} AND (n.possible_since IS NULL OR n.possible_since <= ${to})
    LIMIT ${MAX_READ}`;
}
