import type { OrganizationId, Room } from '#rules';
import { isKnownTo, writeQueue } from '#engine-store/port';
import {
  type AuditEntry,
  first,
  postgresErrorField,
  brokenConstraint,
  type TenantStore,
  type Tx,
} from '#entities';
import { ASK_GUARD, ASK_GUARD_ON_REQUEST, startParameters } from './session-start';
import { type AccountQueue, type NewSession, TooManyLiveSessions } from './session-rows';

/** A rule by its place. */
export interface PlacedRule {
  readonly targetId: string;
  readonly key: string;
}

/** What is known of a target that a plan concerns. */
export interface PlannedTarget {
  readonly targetId: string;
  /** null: no limit is known */
  readonly room: readonly Room[] | null;
  /** keys of those of the planned rules that are there, or may be */
  readonly present: readonly string[];
  /** null: its account is not known yet */
  readonly queue: AccountQueue | null;
}

/** What would happen if a session were started or stopped. Nothing is written. */
export class SessionPlanStore implements TenantStore<SessionPlanStore> {
  /**
   * Whether the start's own guard lets the session pass: as `SessionStore.start`, which returns null where this is false.
   * @throws TooManyLiveSessions
   */
  async mayStart(
    tx: Tx,
    organization: OrganizationId,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<boolean> {
    const statement = session.permission.accessRequestId === null ? ASK_GUARD : ASK_GUARD_ON_REQUEST;
    try {
      return (await first(tx, statement, startParameters(organization, session, [audit]))) !== null;
    } catch (error) {
      if (brokenConstraint(error) !== 'sessions_live_limit') throw error;
      throw new TooManyLiveSessions(session, postgresErrorField(error, 'detail') === 'service user');
    }
  }

  /** Those of the rules that another session or static IP rule of the organization holds. @param besides not this session */
  listHeld(
    tx: Tx,
    organization: OrganizationId,
    rules: readonly PlacedRule[],
    besides: string | null,
  ): Promise<PlacedRule[]> {
    return tx.query(
      `SELECT r.target_id AS "targetId", r.key FROM jsonb_to_recordset($2::jsonb) AS p("targetId" uuid, key text)
       JOIN rules r ON r.target_id = p."targetId" AND r.key = p.key
       WHERE EXISTS (SELECT FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
         WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.organization_id = $1
           AND ($3::uuid IS NULL OR ip.session_id IS DISTINCT FROM $3))`,
      [organization, JSON.stringify(rules), besides],
    );
  }

  /** Those of the rules' targets that the organization has proven write access to. */
  targets(tx: Tx, organization: OrganizationId, rules: readonly PlacedRule[]): Promise<PlannedTarget[]> {
    return tx.query(
      `WITH asked AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS p("targetId" uuid, key text)), known AS (
         SELECT t.* FROM targets t WHERE t.id IN (SELECT "targetId" FROM asked) AND ${isKnownTo('$1', 't.id')}
       ), queues AS (
         SELECT t.account_key, t.resource_type, ${writeQueue('now()')} AS queue
         FROM (SELECT DISTINCT account_key, provider, resource_type FROM known) t WHERE t.account_key IS NOT NULL
       )
       SELECT known.id AS "targetId", known.room, queues.queue, ARRAY(SELECT r.key FROM rules r JOIN asked
           ON asked."targetId" = r.target_id AND asked.key = r.key WHERE r.target_id = known.id AND r.state <> 'absent') AS present
       FROM known LEFT JOIN queues USING (account_key, resource_type)`,
      [organization, JSON.stringify(rules)],
    );
  }

  /** Unmanaged rules on those of the targets that the organization has proven write access to. */
  listUnmanaged(
    tx: Tx,
    organization: OrganizationId,
    targetIds: readonly string[],
  ): Promise<(PlacedRule & { readonly providerRuleId: string })[]> {
    return tx.query(
      `SELECT n.target_id AS "targetId", n.key, n.provider_rule_id AS "providerRuleId" FROM unmanaged_rules n
       WHERE n.target_id = ANY ($2::uuid[]) AND ${isKnownTo('$1', 'n.target_id')}
       ORDER BY n.key, n.provider_rule_id`,
      [organization, targetIds],
    );
  }

  /** The rules that a session holds, with their resources' names: those that no other one of the organization does. */
  listHeldAlone(
    tx: Tx,
    organization: OrganizationId,
    sessionId: string,
  ): Promise<(PlacedRule & { readonly resourceName: string })[]> {
    return tx.query(
      `SELECT DISTINCT r.target_id AS "targetId", r.key, coalesce(named.name, ip.resource_name) AS "resourceName"
       FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id AND h.released_at IS NULL
       JOIN rules r ON r.id = h.rule_id LEFT JOIN resources named ON named.id = ip.resource_id
       WHERE ip.organization_id = $1 AND ip.session_id = $2 AND NOT EXISTS (
         SELECT FROM rule_holders other JOIN resource_ips held ON held.id = other.resource_ip_id
         WHERE other.rule_id = r.id AND other.released_at IS NULL AND held.organization_id = $1
           AND held.session_id IS DISTINCT FROM $2)
       ORDER BY "resourceName", r.key`,
      [organization, sessionId],
    );
  }
}
