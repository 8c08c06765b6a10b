import type { OrganizationId } from '#rules';
import {
  ALL_UNCHANGED,
  desiredRules,
  hold,
  INSERT_RESOURCE_IPS,
  newResourceIpsJson,
  plannedResources,
} from '#engine-store/port';
import { type AuditEntry, type PreparedStatement, auditInsert, auditJson } from '#entities';
import { validKey } from '../accounts/account.store';
import { reaches } from '../roles/granted-sql';
import type { NewSession } from './session-rows';

/** A second factor that was given longer ago does not start a session without approval. */
export const STEP_UP_MINUTES = 5;

export const IP_COLUMNS = `'id', ip.id, 'resourceId', ip.resource_id, 'resourceName', coalesce(r.name, ip.resource_name), 'endpoint', r.endpoint, 'ipVersion', ip.ip_version,
  'ipAddress', ip.ip_address, 'status', ip.status, 'providerRuleId', ip.provider_rule_id, 'appliedAt', ip.applied_at,
  'removedAt', ip.removed_at, 'errorMessage', ip.error_message, 'stillAllowedBy', ip.still_allowed_by,
  'isWrongFamily', ip.wrong_family, 'resource', CASE WHEN r.id IS NOT NULL THEN
    jsonb_build_object('provider', r.provider, 'resourceType', r.resource_type, 'config', r.config) END`;

/** SQL: null without a lease; never later than the session's planned end. */
const LEASE_END = 'CASE WHEN s.lease_until IS NOT NULL THEN least(s.expires_at, s.lease_until) END';

export const COLUMNS = `s.id, s.user_id AS "userId", u.name AS "userName", u.email AS "userEmail", s.holder,
    s.ipv4_address AS "ipv4Address", s.ipv6_address AS "ipv6Address", s.status, s.started_at AS "startedAt",
    s.expires_at AS "expiresAt", ${LEASE_END} AS "leaseUntil", s.ended_at AS "endedAt", s.ended_reason AS "endedReason",
    s.ended_cause AS "endedCause", s.reason, s.ticket, s.access_request_id AS "accessRequestId", s.break_glass AS "breakGlass",
    ARRAY(SELECT a.email FROM users a WHERE a.id = ANY (s.approver_ids) ORDER BY a.email) AS approvers,
    s.created_at AS "createdAt"`;

/**
 * SQL: the user's roles on a resource that allow a session with these times.
 * @param asked condition on `role`: what else it asks for is there
 */
export const ALLOWING_ROLES = (
  userId: string,
  resourceId: string,
  { startedAt, expiresAt, asked }: { startedAt: string; expiresAt: string; asked: string },
): string =>
  `SELECT FROM role_users mine JOIN roles role ON role.id = mine.role_id
   WHERE mine.user_id = ${userId} AND ${reaches('role.id', resourceId)} AND (role.max_session_duration_hours IS NULL
     OR ${expiresAt} <= ${startedAt} + make_interval(hours => role.max_session_duration_hours)) AND ${asked}`;

/** SQL: whether a sign-in of the user has proven its second factor a short time ago. */
export const isSteppedUp = (userId: string, signInId: string): string =>
  `EXISTS (SELECT FROM refresh_tokens t WHERE t.family_id = ${signInId} AND t.user_id = ${userId}
    AND t.revoked_at IS NULL AND t.stepped_up_at > now() - interval '${STEP_UP_MINUTES} minutes')`;

/** SQL: whether the request `a` covers a session of `$5` and `$6` on `resources`, for `hours` at most. */
export const covers = (resources: string, isShortEnough: string): string =>
  `${resources} <@ a.resource_ids AND ${isShortEnough}
    AND ($5::text IS NULL OR a.ipv4_address = $5) AND ($6::text IS NULL OR a.ipv6_address = $6)`;

/** SQL: whether a request was decided by so many, and by members of these roles alone. */
export const isEnough = (request: string, approvals: string, roleIds: string): string =>
  `${request}.approvals_needed >= ${approvals} AND ${request}.approver_role_ids <@ ${roleIds}
    AND (${request}.approver_role_ids = '{}') = (${roleIds} = '{}')`;

/**
 * CTE `request`: the approved request `$22`, locked, if it may be used for this session. The user is locked first, as a
 * deactivation does, which ends the user's requests.
 */
