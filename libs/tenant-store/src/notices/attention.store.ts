import { isKnownTo } from '#engine-store/port';
import { AGENT_AWAY_SECONDS, NEARLY_FULL, type OrganizationId } from '#rules';
import { DUE_REVIEWS } from '../roles/review.store';
import { type Slice, type Sliced, type TenantStore, type Tx } from '#entities';

export const ATTENTION_SEVERITIES = ['NOW', 'SOON'] as const;
export type AttentionSeverity = (typeof ATTENTION_SEVERITIES)[number];

/** One object that is not as it should be. */
export interface AttentionRow {
  readonly kind: AttentionKind;
  readonly severity: AttentionSeverity;
  readonly objectType: string;
  readonly objectId: string;
  readonly objectName: string;
  /** null: not recorded */
  readonly since: Date | null;
  /** what is amiss, in the words that were recorded; null: the kind says it */
  readonly message: string | null;
}

interface Cause {
  readonly severity: AttentionSeverity;
  readonly objectType: string;
  /** SQL: `<id>, <name>, <since>, <message> FROM …` of the organization $1 */
  readonly found: string;
}

const HOSTS = `r.id, r.name, a.seen_at, 'agent ' || a.name || coalesce(', another one at ' || a.rival_address, '')
  FROM agents a JOIN targets t ON t.key = a.target_key JOIN resources r ON r.target_id = t.id AND r.deleted_at IS NULL
  WHERE a.organization_id = $1 AND r.organization_id = $1`;

/** Each kind is read from what caused it: it goes with its cause, and nothing has to be marked as done. */
const CAUSES = {
  RULE_OVERDUE: {
    severity: 'NOW',
    objectType: 'RESOURCE',
    found: `ip.resource_id, max(ip.resource_name), min(r.unwanted_since), max(ip.error_message) FROM resource_ips ip
      JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
      WHERE ip.organization_id = $1 AND ip.status = 'REMOVING' AND r.overdue_at IS NOT NULL AND r.state <> 'absent'
      GROUP BY ip.resource_id`,
  },
  RESOURCE_REFUSED: {
    severity: 'NOW',
    objectType: 'RESOURCE',
    found: `r.id, r.name, CASE WHEN r.verification_error IS NULL THEN compared.created_at ELSE (
        SELECT max(e.created_at) FROM resource_health_events e
        WHERE e.resource_id = r.id AND e.event_type IN ('VERIFY_OK', 'VERIFY_FAILED')) END,
        coalesce(r.verification_error, compared.message)
      FROM resources r LEFT JOIN LATERAL (
        SELECT e.event_type, e.created_at, e.message FROM resource_health_events e
        WHERE e.resource_id = r.id AND NOT e.event_type IN ('VERIFY_OK', 'VERIFY_FAILED')
        ORDER BY e.created_at DESC, e.id DESC LIMIT 1) compared ON true
      WHERE r.organization_id = $1 AND r.deleted_at IS NULL AND r.abandoned_at IS NULL
        AND (r.verification_error IS NOT NULL OR compared.event_type = 'RECONCILE_FAILED')`,
  },
  TARGET_FULL: {
    severity: 'SOON',
    objectType: 'RESOURCE',
    // the limit of an account may have been raised: a default one is not certain
    found: `r.id, r.name, NULL::timestamptz, fullest.message FROM resources r JOIN targets t ON t.id = r.target_id
      CROSS JOIN LATERAL (SELECT concat(one->>'used', ' of ', one->>'limit', ' rules') AS message
        FROM jsonb_array_elements(t.room) one
        WHERE one->>'limitFrom' <> 'DEFAULT' AND (one->>'used')::int >= ${NEARLY_FULL} * (one->>'limit')::int
          AND r.config @> jsonb_strip_nulls(coalesce(one->'config', '{}'))
        ORDER BY (one->>'limit')::int - (one->>'used')::int LIMIT 1) AS fullest
      WHERE r.organization_id = $1 AND r.deleted_at IS NULL AND t.room IS NOT NULL AND ${isKnownTo('$1', 't.id')}`,
  },
  RULE_REFUSED: {
    severity: 'NOW',
    objectType: 'STATIC_IP_RULE',
    found: `s.id, s.label, min(ip.pending_since), max(ip.error_message)
      FROM static_ip_rules s JOIN resource_ips ip ON ip.static_ip_rule_id = s.id
      WHERE s.organization_id = $1 AND s.deleted_at IS NULL AND ip.status = 'FAILED' AND ip.released_at IS NULL
      GROUP BY s.id, s.label`,
  },
  CREDENTIAL_FAILING: {
    severity: 'NOW',
    objectType: 'CREDENTIAL',
    // of one for many accounts, each account that refuses it
    found: `coalesce(c.parent_id, c.id), c.name || coalesce(' in ' || coalesce((
        SELECT coalesce(a.label, a.listed_label) || ' (' || a.account || ')' FROM cloud_accounts a
        WHERE a.credential_id = c.parent_id AND a.account = c.account), c.account), ''),
        c.last_verified_at, c.verification_error FROM credentials c
      WHERE c.organization_id = $1 AND c.deleted_at IS NULL AND NOT c.is_valid`,
  },
  // an agent that no resource leads to guards nothing
  AGENT_AWAY: {
    severity: 'NOW',
    objectType: 'RESOURCE',
    found: `${HOSTS} AND a.seen_at <= now() - interval '${AGENT_AWAY_SECONDS} seconds'`,
  },
  AGENT_CONTESTED: {
    severity: 'NOW',
    objectType: 'RESOURCE',
    found: `${HOSTS} AND a.rival_seen_at > now() - interval '${AGENT_AWAY_SECONDS} seconds'`,
  },
  IDENTITY_PROVIDER_FAILING: {
    severity: 'NOW',
    objectType: 'IDENTITY_PROVIDER',
    found: `p.id, p.name, NULL::timestamptz, p.last_error FROM identity_providers p
      WHERE p.organization_id = $1 AND p.is_enabled AND p.last_error IS NOT NULL`,
  },
  WEBHOOK_FAILING: {
    severity: 'NOW',
    objectType: 'WEBHOOK',
    found: `w.id, w.shown_url, w.failing_since, w.last_error FROM webhooks w
      WHERE w.organization_id = $1 AND w.failing_since IS NOT NULL`,
  },
  LOCKED_DOWN: {
    severity: 'NOW',
    objectType: 'USER',
    found: `u.id, u.name, l.declared_at, l.reason FROM lockdowns l JOIN users u ON u.id = l.subject_id
      WHERE l.organization_id = $1 AND u.organization_id = $1`,
  },
  ORGANIZATION_LOCKED_DOWN: {
    severity: 'NOW',
    objectType: 'ORGANIZATION',
    found: `o.id, o.name, l.declared_at, l.reason FROM lockdowns l JOIN organizations o ON o.id = l.subject_id
      WHERE l.organization_id = $1`,
  },
  BREAK_GLASS_UNREVIEWED: {
    severity: 'SOON',
    objectType: 'ACCESS_REQUEST',
    found: `q.id, u.name, q.created_at, q.reason FROM access_requests q JOIN users u ON u.id = q.requester_id
      WHERE q.organization_id = $1 AND q.break_glass AND q.ended_at IS NULL`,
  },
  IDENTITY_WAITING: {
    severity: 'SOON',
    objectType: 'IDENTITY_PROVIDER',
    found: `p.id, p.name, min(i.created_at), string_agg(coalesce(i.email, i.name, i.username, i.subject), ', ' ORDER BY i.created_at)
      FROM identity_providers p CROSS JOIN LATERAL (SELECT * FROM user_identities waiting
        WHERE waiting.provider_id = p.id AND waiting.user_id IS NULL ORDER BY waiting.created_at LIMIT 5) i
      WHERE p.organization_id = $1 GROUP BY p.id, p.name`,
  },
  KEY_ENDING: {
    severity: 'SOON',
    objectType: 'API_KEY',
    found: `k.id, k.name, k.expires_at - interval '14 days', NULL FROM api_keys k
      WHERE k.organization_id = $1 AND k.revoked_at IS NULL AND k.expires_at > now()
        AND k.expires_at <= now() + interval '14 days'`,
  },
  STATIC_RULE_ENDING: {
    severity: 'SOON',
    objectType: 'STATIC_IP_RULE',
    found: `s.id, s.label, s.expires_at - interval '7 days', NULL FROM static_ip_rules s
      WHERE s.organization_id = $1 AND s.deleted_at IS NULL AND s.closed_by IS DISTINCT FROM 'EXPIRY'
        AND s.expires_at > now() AND s.expires_at <= now() + interval '7 days'`,
  },
  REVIEW_DUE: { severity: 'SOON', objectType: 'REVIEW', found: DUE_REVIEWS },
  ONE_ADMINISTRATOR: {
    severity: 'SOON',
    objectType: 'USER',
    found: `(array_agg(u.id) FILTER (WHERE u.is_org_admin))[1], max(u.name) FILTER (WHERE u.is_org_admin),
        NULL::timestamptz, NULL FROM users u
      WHERE u.organization_id = $1 AND u.deleted_at IS NULL AND u.is_active AND NOT u.is_service
      HAVING count(*) > 1 AND count(*) FILTER (WHERE u.is_org_admin) = 1`,
  },
} as const satisfies Readonly<Record<string, Cause>>;

