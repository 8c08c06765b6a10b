import { reaches } from '../roles/granted-sql';

/** SQL: whether the user `decider` is another person than the requester of `a`: one subject of an issuer is one person. */
export const IS_ANOTHER_PERSON = (decider: string): string => `a.requester_id <> ${decider} AND NOT EXISTS (
    SELECT FROM user_identities own JOIN identity_providers of_own ON of_own.id = own.provider_id
      JOIN user_identities other ON other.user_id = a.requester_id AND other.subject = own.subject
      JOIN identity_providers of_other ON of_other.id = other.provider_id AND of_other.issuer = of_own.issuer
    WHERE own.user_id = ${decider})`;

/** SQL: whether the user `u` may decide at all: who has not left. */
export const IS_PERSON = 'u.is_active AND u.sso_refused_at IS NULL AND NOT u.is_service';

/** SQL: whether the user `u` may let others in. */
export const MAY_APPROVE = `${IS_PERSON} AND NOT EXISTS (SELECT FROM lockdowns l WHERE l.subject_id = u.id)`;

/**
 * SQL: whether a sign-in of the user `decider` is by what the requester of `a` has given: an identity that the requester linked, or
 * a password that was set by a link that the requester passed on. It approves nothing for the requester.
 */
export const isByRequester = (signInId: string, decider: string): string =>
  `(EXISTS (SELECT FROM sso_sign_ins s JOIN user_identities i ON i.id = s.identity_id
    WHERE s.family_id = ${signInId}::uuid AND i.linked_by = a.requester_id)
  OR EXISTS (SELECT FROM users u WHERE u.id = ${decider} AND u.password_link_by = a.requester_id
    AND NOT EXISTS (SELECT FROM sso_sign_ins s WHERE s.family_id = ${signInId}::uuid)))`;

/** SQL: the memberships of a user that entitle to decide on `a`. */
const memberships = (decider: string): string =>
  `SELECT m.role_id FROM role_users m WHERE m.user_id = ${decider} AND m.role_id = ANY (a.approver_role_ids)`;

/** SQL: whether administrators decide on `a`: no role does, or none of them is left. */
export const IS_FOR_ADMINISTRATORS = `NOT EXISTS (SELECT FROM roles r WHERE r.id = ANY (a.approver_role_ids))`;

/**
 * SQL: whether the user is of those who decide on `a`, and has not. For what is shown: the statement that decides locks what
 * this reads.
 */
export const isDecider = (userId: string): string =>
  `(${IS_ANOTHER_PERSON(userId)} AND NOT EXISTS (SELECT FROM access_request_decisions d WHERE d.request_id = a.id AND d.user_id = ${userId})
    AND EXISTS (SELECT FROM users u WHERE u.id = ${userId} AND ${MAY_APPROVE}
      AND (EXISTS (${memberships(userId)}) OR (u.is_org_admin AND ${IS_FOR_ADMINISTRATORS}))))`;

/** SQL: whether the user may decide on `a` now. */
export const mayDecide = (userId: string): string =>
  `(a.status = 'WAITING' AND a.due_at > now() AND ${isDecider(userId)})`;

/** SQL: whether the requester of `a` has neither left nor is locked down, alone or with the organization. */
const MAY_START = `EXISTS (SELECT FROM users p WHERE p.id = a.requester_id AND p.is_active AND p.sso_refused_at IS NULL
    AND NOT EXISTS (SELECT FROM lockdowns l WHERE l.subject_id IN (p.id, p.organization_id)))`;

/** SQL: the roles by which the requester of `a` could start a session now on one of these resources, as far as roles decide that. */
const opening = (resourceIds: string): string => `SELECT m.role_id FROM role_users m
    WHERE m.user_id = a.requester_id AND ${MAY_START} AND EXISTS (SELECT FROM unnest(${resourceIds}) AS one (id)
      JOIN resources existing ON existing.id = one.id AND existing.deleted_at IS NULL WHERE ${reaches('m.role_id', 'one.id')})`;

/** SQL: what its requester could not start a session on now, although the open request `a` asks for it. */
export const UNAVAILABLE = `ARRAY(SELECT asked.id FROM unnest(a.resource_ids) AS asked (id)
    WHERE a.status IN ('WAITING', 'APPROVED') AND NOT EXISTS (${opening('ARRAY[asked.id]')}))`;

/**
 * CTE `opening`: of the CTE `request`, the memberships by which an approval would open anything. One is enough: a session may
 * be started on some of the resources. Who takes one away comes before, and is seen, or waits.
 */
export const OPENING = `opening AS (
    SELECT m.role_id FROM request a CROSS JOIN LATERAL (${opening('a.resource_ids')} FOR KEY SHARE OF m) m
  )`;
