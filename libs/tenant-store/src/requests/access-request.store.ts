import type { OrganizationId } from '#rules';
import {
  type AccessDecision,
  type AccessRequestEntity,
  type AccessRequestStatus,
  type AuditActor,
  type Interval,
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  auditInsert,
  beginOf,
  endOf,
  first,
  readTimedPage,
  touches,
} from '#entities';
import {
  IS_ANOTHER_PERSON,
  IS_FOR_ADMINISTRATORS,
  IS_PERSON,
  MAY_APPROVE,
  OPENING,
  UNAVAILABLE,
  isByRequester,
  isDecider,
  mayDecide,
} from './access-request-deciders';
import { type AccessRequestRow, type NewAccessRequest, SAME } from './access-request-rows';
import { covers, isEnough } from '../sessions/session-start';
import { lockUser } from '../accounts/lock-user';

/** How long a request waits for a decision. */
const DECIDED_WITHIN = `interval '24 hours'`;
/** How long an approved request can be used. */
const USED_WITHIN = `interval '60 minutes'`;
/** Requests of one user that wait at once. */
export const MAX_WAITING_REQUESTS = 20;
/** What the requester used before is counted for so long. */
const RECENTLY = `interval '30 days'`;

export type { AccessRequestRow, NewAccessRequest };

/** Whose requests: one's own, those one may decide, everybody's, or sessions without approval that are not reviewed. */
export const ACCESS_REQUEST_VIEWS = ['mine', 'decide', 'all', 'review'] as const;
export type AccessRequestView = (typeof ACCESS_REQUEST_VIEWS)[number];

/** An approved request that a start may use. */
export interface UsableRequest extends Pick<
  AccessRequestEntity,
  'id' | 'resourceIds' | 'durationHours' | 'reason' | 'ticket' | 'ipv4Address' | 'ipv6Address'
> {
  readonly approvers: string[];
}

interface AccessRequestFilter extends Interval {
  readonly view: AccessRequestView;
  readonly userId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly statuses?: readonly AccessRequestStatus[] | undefined;
}

/** Who decides on which request. */
export interface Decision {
  readonly id: string;
  readonly userId: string;
  /** the decider's */
  readonly signInId: string | null;
  readonly note: string | null;
  readonly actor: AuditActor;
}

/** SQL: the status by the clock: a worker writes it down a moment later. */
const STATUS = `CASE WHEN a.due_at > now() OR a.due_at IS NULL THEN a.status
    WHEN a.status = 'WAITING' THEN 'EXPIRED' ELSE 'LAPSED' END`;

/** SQL: the resources of a request, with their names as long as there are any. */
const resourcesOf = (request: string): string =>
  `to_jsonb(ARRAY(SELECT jsonb_build_object('id', asked.id, 'name', coalesce(r.name, asked.id::text))
    FROM unnest(${request}.resource_ids) AS asked (id) LEFT JOIN resources r ON r.id = asked.id ORDER BY r.name, asked.id))`;

const columns = (
  reader: string,
): string => `a.id, a.requester_id AS "userId", u.name AS "userName", u.email AS "userEmail",
    a.duration_hours AS "durationHours", a.reason, a.ticket, a.ipv4_address AS "ipv4Address", a.ipv6_address AS "ipv6Address",
    a.break_glass AS "breakGlass", a.approvals_needed AS "approvalsNeeded", a.approvals, ${STATUS} AS status,
    a.due_at AS "dueAt", a.session_id AS "sessionId", a.ended_at AS "endedAt", a.created_at AS "createdAt",
    ${resourcesOf('a')} AS resources, ${UNAVAILABLE} AS "unavailableResourceIds",
    ARRAY(SELECT jsonb_build_object('id', r.id, 'name', r.name) FROM roles r WHERE r.id = ANY (a.approver_role_ids)
      ORDER BY r.name) AS "approverRoles",
    ARRAY(SELECT jsonb_build_object('userId', d.user_id, 'userEmail', p.email, 'decision', d.decision, 'note', d.note,
      'decidedAt', d.created_at) FROM access_request_decisions d JOIN users p ON p.id = d.user_id
      WHERE d.request_id = a.id ORDER BY d.created_at, d.user_id) AS decisions,
    (SELECT count(*)::int FROM access_requests b WHERE b.requester_id = a.requester_id AND b.status = 'USED'
      AND b.created_at < a.created_at AND b.created_at > a.created_at - ${RECENTLY}) AS "usedBefore",
    ${mayDecide(reader)} AS "mayDecide"`;

