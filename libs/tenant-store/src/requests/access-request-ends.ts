import type { OrganizationId } from '#rules';
import {
  type AccessRequestStatus,
  type AuditActor,
  type AuditEntry,
  type AuditEventType,
  type Tx,
  rows,
} from '#entities';

/**
 * Which of these requests are not decided yet. It serves all organizations with one query for all who wait; each of them
 * has been authorized to read the request before.
 */
export async function selectUndecided(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const waiting = await tx.query<{ id: string }[]>(
    `SELECT id FROM access_requests WHERE id = ANY ($1::uuid[]) AND status = 'WAITING' AND due_at > now()`,
    [ids],
  );
  return waiting.map(({ id }) => id);
}

/** A request that ended, or lost an approval, without its requester. */
export interface EndedRequest {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly status: AccessRequestStatus;
  readonly userId: string;
  readonly userEmail: string;
}

/** SQL: the requests `moved`. */
const MOVED = `SELECT moved.id, moved.organization_id AS "organizationId", moved.status, u.id AS "userId", u.email AS "userEmail"
  FROM moved JOIN users u ON u.id = moved.requester_id`;

/** SQL: ends the open requests that a query finds. @param undecided what those become that wait */
const ended = (open: string, undecided: AccessRequestStatus): string => `WITH open AS (${open}), moved AS (
    UPDATE access_requests a SET status = CASE a.status WHEN 'WAITING' THEN '${undecided}' ELSE 'LAPSED' END,
      due_at = NULL, ended_at = now()
    FROM open WHERE a.id = open.id RETURNING a.*
  ) ${MOVED}`;

const END_OVERDUE = ended(
  'SELECT id FROM access_requests WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED',
  'EXPIRED',
);

const END_OF_USER = ended(
  'SELECT id FROM access_requests WHERE organization_id = $1 AND requester_id = $2 AND due_at IS NOT NULL FOR UPDATE',
  'CANCELLED',
);

/** Ends requests whose time is over, of all organizations, by the database's clock. Record them in the same transaction. */
export const endOverdueRequests = (tx: Tx, limit: number): Promise<EndedRequest[]> =>
  rows(tx, END_OVERDUE, [limit]);

/** Ends what a user has asked for and not used yet. Record it in the same transaction. */
export const endRequestsOf = (
  tx: Tx,
  organization: OrganizationId,
  userId: string,
): Promise<EndedRequest[]> => rows(tx, END_OF_USER, [organization, userId]);

/** What was approved is no more; what waits goes on waiting, for another approval. */
const WITHDRAW = `WITH given AS (
    SELECT a.id FROM access_requests a WHERE a.organization_id = $1 AND a.due_at IS NOT NULL
      AND ($3::uuid IS NULL OR a.id = $3) AND EXISTS (
      SELECT FROM access_request_decisions d WHERE d.request_id = a.id AND d.user_id = $2 AND d.decision = 'APPROVED')
    ORDER BY a.id FOR UPDATE
  ), moved AS (
    UPDATE access_requests a SET
      approvals = CASE a.status WHEN 'WAITING' THEN a.approvals - 1 ELSE a.approvals END,
      due_at = CASE a.status WHEN 'WAITING' THEN a.due_at END,
      ended_at = CASE a.status WHEN 'WAITING' THEN NULL ELSE now() END,
      status = CASE a.status WHEN 'WAITING' THEN a.status ELSE 'LAPSED' END
    FROM given WHERE a.id = given.id RETURNING a.*
  ), undone AS (
    DELETE FROM access_request_decisions d USING moved
    WHERE d.request_id = moved.id AND d.user_id = $2 AND moved.status = 'WAITING'
  ) ${MOVED}`;

/**
 * Takes back the approvals of a user that no session has used, or the one of a request. Lock the user first, and no rule: an
 * approval or a start at the same time comes before, or is refused. Record it in the same transaction.
 */
export const withdrawApprovals = (
  tx: Tx,
  organization: OrganizationId,
  userId: string,
  requestId: string | null = null,
): Promise<EndedRequest[]> => rows(tx, WITHDRAW, [organization, userId, requestId]);

const EVENTS = {
  WAITING: 'ACCESS_REQUEST_APPROVAL_WITHDRAWN',
  EXPIRED: 'ACCESS_REQUEST_EXPIRED',
  LAPSED: 'ACCESS_REQUEST_LAPSED',
} as const satisfies Partial<Record<AccessRequestStatus, AuditEventType>>;

/** The audit record of a request that ended, or lost an approval. */
export const endedEntry = (
  actor: AuditActor,
  { id, status, userId, userEmail }: EndedRequest,
): AuditEntry => ({
  ...actor,
  eventType: status in EVENTS ? EVENTS[status as keyof typeof EVENTS] : 'ACCESS_REQUEST_CANCELLED',
  resourceType: 'ACCESS_REQUEST',
  resourceId: id,
  resourceName: userEmail,
  details: { userId, userEmail },
});
