import { BUDGET_SPENT, MAX_COUNTED } from '#rules';
import { UNLEASED } from './lease.store';

/**
 * SQL: whether an organization has proven that it may write to a target. What is there, and what waits for its account, is
 * shown to no other: to name another tenant's target reveals nothing.
 */
export const isKnownTo = (organization: string, targetId: string): string =>
  `EXISTS (SELECT FROM resources known WHERE known.organization_id = ${organization} AND known.target_id = ${targetId}
     AND known.deleted_at IS NULL AND known.write_verified)`;

/**
 * SQL: the `WriteQueue` of the account `t.account_key`, whose budget is that of the resources `t.provider`, `t.resource_type`.
 * @param before a time: rules that came later do not count
 */
export const writeQueue = (
  before: string,
): string => `jsonb_build_object('provider', t.provider, 'resourceType', t.resource_type,
    'fullInSeconds', coalesce((SELECT extract(epoch FROM b.full_at - now()) FROM write_budgets b
      WHERE b.account_key = t.account_key), 0),
    'due', (SELECT count(*) FROM (SELECT FROM targets q WHERE q.account_key = t.account_key AND ${UNLEASED('q')}
      AND EXISTS (SELECT FROM rules w WHERE w.target_id = q.id AND w.due_at IS NOT NULL AND w.created_at <= ${before}
        AND (w.due_at <= now() OR w.last_error = '${BUDGET_SPENT}')) LIMIT ${MAX_COUNTED}) waiting))`;
