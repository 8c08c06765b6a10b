import { PROVIDERS } from '#rules';
import { choiceFilter, idFilter, type ListDefinition } from '#entities';
import { isKnownTo } from '#engine-store/port';
import { resourcesOf } from '../roles/granted-sql';

/** SQL: what administrators call the account of a resource `r` with the credential `c`, or its provider does. */
const ACCOUNT_LABEL = `(SELECT coalesce(a.label, a.listed_label) FROM cloud_accounts a
  WHERE a.credential_id = coalesce(c.parent_id, c.id) AND a.account = r.account)`;

/** SQL: an organization's resources. */
export const RESOURCES = `SELECT r.id, r.name, coalesce(c.parent_id, c.id) AS "credentialId", c.name AS "credentialName",
    r.credential_id AS "accessId", r.account, ${ACCOUNT_LABEL} AS "accountLabel", r.provider,
    r.target_id AS "targetId", t.key AS "targetKey", r.resource_type AS "resourceType", r.resource_identifier AS "resourceIdentifier",
    t.identifier AS "targetIdentifier", r.region, r.endpoint, r.config, r.labels,
    r.is_active AS "isActive", r.last_verified_at AS "lastVerifiedAt", r.verification_error AS "verificationError", r.created_at AS "createdAt",
    r.updated_at AS "updatedAt", CASE WHEN r.write_verified OR ${isKnownTo('$1', 't.id')} THEN t.room END AS room
  FROM resources r JOIN credentials c ON c.id = r.credential_id JOIN targets t ON t.id = r.target_id
  WHERE r.organization_id = $1 AND r.deleted_at IS NULL`;

const RESOURCE_STATES = ['VERIFIED', 'REFUSED', 'UNVERIFIED', 'INACTIVE', 'ABANDONED'] as const;

/** SQL: what keeps a resource from being used, if anything. */
const STATE = `CASE WHEN r.abandoned_at IS NOT NULL THEN 'ABANDONED' WHEN r.verification_error IS NOT NULL THEN 'REFUSED'
  WHEN r.is_active THEN 'VERIFIED' WHEN r.last_verified_at IS NULL THEN 'UNVERIFIED' ELSE 'INACTIVE' END`;

export const RESOURCE_LIST: ListDefinition = {
  list: RESOURCES,
  id: 'r.id',
  search: ['r.name', 'r.resource_identifier', 'r.endpoint', 'r.account', ACCOUNT_LABEL],
  sort: { name: 'r.name', createdAt: 'r.created_at', lastVerifiedAt: 'r.last_verified_at', state: STATE },
  order: 'name',
  filters: {
    provider: choiceFilter('r.provider', PROVIDERS),
    resourceType: choiceFilter('r.resource_type', []),
    credentialId: idFilter('coalesce(c.parent_id, c.id) = ?'),
    account: { kind: 'texts', where: 'r.account = ANY (?::text[])' },
    roleId: idFilter(`r.id IN ${resourcesOf('?::uuid')}`),
    label: { kind: 'labels', where: 'r.labels @> ALL (?::jsonb[])' },
    state: choiceFilter(STATE, RESOURCE_STATES),
  },
};

/** Those of the roles of the user $2. */
export const ASSIGNED_RESOURCES: ListDefinition = {
  ...RESOURCE_LIST,
  list: `${RESOURCES} AND r.id IN (SELECT reached.id FROM role_users held
    CROSS JOIN LATERAL ${resourcesOf('held.role_id')} reached WHERE held.user_id = $2::uuid)`,
};
