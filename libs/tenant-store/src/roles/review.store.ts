import type { OrganizationId } from '#rules';
import {
  first,
  flagFilter,
  idFilter,
  type ListDefinition,
  listPage,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
} from '#entities';
import { reaches, resourcesOf } from './granted-sql';

/** A right that an administrator is to confirm from time to time: that a user has a role, or a static IP rule. */
export const REVIEW_KINDS = ['MEMBERSHIP', 'STATIC_RULE'] as const;
export type ReviewKind = (typeof REVIEW_KINDS)[number];

export interface ReviewRow {
  readonly kind: ReviewKind;
  /** of the membership, or of the rule */
  readonly id: string;
  /** null: of a static IP rule */
  readonly roleId: string | null;
  readonly userId: string | null;
  /** of the role, or the rule's label */
  readonly name: string;
  /** of the user, or of who created the rule */
  readonly email: string;
  /** how many resources it reaches */
  readonly resources: number;
  /** when the user last opened one of them, among the 20 newest sessions of each status; null: not among those, or unknown */
  readonly lastUsedAt: Date | null;
  /** the identity provider that gives the role and takes it away: nothing is to be reviewed; null: none */
  readonly givenBy: string | null;
  readonly reviewedAt: Date | null;
  readonly reviewedByEmail: string | null;
  /** null: never */
  readonly dueAt: Date | null;
}

/** A membership or a rule, as its decision needs it. */
export type Reviewed = Pick<ReviewRow, 'id' | 'roleId' | 'userId' | 'name' | 'email'>;

const OPENED = ['ACTIVE', 'PARTIAL', 'EXPIRING', 'EXPIRED', 'CANCELLED'] as const;
const NEWEST_OF_A_STATUS = 20;

const GIVEN_BY = `coalesce((SELECT p.name FROM identity_providers p WHERE p.id = m.given_by_provider_id), (
    SELECT p.name FROM group_mappings g JOIN identity_providers p ON p.id = g.provider_id
    JOIN user_identities i ON i.provider_id = p.id AND i.user_id = m.user_id
    WHERE g.organization_id = m.organization_id AND g.role_id = m.role_id LIMIT 1))`;

const REVIEWED_UNTIL = `coalesce(m.reviewed_at, m.created_at) + o.membership_review_days * interval '1 day'`;

const MEMBERSHIP_DUE = `CASE WHEN o.membership_review_days IS NOT NULL AND ${GIVEN_BY} IS NULL THEN ${REVIEWED_UNTIL} END`;

/** A date of its own counts until the rule was reviewed at or after it. */
const STATIC_RULE_DUE = `least(CASE WHEN s.reviewed_at IS NULL OR s.reviewed_at < s.review_by THEN s.review_by END,
    coalesce(s.reviewed_at, s.created_at) + o.static_rule_review_days * interval '1 day')`;

const LAST_USED = `(SELECT max(recent.created_at) FROM unnest('{${OPENED.join(',')}}'::text[]) AS opened (status)
    CROSS JOIN LATERAL (SELECT s.id, s.created_at FROM sessions s WHERE s.user_id = m.user_id AND s.status = opened.status
      ORDER BY s.created_at DESC LIMIT ${NEWEST_OF_A_STATUS}) recent
    WHERE EXISTS (SELECT FROM resource_ips ip WHERE ip.session_id = recent.id AND ${reaches('m.role_id', 'ip.resource_id')}))`;

const MEMBERSHIPS = `FROM role_users m JOIN roles r ON r.id = m.role_id JOIN users u ON u.id = m.user_id
    JOIN organizations o ON o.id = m.organization_id WHERE m.organization_id = $1`;

/** What is closed by its end opens nothing. */
const STATIC_RULES = `FROM static_ip_rules s JOIN organizations o ON o.id = s.organization_id
    WHERE s.organization_id = $1 AND s.deleted_at IS NULL AND s.closed_by IS DISTINCT FROM 'EXPIRY'`;

const isDue = (due: string): string => `coalesce(${due} <= now(), false)`;

export const MEMBERSHIP_REVIEWS: ListDefinition = {
  list: `SELECT 'MEMBERSHIP' AS kind, m.id, m.role_id AS "roleId", m.user_id AS "userId", r.name, u.email,
      (SELECT count(*)::int FROM ${resourcesOf('m.role_id')} reached) AS resources, ${LAST_USED} AS "lastUsedAt",
      ${GIVEN_BY} AS "givenBy", m.reviewed_at AS "reviewedAt", m.reviewed_by_email AS "reviewedByEmail",
      ${MEMBERSHIP_DUE} AS "dueAt" ${MEMBERSHIPS}`,
  id: 'm.id',
  search: ['r.name', 'u.email', 'u.name'],
  sort: { dueAt: MEMBERSHIP_DUE, name: 'r.name' },
  order: 'dueAt',
  filters: {
    due: flagFilter(`${isDue(MEMBERSHIP_DUE)} = ?`),
    roleId: idFilter('m.role_id = ?'),
    userId: idFilter('m.user_id = ?'),
  },
};

