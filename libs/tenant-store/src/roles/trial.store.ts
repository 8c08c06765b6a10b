import type { OrganizationId } from '#rules';
import { HOLDING, LIVE, type TenantStore, type Trial, type Tx, first, rows } from '#entities';
import { reaches, resourcesOf } from './granted-sql';

/** SQL: the memberships `held` that an act on the objects $2 may change, or change what they give. */
const HELD = {
  role: 'held.role_id = ANY ($2::uuid[])',
  resource: `held.role_id IN (SELECT r.id FROM roles r, unnest($2::uuid[]) changed
    WHERE r.organization_id = $1 AND ${reaches('r.id', 'changed')})`,
  user: 'held.user_id = ANY ($2::uuid[])',
  provider: 'held.given_by_provider_id = ANY ($2::uuid[])',
};

export type TrialSubjectKind = keyof typeof HELD;

/** The objects that an act is on. */
export interface TrialSubject {
  readonly kind: TrialSubjectKind;
  readonly ids: readonly string[];
}

/** Whose rights on what an act may change. */
export interface RightsScope {
  readonly userIds: readonly string[];
  readonly resourceIds: readonly string[];
}

export interface NotedEffects {
  readonly sessions: number;
  readonly people: number;
  readonly jobs: number;
  /** that the organization holds no more */
  readonly rules: number;
  /** rules that the organization did not hold before */
  readonly opened: number;
  /** sessions that stay open though the right is lost; null: unknown rights */
  readonly continuing: number | null;
  readonly sample: {
    readonly kind: 'SESSION' | 'STATIC_IP_RULE';
    readonly id: string;
    readonly name: string;
  }[];
}

/** SQL: a holder `h` in the organization of the rule `r`. */
const HOLDER = `SELECT FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
    WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.organization_id = $1`;

/** What trials compare and count. */
export class TrialStore implements TenantStore<TrialStore> {
  /** @param subject null: no rights change */
  async scope(tx: Tx, organization: OrganizationId, subject: TrialSubject | null): Promise<RightsScope> {
    if (!subject) return { userIds: [], resourceIds: [] };
    const reached = `SELECT DISTINCT reached.id FROM (SELECT DISTINCT role_id FROM members) role
      CROSS JOIN LATERAL ${resourcesOf('role.role_id')} reached`;
    const scope = await first<RightsScope>(
      tx,
      `WITH members AS (SELECT user_id, role_id FROM role_users held WHERE organization_id = $1 AND ${HELD[subject.kind]})
       SELECT ARRAY(SELECT DISTINCT user_id FROM members) AS "userIds",
         ${subject.kind === 'resource' ? '$2::uuid[]' : `ARRAY(${reached})`} AS "resourceIds"`,
      [organization, subject.ids],
    );
    return scope!;
  }

  /** Which of the users may open which of the resources, where both are active: `<user id> <resource id>`. */
  async rights(tx: Tx, organization: OrganizationId, scope: RightsScope): Promise<string[]> {
    const rights = await rows<{ pair: string }>(
      tx,
      `WITH reach AS MATERIALIZED (
         SELECT role.id AS role_id, r.id FROM roles role CROSS JOIN LATERAL ${resourcesOf('role.id')} reached
         JOIN resources r ON r.id = reached.id AND r.is_active AND r.deleted_at IS NULL
         WHERE role.organization_id = $1 AND r.id = ANY ($3::uuid[])
       )
       SELECT DISTINCT u.id || ' ' || reach.id AS pair FROM role_users held JOIN reach ON reach.role_id = held.role_id
       JOIN users u ON u.id = held.user_id AND u.is_active AND u.deleted_at IS NULL
       WHERE held.organization_id = $1 AND u.id = ANY ($2::uuid[])`,
      [organization, scope.userIds, scope.resourceIds],
    );
    return rights.map(({ pair }) => pair);
  }

  /** @param pairs of `rights` */
  listNamed(
    tx: Tx,
    organization: OrganizationId,
    pairs: readonly string[],
  ): Promise<Readonly<Record<'userId' | 'email' | 'resourceId' | 'resourceName', string>>[]> {
    return tx.query(
      `SELECT u.id AS "userId", u.email, r.id AS "resourceId", r.name AS "resourceName"
       FROM unnest($2::text[]) pair JOIN users u ON u.organization_id = $1 AND u.id = split_part(pair, ' ', 1)::uuid
       JOIN resources r ON r.organization_id = $1 AND r.id = split_part(pair, ' ', 2)::uuid ORDER BY u.email, r.name, r.id`,
      [organization, pairs],
    );
  }

  /** Call it when what the trial did is undone. @param lost of `rights`; null: unknown */
  async effects(
    tx: Tx,
    organization: OrganizationId,
    trial: Trial,
    lost: readonly string[] | null,
  ): Promise<NotedEffects> {
    const noted = await first<NotedEffects>(
      tx,
      `WITH released AS (SELECT * FROM jsonb_to_recordset($3::jsonb) AS r("ruleId" uuid, "resourceIpId" uuid)),
         desired AS (SELECT DISTINCT * FROM jsonb_to_recordset($4::jsonb) AS d("targetId" uuid, key text)),
         ended AS (SELECT s.id, u.id AS user_id, u.email, u.is_service OR s.api_key_id IS NOT NULL AS is_job
           FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.organization_id = $1 AND s.id = ANY ($2::uuid[]))
       SELECT count(*)::int AS sessions, count(*) FILTER (WHERE is_job)::int AS jobs,
         count(DISTINCT user_id) FILTER (WHERE NOT is_job)::int AS people, (
         SELECT count(DISTINCT r.id)::int FROM released JOIN rules r ON r.id = "ruleId"
         WHERE (r.target_id, r.key) NOT IN (SELECT * FROM desired) AND NOT EXISTS (${HOLDER}
           AND (h.rule_id, h.resource_ip_id) NOT IN (SELECT * FROM released))) AS rules, (
         SELECT count(*)::int FROM desired d WHERE NOT EXISTS (SELECT FROM rules r
           WHERE r.target_id = d."targetId" AND r.key = d.key AND EXISTS (${HOLDER}))) AS opened, (
         SELECT CASE WHEN $6::text[] IS NOT NULL THEN count(DISTINCT s.id)::int END FROM sessions s
         JOIN resource_ips ip ON ip.session_id = s.id AND ip.status IN (${HOLDING})
         JOIN unnest($6::text[]) lost ON lost = s.user_id || ' ' || ip.resource_id
         WHERE s.organization_id = $1 AND s.status IN (${LIVE}) AND s.id NOT IN (SELECT id FROM ended)) AS continuing, ARRAY(
         SELECT jsonb_build_object('kind', kind, 'id', id, 'name', name) FROM (
           SELECT 'SESSION' AS kind, id, email AS name FROM ended UNION ALL SELECT 'STATIC_IP_RULE', id, label
           FROM static_ip_rules WHERE organization_id = $1 AND id = ANY ($5::uuid[])) one
         ORDER BY kind, name, id LIMIT 50) AS sample
       FROM ended`,
      [
        organization,
        [...trial.sessionIds],
        JSON.stringify(trial.released),
        JSON.stringify(trial.desired),
        [...trial.staticIpRuleIds],
        lost,
      ],
    );
    return noted!;
  }
}
