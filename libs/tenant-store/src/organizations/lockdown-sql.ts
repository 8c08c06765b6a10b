/** SQL: the `Lockdown` of these subjects, as JSON: the user's, which forbids more, before the organization's; NULL: none. */
export const lockdownOf = (subjects: string): string => `(
    SELECT jsonb_build_object('scope', CASE WHEN l.subject_id = l.organization_id THEN 'ORGANIZATION' ELSE 'USER' END,
      'reason', l.reason, 'declaredBy', (SELECT email FROM users WHERE id = l.declared_by),
      'declaredAt', to_char(l.declared_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'staticRules', l.static_rules)
    FROM lockdowns l WHERE l.subject_id IN (${subjects}) ORDER BY l.subject_id = l.organization_id LIMIT 1)`;