const VIEWS: Readonly<Record<AccessRequestView, string>> = {
  mine: 'a.organization_id = $1 AND a.requester_id = $2',
  decide: `a.organization_id = $1 AND ${mayDecide('$2')}`,
  all: 'a.organization_id = $1 AND $2::uuid IS NOT NULL',
  review: `a.organization_id = $1 AND a.break_glass AND a.ended_at IS NULL AND ${IS_ANOTHER_PERSON('$2')}`,
};

/** SQL: the audit entry of `$4`, with its type and what the request `moved` adds. */
const entryOf = (eventType: string): string => `(SELECT jsonb_agg($4::jsonb || jsonb_build_object(
    'eventType', ${eventType}, 'resourceType', 'ACCESS_REQUEST', 'resourceId', moved.id, 'resourceName', u.email,
    'details', jsonb_strip_nulls(jsonb_build_object('userId', moved.requester_id, 'userEmail', u.email, 'reason', moved.reason,
      'ticket', moved.ticket, 'resources', ${resourcesOf('moved')}, 'ipv4Address', moved.ipv4_address,
      'ipv6Address', moved.ipv6_address, 'durationHours', moved.duration_hours, 'note', $5::text, 'approvals', moved.approvals, 'approvalsNeeded', moved.approvals_needed))))
  FROM moved JOIN users u ON u.id = moved.requester_id)`;

/**
 * SQL: what a decision reads, locked until the commit: the decider, the request, and the membership that entitles. Whatever
 * would take one of them away comes before, and is seen, or waits.
 * @param condition on the request `a`
 * @param decides whether the user `u` may
 */
const deciding = (condition: string, isEntitled: string, decides = IS_PERSON): string => `decider AS (
    SELECT id, is_org_admin FROM users u WHERE organization_id = $1 AND id = $3 AND ${decides} FOR SHARE
  ), request AS (
    SELECT found.* FROM decider CROSS JOIN LATERAL (
      SELECT a.* FROM access_requests a
      WHERE a.organization_id = $1 AND a.id = $2 AND ${IS_ANOTHER_PERSON('decider.id')} AND ${condition} FOR UPDATE
    ) found
  ), membership AS (
    SELECT m.role_id FROM request CROSS JOIN LATERAL (
      SELECT m.role_id FROM role_users m WHERE m.user_id = $3 AND m.role_id = ANY (request.approver_role_ids) FOR KEY SHARE
    ) m
  ), entitled AS (
    SELECT a.id FROM request a, decider WHERE ${isEntitled}
  )`;

const IS_APPROVER = `EXISTS (SELECT FROM membership) OR (decider.is_org_admin AND ${IS_FOR_ADMINISTRATORS})`;
const IS_WAITING = `a.status = 'WAITING' AND a.due_at > clock_timestamp()`;

/** CTE `decision`: of the decider, once. @param counts SQL: whether it would have an effect */
const decide = (decision: AccessDecision, counts = 'true'): string => `decision AS (
    INSERT INTO access_request_decisions (organization_id, request_id, user_id, decision, note)
    SELECT $1, id, $3, '${decision}', $5 FROM entitled WHERE ${counts} ON CONFLICT DO NOTHING RETURNING request_id
  )`;

const APPROVE = `WITH ${deciding(`${IS_WAITING} AND NOT ${isByRequester('$6', '$3')}`, IS_APPROVER, MAY_APPROVE)}, ${OPENING}, ${decide('APPROVED', 'EXISTS (SELECT FROM opening)')}, moved AS (
    UPDATE access_requests a SET approvals = a.approvals + 1,
      status = CASE WHEN a.approvals + 1 >= a.approvals_needed THEN 'APPROVED' ELSE a.status END,
      due_at = CASE WHEN a.approvals + 1 >= a.approvals_needed THEN clock_timestamp() + ${USED_WITHIN} ELSE a.due_at END
    FROM decision WHERE a.organization_id = $1 AND a.id = decision.request_id RETURNING a.*
  ), audit AS (${auditInsert(
    '$1',
    entryOf(
      `CASE moved.status WHEN 'APPROVED' THEN 'ACCESS_REQUEST_APPROVED' ELSE 'ACCESS_REQUEST_APPROVAL_GIVEN' END`,
    ),
  )}) SELECT id FROM moved`;