const USABLE_REQUEST = `request AS (
    SELECT usable.* FROM (
      SELECT id FROM users WHERE organization_id = $1 AND id = $3 AND $22::uuid IS NOT NULL AND $23::uuid IS NULL
      FOR NO KEY UPDATE
    ) requester CROSS JOIN LATERAL (
      SELECT a.approvals_needed, a.approver_role_ids FROM access_requests a, times
      WHERE a.organization_id = $1 AND a.id = $22::uuid AND a.requester_id = requester.id AND a.status = 'APPROVED'
        AND a.due_at > clock_timestamp() AND ${covers(
          'ARRAY(SELECT resource_id FROM planned)',
          'times.expires_at <= times.started_at + make_interval(hours => a.duration_hours)',
        )}
      FOR UPDATE OF a
    ) usable
  )`;

/** SQL: whether the request was decided by as many, and by those, that the role asks for now. */
const IS_APPROVED = `EXISTS (SELECT FROM request WHERE ${isEnough('request', 'role.approvals', 'role.approver_role_ids')})`;

/**
 * SQL: what the role asks for besides its hours is there: a reason, approval or its waiver, and no wider a range.
 * @param approval SQL: whether no user is to approve, or has
 */
const isAsked = (
  approval: string,
): string => `(NOT role.require_reason OR coalesce(role.reason_pattern, '*') = ANY ($19::text[]))
        AND ${approval} AND role.ipv6_prefix_length <= coalesce((SELECT min(masklen(p.ip_address::inet)) FROM planned p
          WHERE p.resource_id = r.id AND p.ip_version = 6), 128)`;

/**
 * SQL, for the user `u` and the CTEs `unchanged` and `times`: what the request was authorized and planned with still
 * holds. A change that was committed before the start prevents it; one after it comes too late for it.
 */
const stillGranted = (
  asked: string,
): string => `EXISTS (SELECT FROM organizations o WHERE o.id = $1 AND o.suspended_at IS NULL)
      AND ($17::uuid IS NULL OR EXISTS (${validKey('$1', '$17')}))
      AND NOT EXISTS (SELECT FROM unchanged r WHERE NOT r.is_active OR NOT EXISTS (
        ${ALLOWING_ROLES('u.id', 'r.id', { startedAt: 'times.started_at', expiresAt: 'times.expires_at', asked })}))`;

/** CTEs: the request is used by the session of `owner`; a session without approval leaves one to be reviewed. */
const USE_REQUEST = `used AS (
    UPDATE access_requests a SET status = 'USED', due_at = NULL, session_id = owner.id, ended_at = now()
    FROM owner WHERE a.organization_id = $1 AND a.id = owner.access_request_id AND NOT owner.break_glass
  ), broken AS (
    INSERT INTO access_requests (id, organization_id, requester_id, resource_ids, duration_hours, reason, ticket,
      ipv4_address, ipv6_address, break_glass, approvals_needed, status, session_id)
    SELECT access_request_id, $1, user_id, ARRAY(SELECT id FROM unchanged), $7, reason, ticket,
      ipv4_address, ipv6_address, true, 0, 'USED', id
    FROM owner WHERE break_glass
  )`;

/** What differs between a start without approval and one with a request. */
interface Variant {
  /** CTEs before it */
  readonly before: string;
  /** `access_request_id`, `break_glass`, `approver_ids` */
  readonly columns: string;
  /** whether it may start */
  readonly condition: string;
  /** whether that is enough for a role */
  readonly approval: string;
  /** CTEs after it */
  readonly after: string;
}

const ALONE: Variant = {
  before: '',
  columns: `NULL, false, '{}'::uuid[]`,
  condition: 'true',
  approval: 'role.approvals = 0',
  after: '',
};

/** It uses the approved request `$22`; or it needs no approval in the sign-in `$23`, and leaves the request `$22` to be reviewed. */
const ON_REQUEST: Variant = {
  before: `${USABLE_REQUEST},`,
  columns: `$22::uuid, $23::uuid IS NOT NULL,
      ARRAY(SELECT d.user_id FROM access_request_decisions d WHERE d.request_id = $22::uuid AND d.decision = 'APPROVED')`,
  condition: `CASE WHEN $23::uuid IS NULL THEN EXISTS (SELECT FROM request) ELSE ${isSteppedUp('u.id', '$23::uuid')} END`,
  approval: `CASE WHEN $23::uuid IS NULL THEN role.approvals = 0 OR ${IS_APPROVED} ELSE role.may_break_glass END`,
  after: `${USE_REQUEST},`,
};

