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
import { resourcesOf } from '../roles/granted-sql';
import { sessionList } from './session-list';
import {
  ALLOWING_ROLES,
  COLUMNS,
  IP_COLUMNS,
  START_ON_REQUEST,
  START_SESSION,
  startParameters,
} from './session-start';
import { type WokenTargets, isKnownTo, releasedIps, writeQueue } from '#engine-store/port';
import {
  type AuditEntry,
  type AuditTable,
  HOLDING,
  LIVE,
  ENDED_AT,
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
  execute,
  readTimedPage,
  touches,
} from '#entities';

const QUEUES = `CASE WHEN s.status = 'PENDING' THEN (SELECT jsonb_agg(${writeQueue('s.created_at')}) FROM (
      SELECT DISTINCT t.account_key, t.provider, t.resource_type
      FROM resource_ips ip JOIN resources r ON r.id = ip.resource_id JOIN targets t ON t.id = r.target_id
      WHERE ip.session_id = s.id AND ip.status = 'PENDING' AND t.account_key IS NOT NULL
        AND ${isKnownTo('s.organization_id', 't.id')}) t) END`;

const WITH_IPS = `${COLUMNS}, ${QUEUES} AS queues,
    to_jsonb(ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM resource_ips ip LEFT JOIN resources r ON r.id = ip.resource_id
      WHERE ip.session_id = s.id ORDER BY coalesce(r.name, ip.resource_name), ip.ip_version, ip.id)) AS "resourceIps"`;

const PAGE = `SELECT ${WITH_IPS}
  FROM page JOIN sessions s ON s.organization_id = $1 AND s.id = page.tie JOIN users u ON u.id = s.user_id`;

const FIND_SESSION: PreparedStatement = {
  name: 'find-session',
  text: `SELECT ${WITH_IPS} FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.organization_id = $1 AND s.id = $2`,
};

const APPROVER_ROLES = `ARRAY(SELECT jsonb_build_object('id', a.id, 'name', a.name) FROM roles a
    WHERE a.id = ANY (role.approver_role_ids) ORDER BY a.name)`;

