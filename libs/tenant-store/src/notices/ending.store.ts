import { grouped, type OrganizationId } from '#rules';
import {
  type AuditEntry,
  AuditTrail,
  ENDS_AT,
  MAY_EXPIRE,
  STATIC_RULE_MAY_END,
  SYSTEM_ACTOR,
  type Tx,
  rows,
} from '#entities';

/** SQL: when people are notified of the end of a session: before its last tenth, ten minutes at least. */
const IS_ENDING = `expires_at <= now() + greatest(interval '10 minutes', (expires_at - started_at) / 10)`;
/** SQL: no session is so long that a tenth of it is longer. */
const LONGEST_TENTH = `interval '150 minutes'`;
/** SQL: a week before, or in the last tenth of a shorter life. */
const WEEK_BEFORE = `expires_at <= now() + least(interval '7 days', (expires_at - created_at) / 10)`;

const LASTING = {
  API_KEY: { table: 'api_keys', mayEnd: 'revoked_at IS NULL', name: 'name', details: `'userId', user_id` },
  STATIC_IP_RULE: {
    table: 'static_ip_rules',
    mayEnd: STATIC_RULE_MAY_END,
    name: 'label',
    details: `'ipAddress', ip_address, 'createdByEmail', created_by_email`,
  },
} as const;

interface Ending {
  readonly organizationId: OrganizationId;
  readonly id: string;
  readonly name: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Ends that come soon, each recorded once. Serves all organizations: each row names its own. */
export class EndingStore {
  private readonly audit = new AuditTrail();

  /**
   * Records the sessions that end soon. One that is extended afterwards is recorded again. Reads sessions that end within
   * hours. Call it in a transaction.
   * @returns how many
   */
  async recordSessions(tx: Tx, limit: number): Promise<number> {
    const ending = await rows<Ending>(
      tx,
      `UPDATE sessions s SET told_end = s.expires_at FROM users u
       WHERE u.id = s.user_id AND s.id IN (
         SELECT id FROM sessions WHERE status IN (${MAY_EXPIRE}) AND ${ENDS_AT} <= now() + ${LONGEST_TENTH}
           AND told_end IS DISTINCT FROM expires_at AND expires_at > now() AND ${IS_ENDING}
         ORDER BY ${ENDS_AT} LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
       RETURNING s.organization_id AS "organizationId", s.id, u.email AS name, jsonb_build_object('sessionId', s.id,
         'userId', s.user_id, 'ipv4Address', s.ipv4_address, 'ipv6Address', s.ipv6_address, 'expiresAt', s.expires_at,
         'resources', to_jsonb(ARRAY(SELECT DISTINCT jsonb_build_object('id', ip.resource_id, 'name', ip.resource_name)
           FROM resource_ips ip WHERE ip.session_id = s.id))) AS details`,
      [limit],
    );
    return this.record(tx, ending, { eventType: 'SESSION_EXPIRING', resourceType: 'SESSION' });
  }

  /** Records the API keys or the static IP rules that end soon. Reads these alone. Call it in a transaction. @returns how many */
  async recordLasting(tx: Tx, limit: number, resourceType: keyof typeof LASTING): Promise<number> {
    const { table, mayEnd, name, details } = LASTING[resourceType];
    const ending = await rows<Ending>(
      tx,
      `UPDATE ${table} SET told_end = expires_at WHERE id IN (
         SELECT id FROM ${table} WHERE ${mayEnd} AND told_end IS DISTINCT FROM expires_at
           AND expires_at <= now() + interval '7 days' AND ${WEEK_BEFORE}
         ORDER BY expires_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
       RETURNING organization_id AS "organizationId", id, ${name} AS name,
         jsonb_build_object(${details}, 'expiresAt', expires_at) AS details`,
      [limit],
    );
    return this.record(tx, ending, { eventType: `${resourceType}_EXPIRING`, resourceType });
  }

  private async record(
    tx: Tx,
    ending: readonly Ending[],
    what: Pick<AuditEntry, 'eventType' | 'resourceType'>,
  ): Promise<number> {
    for (const [organization, own] of grouped(ending, ({ organizationId }) => organizationId)) {
      const entries = own.map(({ id: resourceId, name: resourceName, details }): AuditEntry => {
        return { ...SYSTEM_ACTOR, ...what, resourceId, resourceName, details };
      });
      await this.audit.write(tx, organization, ...entries);
    }
    return ending.length;
  }
}
