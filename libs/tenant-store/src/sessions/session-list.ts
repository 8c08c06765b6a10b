import { type OrganizationId, SESSION_STATUSES } from '#rules';
import { type TimedList, beginOf, endOf } from '#entities';
import type { SessionFilter } from './session-rows';

const END = 'coalesce(s.ended_at, s.expires_at)';

/** SQL: the bounds of some sessions' beginning, and a condition for the sessions `s` among them. */
interface Span {
  readonly from: string;
  readonly until: string;
  readonly condition?: string;
}

/**
 * An organization's sessions. A session and its addresses have the same time: that of the transaction which created them.
 * @param rows SQL: the sessions `s` of the keys in `page`
 */
export function sessionList(organization: OrganizationId, filter: SessionFilter, rows: string): TimedList {
  const given: [OrganizationId, ...unknown[]] = [organization];
  const add = (value: unknown): string => `$${given.push(value)}`;
  // looked up beforehand: the index of a user's sessions does not contain the organization
  const owner = filter.userId
    ? `s.user_id = (SELECT id FROM users WHERE organization_id = $1 AND id = ${add(filter.userId)}::uuid)`
    : 's.organization_id = $1';
  const resource = filter.resourceId ? `${add(filter.resourceId)}::uuid` : null;
  const during: Span = {
    from: `${add(beginOf(filter))}::timestamptz`,
    until: `${add(endOf(filter))}::timestamptz`,
  };
  const others = [
    ...(filter.address === undefined ? [] : [`${add(filter.address)} IN (s.ipv4_address, s.ipv6_address)`]),
    ...(filter.endedReasons ? [`s.ended_reason = ANY (${add(filter.endedReasons)}::text[])`] : []),
    ...(filter.breakGlass === undefined ? [] : [`s.break_glass = ${add(filter.breakGlass)}`]),
  ];
  const spans = filter.from ? [during, reachingInto(during)] : [during];
  const statuses = SESSION_STATUSES.filter((status) => filter.statuses?.includes(status) ?? true);
  const keys = spans.flatMap((span) =>
    resource && span === during && !filter.userId && !filter.statuses && others.length === 0
      ? [keysOfResource(resource, span)]
      : statuses.map((status) =>
          keysOfSessions([owner, `s.status = ${add(status)}`, ...others], span, resource),
        ),
  );
  return { keys, rows, given };
}

/**
 * Sessions that began before the interval and reach into it. A session lasts at most 24 hours; those that could not be ended in
 * time have an index of their own.
 */
function reachingInto({ from, until }: Span): Span {
  const since = `least(${from} - interval '25 hours', (SELECT min(s.created_at) FROM sessions s
    WHERE s.organization_id = $1 AND ${END} - s.created_at > interval '25 hours' AND ${END} >= ${from}))`;
  return { from: since, until: `least(${from}, ${until})`, condition: `${END} >= ${from}` };
}

const began = (column: string, { from, until }: Span): string =>
  `${column} >= ${from} AND ${column} < ${until}`;

/** SQL: keys of sessions; with a resource, of those that have an address on it. Both indexes are in the order of the keys. */
function keysOfSessions(conditions: readonly string[], span: Span, resource: string | null): string {
  const all = [...conditions, began('s.created_at', span), ...(span.condition ? [span.condition] : [])];
  if (!resource) return `SELECT s.created_at AS at, s.id AS tie FROM sessions s WHERE ${all.join(' AND ')}`;
  return `SELECT DISTINCT s.created_at AS at, s.id AS tie
    FROM sessions s JOIN resource_ips ip ON ip.created_at = s.created_at AND ip.session_id = s.id
    WHERE ${[...all, ofResource(resource), began('ip.created_at', span)].join(' AND ')}`;
}

/** SQL: keys of the sessions with an address on the resource, without reading sessions. */
const keysOfResource = (resource: string, span: Span): string =>
  `SELECT DISTINCT ip.created_at AS at, ip.session_id AS tie FROM resource_ips ip
    WHERE ${ofResource(resource)} AND ip.session_id IS NOT NULL AND ${began('ip.created_at', span)}`;

/**
 * SQL: addresses on an organization's resource; a session may have two of them. The organization is looked up beforehand, as
 * the index does not contain it; in the order of the index: without it, a plan for any resource reads the whole table, in the
 * hope of a row among the first.
 */
const ofResource = (resource: string): string => `ip.resource_id = ${resource}
    AND (SELECT organization_id FROM resource_ips WHERE resource_id = ${resource} ORDER BY created_at LIMIT 1) = $1`;