const GRANTS: PreparedStatement = {
  name: 'grants',
  text: `SELECT r.id AS "resourceId", r.name AS "resourceName", r.is_active AS "isActive", r.revision,
         r.provider, r.resource_type AS "resourceType", r.target_id AS "targetId", r.config, r.account,
         coalesce(jsonb_agg(jsonb_build_object('name', role.name,
           'maxSessionDurationHours', role.max_session_duration_hours, 'requireReason', role.require_reason,
           'reasonPattern', role.reason_pattern, 'approvals', role.approvals, 'approverRoles', ${APPROVER_ROLES},
           'mayBreakGlass', role.may_break_glass, 'ipv6PrefixLength', role.ipv6_prefix_length)
           ORDER BY role.name) FILTER (WHERE role.id IS NOT NULL), '[]') AS roles
       FROM resources r
       LEFT JOIN (SELECT mine.role_id, reached.id AS resource_id FROM role_users mine
         CROSS JOIN LATERAL ${resourcesOf('mine.role_id')} reached WHERE mine.user_id = $2) held ON held.resource_id = r.id
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
    return execute(tx, GRANTS, [organization, userId, resourceIds, resourceNames]);
  }

  /**
   * One statement, one commit: the session, its addresses, their desired rules, the audit record.
   * @param others more records of it
   * @returns null when something has changed since it was planned: a resource, a role, the user, the key, a suspension, the
   *   request that it uses
   * @throws AddressTaken when a live session of the user holds one of the addresses: a constraint decides
   * @throws TooManyLiveSessions when the user has reached the limit: the user's lock serializes concurrent starts
   */
  async start(
    tx: Tx,
    organization: OrganizationId,
    session: NewSession,
    audit: AuditEntry,
    ...others: readonly AuditEntry[]
  ): Promise<SessionRow | null> {
    const statement = session.permission.accessRequestId === null ? START_SESSION : START_ON_REQUEST;
    try {
      return await first<SessionRow>(
        tx,
        statement,
        startParameters(organization, session, [audit, ...others]),
      );
    } catch (error) {
      if (brokenConstraint(error)?.startsWith('sessions_one_live_per_')) throw new AddressTaken(session);
      if (brokenConstraint(error) === 'sessions_live_limit') {
        throw new TooManyLiveSessions(session, postgresErrorField(error, 'detail') === 'service user');
      }
      throw error;
    }
  }

  /** The live session that prevents a user from starting another with these addresses. @param besides not this one */
  liveSession(
    tx: Tx,
    organization: OrganizationId,
    like: Pick<NewSession, 'userId' | 'holder' | 'ipv4Address' | 'ipv6Address'>,
    besides: string | null = null,
  ): Promise<{ id: string } | null> {
    return first(
      tx,
      `SELECT id FROM sessions WHERE organization_id = $1 AND user_id = $2 AND holder = $3
       AND status IN (${LIVE}) AND (ipv4_address = $4 OR ipv6_address = $5) AND id IS DISTINCT FROM $6::uuid LIMIT 1`,
      [organization, like.userId, like.holder, like.ipv4Address, like.ipv6Address, besides],
    );
  }

  find(tx: Tx, organization: OrganizationId, id: string): Promise<SessionRow | null> {
    return first(tx, FIND_SESSION, [organization, id]);
  }

  /** Newest first. */
  list(
    tx: Tx,
    organization: OrganizationId,
    filter: SessionFilter,
    slice: Slice,
  ): Promise<Sliced<SessionRow>> {
    if (filter.statuses?.length === 0) return Promise.resolve({ rows: [], total: 0 });
    return readTimedPage(tx, sessionList(organization, filter, PAGE), slice);
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
    { additionalHours, tierHours }: { readonly additionalHours: number; readonly tierHours: number },
    audit: AuditEntry,
  ): Promise<'extended' | 'over' | 'refused'> {
    const [extended] = await tx.query<unknown[]>(
      `WITH extended AS (
         UPDATE sessions s SET expires_at = expires_at + make_interval(hours => $3)
         WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE}) AND ${ENDS_AT} > clock_timestamp()
           AND NOT break_glass AND expires_at + make_interval(hours => $3) <= started_at + make_interval(hours => $4)
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
    const [stopped] = await execute<{ targets: WokenTargets[] }>(tx, STOP_SESSION[auditTable(tx)], [
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

/**
 * SQL: what the session `s` holds and no role of its user allows for its total duration with `$3` more hours. Approval is for
 * the hours that were asked for.
 */
const UNGRANTED = `SELECT FROM resource_ips ip
    LEFT JOIN resources r ON r.id = ip.resource_id AND r.is_active AND r.deleted_at IS NULL
    WHERE ip.session_id = s.id AND ip.status IN (${HOLDING}) AND NOT EXISTS (
      ${ALLOWING_ROLES('s.user_id', 'r.id', {
        startedAt: 's.started_at',
        expiresAt: 's.expires_at + make_interval(hours => $3)',
        asked: 'role.approvals = 0 AND (NOT role.require_reason OR s.reason IS NOT NULL)',
      })})`;

/** CTE `prolonged`: an agent enforces the end of every rule by itself, so it must get a later one. */
const PROLONG = `prolonged AS (
    UPDATE rules SET revision = revision + 1, due_at = CASE WHEN native_end_at IS NULL THEN due_at ELSE now() END WHERE id IN (
      SELECT holder.rule_id FROM extended JOIN resource_ips ip ON ip.session_id = extended.id
      JOIN resources r ON r.id = ip.resource_id JOIN rule_holders holder ON holder.resource_ip_id = ip.id
        JOIN rules rule ON rule.id = holder.rule_id
      WHERE (r.provider = 'AGENT' OR rule.native_end_at IS NOT NULL) AND ip.status IN (${HOLDING}))
  )`;

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
    UPDATE sessions SET status = 'EXPIRING', ended_at = ${ENDED_AT}, ended_reason = $4, ended_cause = $5
    WHERE organization_id = $1 AND id = $2 AND ($3::uuid IS NULL OR user_id = $3) AND status IN (${MAY_EXPIRE})
    RETURNING *
  ), audit AS (${auditInsert('$1', STOPPED_ENTRY, table)})
  SELECT ${releasedIps('$5', 'SELECT ip.id FROM resource_ips ip WHERE ip.session_id = s.id')} AS targets FROM ended s`,
});

const STOP_SESSION: Readonly<Record<AuditTable, PreparedStatement>> = {
  audit_records: stopSession('stop-session', 'audit_records'),
  unwritten_audit_records: stopSession('stop-session-unwritten', 'unwritten_audit_records'),
};

const UNSETTLED: PreparedStatement = {
  name: 'unsettled-sessions',
  text: `SELECT id FROM sessions WHERE id = ANY ($1::uuid[]) AND status IN ('PENDING', 'EXPIRING')`,
};

/**
 * Which of these sessions a worker has not settled yet. It serves all organizations with one query for all waiting
 * requests; each of them has been authorized to read its session before.
 */
export async function selectUnsettled(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await execute<{ id: string }>(tx, UNSETTLED, [ids]);
  return rows.map(({ id }) => id);
}
