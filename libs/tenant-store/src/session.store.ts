import type { EndedReason, OrganizationId, RemovalCause } from '#rules';
import {
  type GrantRow,
  type NewSession,
  type Requested,
  type SessionFilter,
  type SessionRow,
  type StopRequest,
  AddressTaken,
  TooManyLiveSessions,
} from './session-rows';
import { validKey } from './account.store';
import { sessionList } from './session-list';
import {
  ALL_UNCHANGED,
  INSERT_HOLDERS,
  PLANNED_RESOURCES,
  type WokenTargets,
  newHoldersJson,
  releasedIps,
} from '#engine-store/port';
import {
  type AuditEntry,
  type AuditTable,
  HOLDING,
  LIVE,
  ENDS_AT,
  MAY_EXPIRE,
  type PreparedStatement,
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  auditInsert,
  auditJson,
  auditTable,
  brokenConstraint,
  first,
  postgresErrorField,
  prepared,
  timedSlice,
  touches,
} from '#entities';

const IP_COLUMNS = `'id', ip.id, 'resourceId', ip.resource_id, 'resourceName', coalesce(r.name, ip.resource_name), 'endpoint', r.endpoint, 'ipVersion', ip.ip_version,
  'ipAddress', ip.ip_address, 'status', ip.status, 'providerRuleId', ip.provider_rule_id, 'appliedAt', ip.applied_at,
  'removedAt', ip.removed_at, 'errorMessage', ip.error_message, 'stillAllowedBy', ip.still_allowed_by,
  'isWrongFamily', ip.wrong_family, 'resource', CASE WHEN r.id IS NOT NULL THEN
    jsonb_build_object('provider', r.provider, 'resourceType', r.resource_type, 'config', r.config) END`;

/** SQL: null without a lease; never later than the session's planned end. */
const LEASE_END = 'CASE WHEN s.lease_until IS NOT NULL THEN least(s.expires_at, s.lease_until) END';

const COLUMNS = `s.id, s.user_id AS "userId", u.name AS "userName", u.email AS "userEmail", s.holder,
    s.ipv4_address AS "ipv4Address", s.ipv6_address AS "ipv6Address", s.status, s.started_at AS "startedAt",
    s.expires_at AS "expiresAt", ${LEASE_END} AS "leaseUntil", s.ended_at AS "endedAt", s.ended_reason AS "endedReason",
    s.created_at AS "createdAt"`;

const WITH_IPS = `${COLUMNS},
    to_jsonb(ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM resource_ips ip LEFT JOIN resources r ON r.id = ip.resource_id
      WHERE ip.session_id = s.id ORDER BY coalesce(r.name, ip.resource_name), ip.ip_version, ip.id)) AS "resourceIps"`;

const PAGE = `SELECT ${WITH_IPS}
  FROM page JOIN sessions s ON s.organization_id = $1 AND s.id = page.tie JOIN users u ON u.id = s.user_id`;

const FIND_SESSION: PreparedStatement = {
  name: 'find-session',
  text: `SELECT ${WITH_IPS} FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.organization_id = $1 AND s.id = $2`,
};

const GRANTS: PreparedStatement = {
  name: 'grants',
  text: `SELECT r.id AS "resourceId", r.name AS "resourceName", r.is_active AS "isActive", r.revision,
         r.provider, r.resource_type AS "resourceType", r.target_id AS "targetId", r.config,
         coalesce(jsonb_agg(jsonb_build_object('name', role.name,
           'maxSessionDurationHours', role.max_session_duration_hours)) FILTER (WHERE role.id IS NOT NULL), '[]') AS roles
       FROM resources r
       LEFT JOIN role_resources held ON held.resource_id = r.id
         AND held.role_id IN (SELECT role_id FROM role_users WHERE user_id = $2)
       LEFT JOIN roles role ON role.id = held.role_id
       WHERE r.organization_id = $1 AND r.deleted_at IS NULL
         AND (held.role_id IS NOT NULL OR r.id = ANY ($3::uuid[]) OR r.name = ANY ($4::text[]))
       GROUP BY r.id ORDER BY r.name, r.id`,
};