export type AttentionKind = keyof typeof CAUSES;
export const ATTENTION_KINDS = Object.keys(CAUSES) as AttentionKind[];

/** Of one kind: the first say what is amiss. */
const MOST_OF_A_KIND = 200;

const ALL = Object.entries(CAUSES)
  .map(
    ([kind, { severity, objectType, found }]) =>
      `(SELECT '${kind}', '${severity}', '${objectType}', ${found} LIMIT ${MOST_OF_A_KIND})`,
  )
  .join(' UNION ALL ');

/** What an administrator should look at. */
export class AttentionStore implements TenantStore<AttentionStore> {
  /**
   * What is amiss now first, then what lasts longest. All is read, which is little, and a page of it returned: to count it by
   * a second statement would take as long again.
   * @param kinds @param severities null: any
   */
  async list(
    tx: Tx,
    organization: OrganizationId,
    kinds: readonly AttentionKind[] | null,
    severities: readonly AttentionSeverity[] | null,
    { page, size }: Slice,
  ): Promise<Sliced<AttentionRow>> {
    const all = await tx.query<AttentionRow[]>(
      `SELECT a.kind, a.severity, a.object_type AS "objectType", a.object_id AS "objectId", a.object_name AS "objectName",
         a.since, a.message
       FROM (${ALL}) a (kind, severity, object_type, object_id, object_name, since, message)
       WHERE ($2::text[] IS NULL OR a.kind = ANY ($2)) AND ($3::text[] IS NULL OR a.severity = ANY ($3))
       ORDER BY a.severity, a.since NULLS LAST, a.kind, a.object_id`,
      [organization, kinds, severities],
    );
    return { rows: all.slice(page * size, (page + 1) * size), total: all.length };
  }
}