const STATIC_RULE_REVIEWS: ListDefinition = {
  list: `SELECT 'STATIC_RULE' AS kind, s.id, NULL AS "roleId", NULL AS "userId", s.label AS name,
      s.created_by_email AS email, (SELECT count(DISTINCT ip.resource_id)::int FROM resource_ips ip
        WHERE ip.static_ip_rule_id = s.id AND ip.released_at IS NULL) AS resources, NULL AS "lastUsedAt", NULL AS "givenBy",
      s.reviewed_at AS "reviewedAt", s.reviewed_by_email AS "reviewedByEmail", ${STATIC_RULE_DUE} AS "dueAt" ${STATIC_RULES}`,
  id: 's.id',
  search: ['s.label', 's.created_by_email'],
  sort: { dueAt: STATIC_RULE_DUE, name: 's.label' },
  order: 'dueAt',
  filters: {
    due: flagFilter(`${isDue(STATIC_RULE_DUE)} = ?`),
    roleId: idFilter('?::uuid IS NULL'),
    userId: idFilter('?::uuid IS NULL'),
  },
};

/** SQL: how many, of one kind; NULL: none. */
const counted = (kind: string, one: string): string =>
  `CASE count(*) FILTER (WHERE ${kind}) WHEN 0 THEN NULL WHEN 1 THEN '1 ${one}' ELSE count(*) FILTER (WHERE ${kind}) || ' ${one}s' END`;

/** SQL: of the organization $1, how much is due and since when; no row while nothing is. Few are due: only of those is asked who gives them. */
export const DUE_REVIEWS = `o.id, o.name, min(due.at), concat_ws(' and ',
      ${counted('due.of_role', 'membership')}, ${counted('NOT due.of_role', 'static IP rule')})
    FROM organizations o JOIN (
      SELECT true AS of_role, ${REVIEWED_UNTIL} AS at ${MEMBERSHIPS} AND ${REVIEWED_UNTIL} <= now() AND ${GIVEN_BY} IS NULL
      UNION ALL SELECT false, ${STATIC_RULE_DUE} ${STATIC_RULES}
    ) due ON due.at <= now() WHERE o.id = $1 GROUP BY o.id, o.name`;

const LISTS: Readonly<Record<ReviewKind, ListDefinition>> = {
  MEMBERSHIP: MEMBERSHIP_REVIEWS,
  STATIC_RULE: STATIC_RULE_REVIEWS,
};

const FOUND: Readonly<Record<ReviewKind, string>> = {
  MEMBERSHIP: `SELECT m.id, m.role_id AS "roleId", m.user_id AS "userId", r.name, u.email ${MEMBERSHIPS} AND m.id = $2`,
  STATIC_RULE: `SELECT s.id, NULL AS "roleId", NULL AS "userId", s.label AS name, s.created_by_email AS email ${STATIC_RULES} AND s.id = $2`,
};

const TABLES: Readonly<Record<ReviewKind, string>> = {
  MEMBERSHIP: 'role_users',
  STATIC_RULE: 'static_ip_rules',
};

/** SQL: it is another's, or the administrator $3 (id) is the only one. */
const MAY_CONFIRM: Readonly<Record<ReviewKind, string>> = {
  MEMBERSHIP: 'reviewed.user_id <> $3',
  STATIC_RULE: 'reviewed.created_by_email <> me.email',
};

/** Memberships and static IP rules as what is to be confirmed. */
export class ReviewStore implements TenantStore<ReviewStore> {
  list(tx: Tx, organization: OrganizationId, kind: ReviewKind, query: ListQuery): Promise<Sliced<ReviewRow>> {
    return listPage(tx, LISTS[kind], organization, query);
  }

  /** @returns null: there is none, or it has ended */
  find(tx: Tx, organization: OrganizationId, kind: ReviewKind, id: string): Promise<Reviewed | null> {
    return first(tx, FOUND[kind], [organization, id]);
  }

  /**
   * Records that the administrator has confirmed it; one's own only where there is no other active administrator.
   * @returns false: it is the administrator's own, or gone
   */
  async confirm(
    tx: Tx,
    organization: OrganizationId,
    kind: ReviewKind,
    id: string,
    adminId: string,
  ): Promise<boolean> {
    const confirmed = await first(
      tx,
      `UPDATE ${TABLES[kind]} reviewed SET reviewed_at = now(), reviewed_by_email = me.email FROM users me
       WHERE reviewed.organization_id = $1 AND reviewed.id = $2 AND me.organization_id = $1 AND me.id = $3
         AND (${MAY_CONFIRM[kind]} OR NOT EXISTS (SELECT FROM users other WHERE other.organization_id = $1
           AND other.id <> $3 AND other.is_org_admin AND other.is_active AND other.deleted_at IS NULL))
       RETURNING reviewed.id`,
      [organization, id, adminId],
    );
    return confirmed !== null;
  }
}