const STOP_CAUSES = {
  MANUAL: 'SESSION_STOPPED',
  ADMIN: 'SESSION_STOPPED_BY_ADMIN',
} as const satisfies Record<Exclude<EndedReason, 'EXPIRED'>, RemovalCause>;

export class SessionStore implements TenantStore<SessionStore> {
  /** The user's resources, and those of the requested ones that the user has no access to, with no roles. */
  grants(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    { resourceIds = [], resourceNames = [] }: Requested,
  ): Promise<GrantRow[]> {
    return prepared(tx, GRANTS, [organization, userId, resourceIds, resourceNames]);
  }

  /**
   * One statement, one commit: the session, its addresses, their desired rules, the audit record.
   * @returns null when something has changed since it was planned: a resource, a role, the user, the key, a suspension
   * @throws AddressTaken when a live session of the user holds one of the addresses: a constraint decides
   * @throws TooManyLiveSessions when the user has reached the limit: the user's lock serializes concurrent starts
   */
  async start(
    tx: Tx,
    organization: OrganizationId,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<SessionRow | null> {
    const { ips, rules } = newHoldersJson(session.holders);
    try {
      return await first<SessionRow>(tx, START_SESSION, [
        organization,
        session.id,
        session.userId,
        session.holder,
        session.ipv4Address,
        session.ipv6Address,
        session.hours,
        ips,
        rules,
        auditJson(audit),
        session.limits.perUser,
        session.limits.perServiceUser,
        session.leaseSeconds,
        session.replaced?.startedAt ?? null,
        session.replaced?.expiresAt ?? null,
        session.tokenHash,
        session.apiKeyId,
        audit.ipAddress,
      ]);
    } catch (error) {
      if (brokenConstraint(error)?.startsWith('sessions_one_live_per_')) throw new AddressTaken(session);
      if (brokenConstraint(error) === 'sessions_live_limit') {
        throw new TooManyLiveSessions(session, postgresErrorField(error, 'detail') === 'service user');
      }
      throw error;
    }
  }

  /** The live session that prevents a user from starting another with these addresses. */
  liveSession(
    tx: Tx,
    organization: OrganizationId,
    like: Pick<NewSession, 'userId' | 'holder' | 'ipv4Address' | 'ipv6Address'>,
  ): Promise<{ id: string } | null> {
    return first<{ id: string }>(
      tx,
      `SELECT id FROM sessions WHERE organization_id = $1 AND user_id = $2 AND holder = $3
       AND status IN (${LIVE}) AND (ipv4_address = $4 OR ipv6_address = $5) LIMIT 1`,
      [organization, like.userId, like.holder, like.ipv4Address, like.ipv6Address],
    );
  }

  find(tx: Tx, organization: OrganizationId, id: string): Promise<SessionRow | null> {
    return first<SessionRow>(tx, FIND_SESSION, [organization, id]);
  }

  /** Newest first. */
  list(
    tx: Tx,
    organization: OrganizationId,
    filter: SessionFilter,
    slice: Slice,
  ): Promise<Sliced<SessionRow>> {
    if (filter.statuses?.length === 0) return Promise.resolve({ rows: [], total: 0 });
    return timedSlice(tx, sessionList(organization, filter, PAGE), slice);
  }

  /**
   * Extends a live session that has not ended, if its total duration stays within the maximum and the user still has
   * access to each resource that it holds. The update and the sweep that expires sessions lock the same row, so they are
   * serialized.
   * @param tierHours the longest session of the organization's plan
   * @returns `refused` when a grant is missing or the maximum is exceeded
   */
  async extend(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    additionalHours: number,
    tierHours: number,
    audit: AuditEntry,
  ): Promise<'extended' | 'over' | 'refused'> {
    const [extended] = await tx.query<unknown[]>(
      `WITH extended AS (
         UPDATE sessions s SET expires_at = expires_at + make_interval(hours => $3)
         WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE}) AND ${ENDS_AT} > clock_timestamp()
           AND expires_at + make_interval(hours => $3) <= started_at + make_interval(hours => $4)
           AND NOT EXISTS (${UNGRANTED}) RETURNING id
       ), audit AS (${auditInsert('$1', '$5')} WHERE EXISTS (SELECT FROM extended)), ${PROLONG}
       SELECT id FROM extended`,
      [organization, id, additionalHours, tierHours, auditJson(audit)],
    );
    if (extended) return 'extended';
    const [live] = await tx.query<unknown[]>(
      `SELECT 1 FROM sessions WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE})
         AND ${ENDS_AT} > clock_timestamp()`,
      [organization, id],
    );
    return live ? 'refused' : 'over';
  }

  /**
   * Prolongs the lease of a live session, from now. The update and the sweep lock the same row and both check it again
   * after a wait, so that a session is either renewed or ended. Rules and their marks do not change.
   * @returns whether it was renewed: it is live, has a lease, belongs to the user and neither end has passed
   */
  renew(tx: Tx, organization: OrganizationId, id: string, userId: string): Promise<boolean> {
    return touches(tx, RENEW_SESSION, [organization, id, userId]);
  }

  /**
   * Remembers that a renewal came from an address that the session does not let in.
   * @returns `new` once per address, and never after 20; `start`: it was started from there, for another address
   */
  async heardFrom(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    address: string,
  ): Promise<'start' | 'known' | 'new'> {
    const found = await first<{ isStart: boolean | null; isNew: boolean }>(
      tx,
      `WITH added AS (
         UPDATE sessions SET heard_from = heard_from || $3::text
         WHERE organization_id = $1 AND id = $2 AND $3 <> ALL (heard_from) AND cardinality(heard_from) < 20 RETURNING id
       )
       SELECT heard_from[1] = $3 AS "isStart", EXISTS (SELECT FROM added) AS "isNew" FROM sessions
       WHERE organization_id = $1 AND id = $2`,
      [organization, id, address],
    );
    return found?.isStart ? 'start' : found?.isNew ? 'new' : 'known';
  }

  /**
   * One statement, one commit: ends a live session, releases its holders and records it.
   * @returns the targets to wake; null when it is not live, or not the user's
   */
  async stop(
    tx: Tx,
    organization: OrganizationId,
    { id, reason, userId, audit }: StopRequest,
  ): Promise<WokenTargets[] | null> {
    const [stopped] = await prepared<{ targets: WokenTargets[] }>(tx, STOP_SESSION[auditTable(tx)], [
      organization,
      id,
      userId,
      reason,
      STOP_CAUSES[reason],
      JSON.stringify(audit),
    ]);
    return stopped?.targets ?? null;
  }
}

/** SQL: the user's roles on a resource that allow a session with these times. */
const ALLOWING_ROLES = (userId: string, resourceId: string, startedAt: string, expiresAt: string): string =>
  `SELECT FROM role_resources held JOIN role_users mine ON mine.role_id = held.role_id
     JOIN roles role ON role.id = held.role_id
   WHERE held.resource_id = ${resourceId} AND mine.user_id = ${userId} AND (role.max_session_duration_hours IS NULL
     OR ${expiresAt} <= ${startedAt} + make_interval(hours => role.max_session_duration_hours))`;

/** SQL: what the session `s` holds and no role of its user allows for its total duration with `$3` more hours. */
const UNGRANTED = `SELECT FROM resource_ips ip
    LEFT JOIN resources r ON r.id = ip.resource_id AND r.is_active AND r.deleted_at IS NULL
    WHERE ip.session_id = s.id AND ip.status IN (${HOLDING}) AND NOT EXISTS (
      ${ALLOWING_ROLES('s.user_id', 'r.id', 's.started_at', 's.expires_at + make_interval(hours => $3)')})`;

/** CTE `prolonged`: an agent enforces the end of every rule by itself, so it must be told a later one. */
const PROLONG = `prolonged AS (
    UPDATE rules SET revision = revision + 1 WHERE id IN (
      SELECT holder.rule_id FROM extended JOIN resource_ips ip ON ip.session_id = extended.id
      JOIN resources r ON r.id = ip.resource_id JOIN rule_holders holder ON holder.resource_ip_id = ip.id
      WHERE r.provider = 'AGENT' AND ip.status IN (${HOLDING}))
  )`;

/**
 * SQL, for the user `u` and the CTEs `unchanged` and `times`: what the request was authorized and planned with still
 * holds. A change that was committed before the start prevents it; one after it comes too late for it.
 */
const STILL_GRANTED = `EXISTS (SELECT FROM organizations o WHERE o.id = $1 AND o.suspended_at IS NULL)
      AND ($17::uuid IS NULL OR EXISTS (${validKey('$1', '$17')}))
      AND NOT EXISTS (SELECT FROM unchanged r WHERE NOT r.is_active OR NOT EXISTS (
        ${ALLOWING_ROLES('u.id', 'r.id', 'times.started_at', 'times.expires_at')}))`;

/**
 * `limit_live_sessions` locks the user, which serializes the start with other starts and with a deactivation: one before
 * it prevents the start, one after it ends the session.
 */
const START_SESSION: PreparedStatement = {
  name: 'start-session',
  text: `WITH ${PLANNED_RESOURCES('$8')}, times AS (
    SELECT coalesce($14::timestamptz, now()) AS started_at,
      coalesce($15::timestamptz, now() + make_interval(hours => $7)) AS expires_at
  ), owner AS (
    INSERT INTO sessions (id, organization_id, user_id, holder, ipv4_address, ipv6_address, started_at, expires_at,
      lease_seconds, lease_until, token_hash, api_key_id, heard_from)
    SELECT $2::uuid, $1, u.id, $4, $5, $6, times.started_at, times.expires_at,
      $13::int, now() + make_interval(secs => $13::int), $16, $17::uuid, array_remove(ARRAY[$18::text], NULL)
    FROM users u, times
    WHERE u.organization_id = $1 AND u.id = $3 AND ${ALL_UNCHANGED} AND ${STILL_GRANTED}
      AND limit_live_sessions(u.id, $11, $12)
    RETURNING *
  ), ${INSERT_HOLDERS('$9')}, audit AS (${auditInsert('$1', '$10')} WHERE EXISTS (SELECT FROM owner))
  SELECT ${COLUMNS},
    to_jsonb(ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM ip JOIN resources r ON r.id = ip.resource_id
      ORDER BY r.name, ip.ip_version, ip.id)) AS "resourceIps"
  FROM owner s JOIN users u ON u.id = s.user_id`,
};

const RENEW_SESSION: PreparedStatement = {
  name: 'renew-session',
  text: `WITH renewed AS (
    UPDATE sessions SET lease_until = clock_timestamp() + make_interval(secs => lease_seconds)
    WHERE organization_id = $1 AND id = $2 AND user_id = $3 AND status IN (${LIVE})
      AND lease_until IS NOT NULL AND ${ENDS_AT} > clock_timestamp()
    RETURNING id
  ) SELECT id FROM renewed`,
};

/** The audit entry `$6` with what the ended session adds. */
const STOPPED_ENTRY = `(SELECT jsonb_agg($6::jsonb || jsonb_build_object('resourceId', s.id, 'resourceName', u.email,
    'details', jsonb_build_object('sessionId', s.id, 'userId', s.user_id, 'userEmail', u.email,
      'ipv4Address', s.ipv4_address, 'ipv6Address', s.ipv6_address, 'reason', $4::text)))
  FROM ended s JOIN users u ON u.id = s.user_id)`;

const stopSession = (name: string, table: AuditTable): PreparedStatement => ({
  name,
  text: `WITH ended AS (
    UPDATE sessions SET status = 'EXPIRING', ended_at = now(), ended_reason = $4
    WHERE organization_id = $1 AND id = $2 AND ($3::uuid IS NULL OR user_id = $3) AND status IN (${MAY_EXPIRE})
    RETURNING *
  ), audit AS (${auditInsert('$1', STOPPED_ENTRY, table)})
  SELECT ${releasedIps('$5', 'SELECT ip.id FROM resource_ips ip WHERE ip.session_id = s.id')} AS targets FROM ended s`,
});

const STOP_SESSION: Readonly<Record<AuditTable, PreparedStatement>> = {
  audit_records: stopSession('stop-session', 'audit_records'),
  unwritten_audit_records: stopSession('stop-session-unwritten', 'unwritten_audit_records'),
};