const DENY = `WITH ${deciding(IS_WAITING, IS_APPROVER)}, ${decide('DENIED')}, moved AS (
    UPDATE access_requests a SET status = 'DENIED', due_at = NULL, ended_at = now()
    FROM decision WHERE a.organization_id = $1 AND a.id = decision.request_id RETURNING a.*
  ), audit AS (${auditInsert('$1', entryOf(`'ACCESS_REQUEST_DENIED'`))}) SELECT id FROM moved`;

const REVIEW = `WITH ${deciding(`a.break_glass AND a.ended_at IS NULL AND NOT ${isByRequester('$6', '$3')}`, 'decider.is_org_admin', MAY_APPROVE)}, ${decide('REVIEWED')}, moved AS (
    UPDATE access_requests a SET ended_at = now()
    FROM decision WHERE a.organization_id = $1 AND a.id = decision.request_id RETURNING a.*
  ), audit AS (${auditInsert('$1', entryOf(`'BREAK_GLASS_REVIEWED'`))}) SELECT id FROM moved`;

/** An approval that its requester gives back has lapsed. */
const CANCEL = `WITH moved AS (
    UPDATE access_requests a SET status = CASE a.status WHEN 'WAITING' THEN 'CANCELLED' ELSE 'LAPSED' END,
      due_at = NULL, ended_at = now()
    WHERE a.organization_id = $1 AND a.id = $2 AND a.requester_id = $3 AND a.status IN ('WAITING', 'APPROVED')
      AND a.due_at > clock_timestamp() RETURNING *
  ), audit AS (${auditInsert('$1', entryOf(`'ACCESS_REQUEST_CANCELLED'`))}) SELECT id FROM moved`;

const DECISIONS = { approve: APPROVE, deny: DENY, review: REVIEW, cancel: CANCEL } as const;

/** What people ask others to let them open. */
export class AccessRequestStore implements TenantStore<AccessRequestStore> {
  /**
   * Call it in a transaction: starts, deactivations and other requests of the user wait. One that waits already and asks for
   * the same is the request.
   * @returns null when the user is not active, or has too many that wait
   */
  async create(
    tx: Tx,
    organization: OrganizationId,
    request: NewAccessRequest,
  ): Promise<{ id: string; isNew: boolean } | null> {
    await lockUser(tx, organization, request.requesterId);
    const given = [
      organization,
      request.requesterId,
      request.resourceIds,
      request.durationHours,
      request.reason,
      request.ticket,
      request.ipv4Address,
      request.ipv6Address,
      request.approvalsNeeded,
      request.approverRoleIds,
    ];
    const same = await first<{ id: string }>(tx, SAME, given);
    if (same) return { ...same, isNew: false };
    const created = await first<{ id: string }>(
      tx,
      `INSERT INTO access_requests (organization_id, requester_id, resource_ids, duration_hours, reason, ticket, ipv4_address,
         ipv6_address, approvals_needed, approver_role_ids, due_at)
       SELECT $1, u.id, $3, $4, $5, $6, $7, $8, $9, $10, now() + ${DECIDED_WITHIN} FROM users u
       WHERE u.organization_id = $1 AND u.id = $2 AND u.is_active AND (SELECT count(*) FROM access_requests a
         WHERE a.requester_id = u.id AND a.status = 'WAITING' AND a.due_at > now()) < ${MAX_WAITING_REQUESTS}
       RETURNING id`,
      given,
    );
    return created && { ...created, isNew: true };
  }

  /** @param reader for `mayDecide` */
  find(tx: Tx, organization: OrganizationId, id: string, reader: string): Promise<AccessRequestRow | null> {
    return first(
      tx,
      `SELECT ${columns('$3')} FROM access_requests a JOIN users u ON u.id = a.requester_id
       WHERE a.organization_id = $1 AND a.id = $2`,
      [organization, id, reader],
    );
  }

  /** Newest first. @param reader whose view it is */
  list(
    tx: Tx,
    organization: OrganizationId,
    filter: AccessRequestFilter,
    reader: string,
    slice: Slice,
  ): Promise<Sliced<AccessRequestRow>> {
    const given: [OrganizationId, ...unknown[]] = [organization, reader, beginOf(filter), endOf(filter)];
    const { userId, resourceId, statuses } = filter;
    const conditions = [
      `${VIEWS[filter.view]} AND a.created_at >= $3::timestamptz AND a.created_at < $4::timestamptz`,
      ...(userId === undefined ? [] : [`a.requester_id = $${given.push(userId)}`]),
      ...(resourceId === undefined ? [] : [`$${given.push(resourceId)}::uuid = ANY (a.resource_ids)`]),
      ...(statuses ? [`a.status = ANY ($${given.push(statuses)}::text[])`] : []),
    ];
    const keys = `SELECT a.created_at AS at, a.id AS tie FROM access_requests a WHERE ${conditions.join(' AND ')}`;
    const shown = `SELECT ${columns('$2')} FROM page JOIN access_requests a ON a.organization_id = $1 AND a.id = page.tie
      JOIN users u ON u.id = a.requester_id`;
    return readTimedPage(tx, { keys: [keys], rows: shown, given }, slice);
  }

