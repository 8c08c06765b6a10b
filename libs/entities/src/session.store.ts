import type {
  EndedReason,
  IpVersion,
  OrganizationId,
  Provider,
  ResourceConfig,
  ResourceIpStatus,
  SessionStatus,
} from '#rules';
import { auditInsert, auditJson, type AuditEntry } from './audit.store';
import type { Trail } from './closing';
import { brokenConstraint, prepared, type PreparedStatement, type Tx } from './database';
import {
  ALL_IN_PLACE,
  OPEN,
  openingsJson,
  PLACES,
  RELEASE,
  wokenTargets,
  type NewOpening,
  type WokenTargets,
} from './openings';
import { sliced, type Slice, type Sliced } from './slice';
import { HOLDING, LIVE, MAY_EXPIRE } from './status-lists';
import type { TenantStore } from './tenant-store';

export interface ResourceIpRow {
  readonly id: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly ipVersion: IpVersion;
  readonly ipAddress: string;
  readonly status: ResourceIpStatus;
  readonly providerRuleId: string | null;
  /** ISO 8601, as every time below a session */
  readonly appliedAt: string | null;
  readonly removedAt: string | null;
  readonly errorMessage: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly userId: string;
  readonly userName: string;
  readonly userEmail: string;
  readonly holder: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
  readonly status: SessionStatus;
  readonly startedAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly endedReason: EndedReason | null;
  readonly createdAt: Date;
  readonly resourceIps: ResourceIpRow[];
}

/** A resource of the organization, with what the user's active roles allow on it; no roles: not the user's. */
export interface GrantRow {
  readonly resourceId: string;
  readonly resourceName: string;
  readonly isActive: boolean;
  readonly revision: number;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly targetId: string;
  readonly config: ResourceConfig;
  readonly roles: { name: string; maxSessionDurationHours: number | null }[];
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly holder: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
  readonly hours: number;
  readonly openings: readonly NewOpening[];
}

export interface SessionFilter {
  readonly userId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly statuses?: readonly SessionStatus[] | undefined;
}

/** A session that was ended, and the cloud objects its rules are in. */
export interface StoppedSession {
  readonly sessionId: string;
  readonly targets: WokenTargets[];
}

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

export class SessionStore implements TenantStore<SessionStore> {
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
   */
  async start(
    tx: Tx,
    organization: OrganizationId,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<SessionRow | 'taken' | 'moved'> {
    const { ips, wants } = openingsJson(session.openings);
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
      ]);
      return started ?? 'moved';
    } catch (error) {
      if (brokenConstraint(error)?.startsWith('sessions_one_live_per_')) return 'taken';
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
      AND ($4::text[] IS NULL OR s.status = ANY ($4))`;
    const given = [organization, filter.userId ?? null, filter.resourceId ?? null, filter.statuses ?? null];
    return sliced(
      tx,
      { counted: `FROM sessions s ${where}`, rows: `${SELECT} ${where} ORDER BY s.created_at DESC, s.id` },
      given,
      slice,
    );
  }

  /**
   * Moves the end later, if the session is live and not over, and the whole stays within the maximum. The update
   * and the sweep that expires sessions take the same row: one of them sees what the other did.
   */
  async extend(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    additionalHours: number,
    maximumHours: number,
    audit: AuditEntry,
  ): Promise<'extended' | 'over' | 'beyond-maximum'> {
    const [extended] = await tx.query<unknown[]>(
      `WITH extended AS (
         UPDATE sessions SET expires_at = expires_at + make_interval(hours => $3)
         WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE}) AND expires_at > clock_timestamp()
           AND expires_at + make_interval(hours => $3) <= started_at + make_interval(hours => $4) RETURNING id
       ), audit AS (${auditInsert('$1', '$5')} WHERE EXISTS (SELECT FROM extended)), ${PROLONG}
       SELECT id FROM extended`,
      [organization, id, additionalHours, maximumHours, auditJson(audit)],
    );
    if (extended) return 'extended';
    const [live] = await tx.query<unknown[]>(
      `SELECT 1 FROM sessions WHERE organization_id = $1 AND id = $2 AND status IN (${LIVE})
         AND expires_at > clock_timestamp()`,
      [organization, id],
    );
    return live ? 'beyond-maximum' : 'over';
  }

  /** Ends a live session: its addresses stop holding their rules, which become due. @returns null when not live */
  async stop(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    reason: Exclude<EndedReason, 'EXPIRED'>,
    audit: AuditEntry,
    trail: Trail,
  ): Promise<StoppedSession | null> {
    const [stopped] = await tx.query<StoppedSession[]>(
      `WITH ended AS (
         UPDATE sessions SET status = 'EXPIRING', ended_at = now(), ended_reason = $3
         WHERE organization_id = $1 AND id = $2 AND status IN (${MAY_EXPIRE}) RETURNING id
       ), ${RELEASE}, audit AS (${auditInsert('$1', '$4', trail)} WHERE EXISTS (SELECT FROM ended))
       SELECT ended.id AS "sessionId", ${wokenTargets('SELECT target_id FROM due')} AS targets FROM ended`,
      [organization, id, reason, auditJson(audit)],
    );
    return stopped ?? null;
  }
}

/** CTE `prolonged`: an agent keeps the end of every rule by itself, and is to learn of a later one. */
const PROLONG = `prolonged AS (
    UPDATE rules SET revision = revision + 1 WHERE id IN (
      SELECT holder.rule_id FROM extended JOIN resource_ips ip ON ip.session_id = extended.id
      JOIN resources r ON r.id = ip.resource_id JOIN rule_holders holder ON holder.resource_ip_id = ip.id
      WHERE r.provider = 'AGENT' AND ip.status IN (${HOLDING}))
  )`;

/** The user's lock makes a deactivation come before the start, which then starts nothing, or after it and end it. */
const START_SESSION: PreparedStatement = {
  name: 'start-session',
  text: `WITH ${PLACES('$8')}, owner AS (
    INSERT INTO sessions (id, organization_id, user_id, holder, ipv4_address, ipv6_address, expires_at)
    SELECT $2::uuid, $1, u.id, $4, $5, $6, now() + make_interval(hours => $7) FROM users u
    WHERE u.organization_id = $1 AND u.id = $3 AND u.is_active AND ${ALL_IN_PLACE} FOR SHARE
    RETURNING *
  ), ${OPEN('session_id', '$9')}, audit AS (${auditInsert('$1', '$10')} WHERE EXISTS (SELECT FROM owner))
  SELECT ${COLUMNS},
    ARRAY(SELECT jsonb_build_object(${IP_COLUMNS}) FROM ip JOIN resources r ON r.id = ip.resource_id
      ORDER BY r.name, ip.ip_version, ip.id) AS "resourceIps"
  FROM owner s JOIN users u ON u.id = s.user_id`,
};
