import type { EndedReason, OrganizationId, RemovalCause } from '#rules';
import {
  type GrantRow,
  type NewSession,
  type SessionFilter,
  type SessionRow,
  type StoppedSession,
  TooManyLiveSessions,
} from './session-rows';
import { ALL_IN_PLACE, OPEN, PLACES, release, newHoldersJson } from '#engine-store/port';
import {
  type AuditEntry,
  AuditTrail,
  HOLDING,
  LIVE,
  MAY_EXPIRE,
  type PreparedStatement,
  type Slice,
  type Sliced,
  type TenantStore,
  type Trail,
  type Tx,
  auditInsert,
  auditJson,
  brokenConstraint,
  prepared,
  returned,
  saidByPostgres,
  sliced,
} from '#entities';

const IP_COLUMNS = `'id', ip.id, 'resourceId', ip.resource_id, 'resourceName', coalesce(r.name, ip.resource_name), 'ipVersion', ip.ip_version,
  'ipAddress', ip.ip_address, 'status', ip.status, 'providerRuleId', ip.provider_rule_id, 'appliedAt', ip.applied_at,
  'removedAt', ip.removed_at, 'errorMessage', ip.error_message`;

const COLUMNS = `s.id, s.user_id AS "userId", u.name AS "userName", u.email AS "userEmail", s.holder,
    s.ipv4_address AS "ipv4Address", s.ipv6_address AS "ipv6Address", s.status, s.started_at AS "startedAt",
    s.expires_at AS "expiresAt", s.ended_at AS "endedAt", s.ended_reason AS "endedReason",
    s.created_at AS "createdAt"`;

const SELECT = `SELECT ${COLUMNS},
    ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM resource_ips ip LEFT JOIN resources r ON r.id = ip.resource_id
      WHERE ip.session_id = s.id ORDER BY coalesce(r.name, ip.resource_name), ip.ip_version, ip.id) AS "resourceIps"
  FROM sessions s JOIN users u ON u.id = s.user_id`;

const GRANTS: PreparedStatement = {
  name: 'grants',
  text: `SELECT r.id AS "resourceId", r.name AS "resourceName", r.is_active AS "isActive", r.revision,
         r.provider, r.resource_type AS "resourceType", r.target_id AS "targetId", r.config,
         coalesce(jsonb_agg(jsonb_build_object('name', role.name,
           'maxSessionDurationHours', role.max_session_duration_hours)) FILTER (WHERE role.id IS NOT NULL), '[]') AS roles
       FROM resources r
       LEFT JOIN role_resources held ON held.resource_id = r.id
         AND held.role_id IN (SELECT role_id FROM role_users WHERE user_id = $2)
       LEFT JOIN roles role ON role.id = held.role_id
       WHERE r.organization_id = $1 AND r.deleted_at IS NULL AND (held.role_id IS NOT NULL OR r.id = ANY ($3::uuid[]))
       GROUP BY r.id ORDER BY r.name, r.id`,
};

const STOP_CAUSES = {
  MANUAL: 'SESSION_STOPPED',
  ADMIN: 'SESSION_STOPPED_BY_ADMIN',
} as const satisfies Record<Exclude<EndedReason, 'EXPIRED'>, RemovalCause>;

export class SessionStore implements TenantStore<SessionStore> {
  private readonly audit = new AuditTrail();

  /** The user's resources, and of the asked ones also those that are not the user's, with no roles. */
  grants(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    asked: readonly string[],
  ): Promise<GrantRow[]> {
    return prepared(tx, GRANTS, [organization, userId, asked]);
  }

