import {
  HOLDING_STATUSES,
  LIVE_SESSION_STATUSES,
  PAYABLE_STATUSES,
  SESSION_MOVES,
  SESSION_STATUSES,
  SUBSCRIPTION_MOVES,
  type SessionStatus,
  type SubscriptionStatus,
} from '#rules';

/** For `IN (…)`: constants of the code. Unlike parameters, they let PostgreSQL use partial indexes. */
export const sqlList = (constants: readonly string[]): string =>
  constants.map((constant) => `'${constant}'`).join(', ');

/** The statuses from which a transition to `to` is allowed. */
const startsOf = <Status extends string>(
  moves: Readonly<Record<Status, readonly Status[]>>,
  to: Status,
): string =>
  sqlList(
    Object.entries<readonly Status[]>(moves).flatMap(([from, targets]) =>
      targets.includes(to) ? [from] : [],
    ),
  );

/** For `status IN (…)`: sessions that allow their addresses. */
export const LIVE = sqlList(LIVE_SESSION_STATUSES);
/** For `status IN (…)`: ResourceIps that desire their cloud rules. */
export const HOLDING = sqlList(HOLDING_STATUSES);
/** For `status IN (…)`: sessions that may end. */
export const MAY_EXPIRE = startsOf(SESSION_MOVES, 'EXPIRING');

/** When a session ends: the planned end or the end of its lease, whichever is first. The index of live sessions is on it. */
export const ENDS_AT = 'least(expires_at, lease_until)';
/** When a session has ended that is ended now: at its end, if that has passed before any worker noticed. */
export const ENDED_AT = `least(now(), ${ENDS_AT})`;
/** For `WHERE`: static IP rules whose end is still to come, or was not noticed yet. */
export const STATIC_RULE_MAY_END = `expires_at IS NOT NULL AND deleted_at IS NULL AND closed_by IS DISTINCT FROM 'EXPIRY'`;
const UNFINISHED_STATUSES: readonly SessionStatus[] = [...LIVE_SESSION_STATUSES, 'EXPIRING'];
/** For `status IN (…)`: sessions that are live or still being removed. */
export const UNFINISHED = sqlList(UNFINISHED_STATUSES);
/** Of sessions that hold nothing any more. None of these changes. */
export const FINISHED_STATUSES = SESSION_STATUSES.filter((status) => !UNFINISHED_STATUSES.includes(status));
/** For `status IN (…)`: ResourceIps that are being removed or are removed. */
export const LEAVING = sqlList(['REMOVING', 'REMOVED']);
/** For `status IN (…)`: subscriptions that wait for a payment. */
export const PAYABLE = sqlList(PAYABLE_STATUSES);
/** For `status IN (…)`: subscriptions that may move to `status`. */
export const mayBecome = (status: SubscriptionStatus): string => startsOf(SUBSCRIPTION_MOVES, status);
