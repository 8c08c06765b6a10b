/**
 * SQL: whether a role reaches a resource, by its id or its labels. For a few roles and resources: those of one user or one
 * organization.
 */
export const reaches = (roleId: string, resourceId: string): string => `(EXISTS (
      SELECT FROM role_resources given WHERE given.role_id = ${roleId} AND given.resource_id = ${resourceId})
    OR EXISTS (SELECT FROM role_selectors fits JOIN resources labelled ON labelled.organization_id = fits.organization_id
      AND labelled.id = ${resourceId} AND labelled.labels @> fits.labels WHERE fits.role_id = ${roleId}))`;

/** SQL: the `id` of each resource that a role reaches, for `CROSS JOIN LATERAL`. */
export const resourcesOf = (roleId: string): string => `(
      SELECT given.resource_id AS id FROM role_resources given WHERE given.role_id = ${roleId}
      UNION
      SELECT labelled.id FROM role_selectors fits JOIN resources labelled ON labelled.organization_id = fits.organization_id
        AND labelled.labels @> fits.labels AND labelled.deleted_at IS NULL WHERE fits.role_id = ${roleId})`;

/** SQL: what the roles `role` of a group allow and ask for; of several the most lenient counts. */
export const GRANT = `CASE WHEN bool_and(role.max_session_duration_hours IS NOT NULL) THEN max(role.max_session_duration_hours) END AS hours,
    min(role.approvals) AS "approvalsNeeded", bool_and(role.require_reason OR role.approvals > 0) AS "needsReason",
    bool_or(role.may_break_glass) AS "mayBreakGlass"`;