/**
 * SQL, for the user `u`: whether the session may start.
 * `limit_live_sessions` locks the user, which serializes the start with other starts and with a deactivation: one before
 * it prevents the start, one after it ends the session.
 */
const mayStart = ({ condition, approval }: Variant): string =>
  `u.organization_id = $1 AND u.id = $3 AND ${ALL_UNCHANGED} AND ${condition}
      AND ${stillGranted(isAsked(approval))} AND limit_live_sessions(u.id, $11, $12)`;

const TIMES = `times AS (
    SELECT coalesce($14::timestamptz, now()) AS started_at,
      coalesce($15::timestamptz, now() + make_interval(hours => $7)) AS expires_at
  )`;

const startSession = (name: string, variant: Variant): PreparedStatement => ({
  name,
  text: `WITH ${plannedResources('$8')}, ${TIMES}, ${variant.before} owner AS (
    INSERT INTO sessions (id, organization_id, user_id, holder, ipv4_address, ipv6_address, started_at, expires_at,
      lease_seconds, lease_until, token_hash, api_key_id, heard_from, reason, ticket, access_request_id, break_glass, approver_ids)
    SELECT $2::uuid, $1, u.id, $4, $5, $6, times.started_at, times.expires_at,
      $13::int, now() + make_interval(secs => $13::int), $16, $17::uuid, array_remove(ARRAY[$18::text], NULL),
      $20, $21, ${variant.columns}
    FROM users u, times WHERE ${mayStart(variant)}
    RETURNING *
  ), ${INSERT_RESOURCE_IPS}, ${desiredRules('$9')},
  ${hold('SESSION_STARTED')}, ${variant.after} audit AS (${auditInsert('$1', '$10')} WHERE EXISTS (SELECT FROM owner))
  SELECT ${COLUMNS},
    to_jsonb(ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM ip JOIN resources r ON r.id = ip.resource_id
      ORDER BY r.name, ip.ip_version, ip.id)) AS "resourceIps"
  FROM owner s JOIN users u ON u.id = s.user_id`,
});

export const START_SESSION = startSession('start-session', ALONE);
/** With two parameters more. */
export const START_ON_REQUEST = startSession('start-on-request', ON_REQUEST);

/** Asks the guard of a start, and starts nothing: what is stored of a session is only named, for its type. */
const askGuard = (name: string, variant: Variant): PreparedStatement => ({
  name,
  text: `WITH ${plannedResources('$8')}, ${TIMES}, ${variant.before} stored AS (
    SELECT $2::uuid, $4::text, $5::text, $6::text, $9::text, $10::text, $13::int, $16::text, $18::text, $20::text, $21::text
  )
  SELECT u.id FROM users u, times WHERE ${mayStart(variant)}`,
});

export const ASK_GUARD = askGuard('ask-guard', ALONE);
/** With two parameters more. */
export const ASK_GUARD_ON_REQUEST = askGuard('ask-guard-on-request', ON_REQUEST);

/** The parameters of a start and of its guard; two more for a session on a request. */
export function startParameters(
  organization: OrganizationId,
  session: NewSession,
  [audit, ...others]: readonly [AuditEntry, ...AuditEntry[]],
): unknown[] {
  const { reasonPatterns, accessRequestId, brokenBy } = session.permission;
  const { ips, rules } = newResourceIpsJson(session.holders);
  return [
    organization,
    session.id,
    session.userId,
    session.holder,
    session.ipv4Address,
    session.ipv6Address,
    session.hours,
    ips,
    rules,
    auditJson(audit, ...others),
    session.limits.perUser,
    session.limits.perServiceUser,
    session.leaseSeconds,
    session.replaced?.startedAt ?? null,
    session.replaced?.expiresAt ?? null,
    session.tokenHash,
    session.apiKeyId,
    audit.ipAddress,
    reasonPatterns,
    session.reason,
    session.ticket,
    ...(accessRequestId === null ? [] : [accessRequestId, brokenBy]),
  ];
}
