import { type OrganizationId, SESSION_STATUSES, type SessionStatus } from '#rules';
import { NO_LONGER_WRITTEN, type TimedList, UNFINISHED, isUnfinished, sqlList } from '#entities';
import type { SessionFilter } from './session-rows';

/** of a resource's sessions with a status or of a user: each one's row is read */
const STEP_WITH_LOOKUP = 25;

const END = 'coalesce(s.ended_at, s.expires_at)';

/** SQL: alternatives that together match these statuses. Each is read in order of time from an index. */
function statusConditions(statuses: readonly SessionStatus[]): string[] {
  const known = SESSION_STATUSES.filter((status) => statuses.includes(status));
  const unfinished = known.filter(isUnfinished);
  const groups = [unfinished, ...known.filter((status) => !isUnfinished(status)).map((status) => [status])];
  return groups.filter((group) => group.length > 0).map((group) => `s.status IN (${sqlList(group)})`);
}

/**
 * An organization's sessions. A session, its addresses and `started_at` have the same time: that of the transaction which
 * created them.
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
  const statuses = filter.statuses ? statusConditions(filter.statuses) : null;
  return {
    kind: 'sessions',
    ...(resource && (filter.userId || statuses) && { step: STEP_WITH_LOOKUP }),
    isPrepared: false,
    identity: ['sessions', filter.userId, filter.resourceId, statuses],
    keys: (from, until, condition) => {
      const conditions = condition ? [condition] : [];
      if (resource) {
        if (filter.userId) conditions.push(owner);
        if (statuses) conditions.push(`(${statuses.join(' OR ')})`);
        return [ofResource(resource, from, until, conditions)];
      }
      return (statuses ?? ['true']).map(
        (status) => `SELECT s.created_at AS at, s.id AS tie FROM sessions s
          WHERE ${[owner, status, ...conditions].join(' AND ')} AND s.created_at >= ${from} AND s.created_at < ${until}`,
      );
    },
    rows: () => rows,
    settled: statuses ? `least(${NO_LONGER_WRITTEN}, (${OLDEST_UNFINISHED}))` : NO_LONGER_WRITTEN,
    // a session lasts at most 24 hours; those that could not be ended in time have an index of their own
    reaching: (from) => ({
      since: `least(${from} - interval '25 hours', (SELECT min(s.created_at) FROM sessions s
        WHERE s.organization_id = $1 AND ${END} - s.created_at > interval '25 hours' AND ${END} >= ${from}))`,
      condition: `${END} >= ${from}`,
    }),
    given,
  };
}

const OLDEST_UNFINISHED = `SELECT min(s.created_at) FROM sessions s WHERE s.organization_id = $1 AND s.status IN (${UNFINISHED})`;

/**
 * SQL: keys of the sessions with an address on the resource, once each: it may have two.
 * @param conditions on the session; without any, it is not read
 */
function ofResource(resource: string, from: string, until: string, conditions: readonly string[]): string {
  const join = conditions.length > 0 ? 'JOIN sessions s ON s.id = ip.session_id' : '';
  // one organization's resource: looked up beforehand, as the index does not contain the organization. Ordered as the index:
  // without an order, a plan for any resource reads the whole table, in the hope of a row among the first
  return `SELECT DISTINCT ip.created_at AS at, ip.session_id AS tie FROM resource_ips ip ${join}
    WHERE (SELECT organization_id FROM resource_ips WHERE resource_id = ${resource} ORDER BY created_at LIMIT 1) = $1
      AND ip.resource_id = ${resource} AND ip.session_id IS NOT NULL
      AND ip.created_at >= ${from} AND ip.created_at < ${until}
      ${conditions.map((condition) => `AND ${condition}`).join(' ')}`;
}