  /**
   * One statement, one commit: the session, its addresses, the cloud rules they want, the audit record.
   * @returns `taken` when a live session of the user holds one of the addresses: a constraint decides; `moved` when a
   *   resource is not any more what the openings were planned for, or the user was deactivated meanwhile
   * @throws TooManyLiveSessions when the user has as many as the limit: the user's lock makes starts count in turn
   */
  async start(
    tx: Tx,
    organization: OrganizationId,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<SessionRow | 'taken' | 'moved'> {
    const { ips, wants } = newHoldersJson(session.openings);
    try {
      const [started] = await prepared<SessionRow>(tx, START_SESSION, [
        organization,
        session.id,
        session.userId,
        session.holder,
        session.ipv4Address,
        session.ipv6Address,
        session.hours,
        ips,
        wants,
        auditJson(audit),
        session.limits.perUser,
        session.limits.perServiceUser,
      ]);
      return started ?? 'moved';
    } catch (error) {
      if (brokenConstraint(error)?.startsWith('sessions_one_live_per_')) return 'taken';
      if (brokenConstraint(error) === 'sessions_live_limit') {
        throw new TooManyLiveSessions(session, saidByPostgres(error, 'detail') === 'service user');
      }
      throw error;
    }
  }

  /** The live session that keeps a user from starting another with these addresses. */
  async liveSession(
    tx: Tx,
    organization: OrganizationId,
    like: Pick<NewSession, 'userId' | 'holder' | 'ipv4Address' | 'ipv6Address'>,
  ): Promise<{ id: string } | null> {
    const [row] = await tx.query<{ id: string }[]>(
      `SELECT id FROM sessions WHERE organization_id = $1 AND user_id = $2 AND holder = $3
         AND status IN (${LIVE}) AND (ipv4_address = $4 OR ipv6_address = $5) LIMIT 1`,
      [organization, like.userId, like.holder, like.ipv4Address, like.ipv6Address],
    );
    return row ?? null;
  }

  async find(tx: Tx, organization: OrganizationId, id: string): Promise<SessionRow | null> {
    const [row] = await tx.query<SessionRow[]>(`${SELECT} WHERE s.organization_id = $1 AND s.id = $2`, [
      organization,
      id,
    ]);
    return row ?? null;
  }

  /** Newest first. */
  list(
    tx: Tx,
    organization: OrganizationId,
    filter: SessionFilter,
    slice: Slice,
  ): Promise<Sliced<SessionRow>> {
    const where = `WHERE s.organization_id = $1 AND ($2::uuid IS NULL OR s.user_id = $2)
      AND ($3::uuid IS NULL OR EXISTS (SELECT FROM resource_ips f WHERE f.session_id = s.id AND f.resource_id = $3))
      AND ($4::text[] IS NULL OR s.status = ANY ($4))
      AND ($5::timestamptz IS NULL OR coalesce(s.ended_at, s.expires_at) >= $5)
      AND ($6::timestamptz IS NULL OR s.started_at <= $6)`;
    const given = [
      organization,
      filter.userId ?? null,
      filter.resourceId ?? null,
      filter.statuses ?? null,
      filter.from,
      filter.to,
    ];
    return sliced(
      tx,
      { counted: `FROM sessions s ${where}`, rows: `${SELECT} ${where} ORDER BY s.created_at DESC, s.id` },
      given,
      slice,
    );
  }

  /**
   * Moves the end later, if the session is live and not over, the whole stays within the maximum, and the user still has
   * each resource that the session holds. The update and the sweep that expires sessions take the same row: one of them
   * sees what the other did.
   * @param tierHours the longest session of the organization's plan
   * @returns `refused` when a grant is missing or the maximum is exceeded
   */
  async extend(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    additionalHours: number,
    tierHours: number,
    audit: AuditEntry,
  ): Promise<'extended' | 'over' | 'refused'> {
    const [extended] = await tx.query<unknown[]>(
      `WITH extended AS (
         UPDATE sessions s SET expires_at = expires_at + make_interval(hours => $3)
         WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE}) AND expires_at > clock_timestamp()
           AND expires_at + make_interval(hours => $3) <= started_at + make_interval(hours => $4)
           AND NOT EXISTS (${UNGRANTED}) RETURNING id
       ), audit AS (${auditInsert('$1', '$5')} WHERE EXISTS (SELECT FROM extended)), ${PROLONG}
       SELECT id FROM extended`,
      [organization, id, additionalHours, tierHours, auditJson(audit)],
    );
    if (extended) return 'extended';
    const [live] = await tx.query<unknown[]>(
      `SELECT 1 FROM sessions WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE})
         AND expires_at > clock_timestamp()`,
      [organization, id],
    );
    return live ? 'refused' : 'over';
  }

  /** Ends a live session: its holders are released. Call it in a transaction. @returns null when not live */
  async stop(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    reason: Exclude<EndedReason, 'EXPIRED'>,
    audit: AuditEntry,
    trail: Trail,
  ): Promise<StoppedSession | null> {
    const ended = returned<{ id: string }>(
      await tx.query(
        `UPDATE sessions SET status = 'EXPIRING', ended_at = now(), ended_reason = $3
         WHERE organization_id = $1 AND id = $2 AND status IN (${MAY_EXPIRE}) RETURNING id`,
        [organization, id, reason],
      ),
    );
    if (ended.length === 0) return null;
    const targets = await release(tx, STOP_CAUSES[reason], { sessionIds: [id] });
    await this.audit.writeClosing(tx, organization, trail, audit);
    return { sessionId: id, targets };
  }
}

/**
 * What the session `s` holds and no role of its user allows for as long as it would last with `$3` more hours; a role
 * without hours of its own allows `$4`.
 */
const UNGRANTED = `SELECT FROM resource_ips ip
    LEFT JOIN resources r ON r.id = ip.resource_id AND r.is_active AND r.deleted_at IS NULL
    WHERE ip.session_id = s.id AND ip.status IN (${HOLDING}) AND NOT EXISTS (
      SELECT FROM role_resources held JOIN roles role ON role.id = held.role_id
      JOIN role_users mine ON mine.role_id = held.role_id AND mine.user_id = s.user_id
      WHERE held.resource_id = r.id AND s.expires_at + make_interval(hours => $3)
        <= s.started_at + make_interval(hours => coalesce(role.max_session_duration_hours, $4)))`;

/** CTE `prolonged`: an agent keeps the end of every rule by itself, and is to learn of a later one. */
const PROLONG = `prolonged AS (
    UPDATE rules SET revision = revision + 1 WHERE id IN (
      SELECT holder.rule_id FROM extended JOIN resource_ips ip ON ip.session_id = extended.id
      JOIN resources r ON r.id = ip.resource_id JOIN rule_holders holder ON holder.resource_ip_id = ip.id
      WHERE r.provider = 'AGENT' AND ip.status IN (${HOLDING}))
  )`;

/**
 * `limit_live_sessions` locks the user: a deactivation comes before the start, which then starts nothing, or after it
 * and ends it; and starts of one user count each other.
 */
const START_SESSION: PreparedStatement = {
  name: 'start-session',
  text: `WITH ${PLACES('$8')}, owner AS (
    INSERT INTO sessions (id, organization_id, user_id, holder, ipv4_address, ipv6_address, expires_at)
    SELECT $2::uuid, $1, u.id, $4, $5, $6, now() + make_interval(hours => $7) FROM users u
    WHERE u.organization_id = $1 AND u.id = $3 AND ${ALL_IN_PLACE} AND limit_live_sessions(u.id, $11, $12)
    RETURNING *
  ), ${OPEN('$9')}, audit AS (${auditInsert('$1', '$10')} WHERE EXISTS (SELECT FROM owner))
  SELECT ${COLUMNS},
    ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM ip JOIN resources r ON r.id = ip.resource_id
      ORDER BY r.name, ip.ip_version, ip.id) AS "resourceIps"
  FROM owner s JOIN users u ON u.id = s.user_id`,
};