  /**
   * Call it in a transaction: it decides, unless another did before. The user is locked first, as a lockdown and a deactivation
   * do: each sees what the other has done. The last approval that is needed makes it APPROVED; a
   * single denial ends it.
   * @returns false when it is not to be decided (any more), or not by this user
   */
  async decide(
    tx: Tx,
    organization: OrganizationId,
    as: keyof typeof DECISIONS,
    { id, userId, signInId, note, actor }: Decision,
  ): Promise<boolean> {
    await tx.query('SELECT FROM users WHERE organization_id = $1 AND id = $2 FOR SHARE', [
      organization,
      userId,
    ]);
    const given = [organization, id, userId, JSON.stringify(actor), note];
    return touches(tx, DECISIONS[as], as === 'approve' || as === 'review' ? [...given, signInId] : given);
  }

  /** Whether a sign-in is by what the requester has given its user: it approves and reviews nothing of the requester's. */
  isByRequester(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    { signInId, userId }: Pick<Decision, 'signInId' | 'userId'>,
  ): Promise<boolean> {
    return touches(
      tx,
      `SELECT FROM access_requests a WHERE a.organization_id = $1 AND a.id = $2 AND ${isByRequester('$3', '$4::uuid')}`,
      [organization, id, signInId, userId],
    );
  }

  /** Who decides on these requests, or would, and has not. */
  deciders(
    tx: Tx,
    organization: OrganizationId,
    ids: readonly string[],
  ): Promise<{ requestId: string; userId: string }[]> {
    return tx.query(
      `SELECT a.id AS "requestId", p.id AS "userId" FROM access_requests a JOIN users p ON p.organization_id = $1
       WHERE a.organization_id = $1 AND a.id = ANY ($2::uuid[]) AND ${isDecider('p.id')}`,
      [organization, ids],
    );
  }

  /** The user's own request, if it is approved and can still be used. */
  usable(tx: Tx, organization: OrganizationId, userId: string, id: string): Promise<UsableRequest | null> {
    return first(tx, `${USABLE} AND a.id = $3`, [organization, userId, id]);
  }

  /** The user's request that was approved last, for what a session would open and by as many as that needs now. @param id of one alone; null: any */
  covering(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    { resourceIds, hours, ipv4, ipv6, reason, ticket, approvals, approverRoleIds }: Covered,
    id: string | null,
  ): Promise<UsableRequest | null> {
    return first(
      tx,
      `${USABLE} AND ${covers('$3::uuid[]', '$4::float8 <= a.duration_hours')}
         AND a.reason = $7 AND a.ticket IS NOT DISTINCT FROM $8 AND ($9 = 0 OR ${isEnough('a', '$9', '$10::uuid[]')})
         AND ($11::uuid IS NULL OR a.id = $11) ORDER BY a.due_at DESC LIMIT 1`,
      [organization, userId, resourceIds, hours, ipv4, ipv6, reason, ticket, approvals, approverRoleIds, id],
    );
  }
}

/** What a session would open, why, and what it needs for that. */
export interface Covered {
  readonly resourceIds: readonly string[];
  readonly hours: number;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly reason: string | null;
  readonly ticket: string | null;
  readonly approvals: number;
  /** empty: administrators */
  readonly approverRoleIds: readonly string[];
}

const USABLE = `SELECT a.id, a.resource_ids AS "resourceIds", a.duration_hours AS "durationHours", a.reason, a.ticket,
    a.ipv4_address AS "ipv4Address", a.ipv6_address AS "ipv6Address",
    ARRAY(SELECT u.email FROM access_request_decisions d JOIN users u ON u.id = d.user_id
      WHERE d.request_id = a.id AND d.decision = 'APPROVED' ORDER BY u.email) AS approvers
  FROM access_requests a
  WHERE a.organization_id = $1 AND a.requester_id = $2 AND a.status = 'APPROVED' AND a.due_at > now()`;
