import type { OrganizationId, RemovalCause } from '#rules';
import { release, type WokenTargets } from '#engine-store/port';
import { type AskedSsoSignIn, hasAccess, type RefusedUser } from '../sso/sso-sign-in.store';
import type { SsoSignInStore } from '../sso/sso-sign-in.store';
import { endedEntry, endRequestsOf, withdrawApprovals } from '../requests/access-request-ends';
import { IS_RE_SIGN_IN_OVERDUE } from '../sso/due-sso-sign-in.store';
import {
  type AuditActor,
  type AuditEntry,
  type AuditEventType,
  AuditTrail,
  ENDED_AT,
  HOLDING,
  MAY_EXPIRE,
  SYSTEM_ACTOR,
  type TenantStore,
  Trial,
  type Tx,
  auditInsert,
  auditTable,
  first,
  rows,
  touches,
} from '#entities';
import { reaches } from '../roles/granted-sql';
import { lockUser } from '../accounts/lock-user';

/** SQL: one audit record for each row of `ended`; common fields are parameter $3, `own` has the row's fields. */
const recordEach = (tx: Tx, own: string): string =>
  auditInsert('$1', `(SELECT jsonb_agg($3::jsonb || jsonb_build_object(${own})) FROM ended)`, auditTable(tx));

interface SessionsOf {
  /** null: of everybody */
  readonly userId: string | null;
  /** only those that hold what one of these roles granted and no role of the user grants */
  readonly lostRoleIds?: readonly string[];
}

interface EndedSession {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
}

/** SQL: no issuer vouches for the user `u` of the organization $1 any more. */
const HAS_NO_SIGN_IN =
  'NOT EXISTS (SELECT FROM sso_sign_ins s WHERE s.organization_id = $1 AND s.user_id = u.id)';

/** SQL: what the session `s` holds by one of the roles `$3`, and no role of its user grants. */
const UNGRANTED = `SELECT FROM resource_ips ip CROSS JOIN unnest($3::uuid[]) lost(role_id)
  WHERE ip.session_id = s.id AND ip.status IN (${HOLDING}) AND ${reaches('lost.role_id', 'ip.resource_id')}
    AND NOT EXISTS (SELECT FROM role_users mine
      WHERE mine.user_id = s.user_id AND ${reaches('mine.role_id', 'ip.resource_id')})`;

/** SQL: the live sessions of `SessionsOf`. */
const LIVE_OF = `SELECT s.id FROM sessions s WHERE s.organization_id = $1 AND ($2::uuid IS NULL OR s.user_id = $2)
    AND s.status IN (${MAY_EXPIRE}) AND ($3::uuid[] IS NULL OR EXISTS (${UNGRANTED})) ORDER BY s.id`;

/** Ends everything that belongs to a deactivated or deleted user. */
export class OffboardingStore implements TenantStore<OffboardingStore> {
  private readonly audit = new AuditTrail();

  constructor(private readonly signIns: SsoSignInStore) {}

  /** Withdraws unused approvals, and ends live sessions, open access requests, API keys, refresh tokens, invitations and password resets. @returns the targets to wake */
  async end(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    actor: AuditActor,
  ): Promise<WokenTargets[]> {
    await this.withdraw(tx, organization, userId, actor);
    const woken = await this.stopSessions(tx, organization, { userId }, actor, 'USER_OFFBOARDED');
    const requests = await endRequestsOf(tx, organization, userId);
    if (requests.length > 0)
      await this.audit.write(tx, organization, ...requests.map((request) => endedEntry(actor, request)));
    await this.revokeKeys(tx, organization, userId, actor);
    await this.endTokens(tx, organization, userId);
    return woken;
  }

  /**
   * An issuer refused a sign-in, which ends. If it no longer vouches for the user, live sessions end with the last sign-in, and API
   * keys and session tokens are refused until the next company sign-in, but not revoked. If its own session is over, that waits for
   * as long as the organization allows. If an answer was lost, the refusal proves nothing, and access goes on.
   * @returns the targets to wake
   */
  async refuse(
    tx: Tx,
    organization: OrganizationId,
    user: RefusedUser,
    asked: AskedSsoSignIn,
    reason: 'REFUSED' | 'SESSION_OVER' | 'ANSWER_LOST',
  ): Promise<WokenTargets[]> {
    // its lock serializes the refusals of two sign-ins: one of them is the last
    if (!(await this.signIns.endAsked(tx, organization, user.id, asked))) return [];
    if (reason === 'REFUSED')
      return this.endAccess(tx, organization, user, 'REFUSED_BY_ISSUER', HAS_NO_SIGN_IN);
    const isOver = reason === 'SESSION_OVER';
    const accessEndsAt = isOver ? await this.awaitReSignIn(tx, organization, user.id) : null;
    await this.record(tx, organization, 'COMPANY_SIGN_IN_ENDED', user, { reason, accessEndsAt });
    return [];
  }

  /** Ends the access of a user who has not signed in again in time. @returns the targets to wake */
  endUnlessSignedIn(tx: Tx, organization: OrganizationId, user: RefusedUser): Promise<WokenTargets[]> {
    return this.endAccess(tx, organization, user, 'NOT_SIGNED_IN_AGAIN', IS_RE_SIGN_IN_OVERDUE);
  }

  /** @returns when the user's access ends; null: another sign-in vouches for it, or there is none */
  private async awaitReSignIn(tx: Tx, organization: OrganizationId, userId: string): Promise<Date | null> {
    const ending = await first<{ at: Date }>(
      tx,
      `UPDATE users u SET sso_session_over_at = coalesce(u.sso_session_over_at, now())
       FROM organizations o, (SELECT $1::uuid AS organization_id, $2::uuid AS user_id) whose
       WHERE u.organization_id = $1 AND u.id = $2 AND o.id = $1 AND u.sso_refused_at IS NULL AND ${HAS_NO_SIGN_IN}
         AND ${hasAccess('whose')}
       RETURNING u.sso_session_over_at + make_interval(hours => o.re_sign_in_grace_hours) AS at`,
      [organization, userId],
    );
    return ending?.at ?? null;
  }

  /** @param condition SQL, on the user `u` of the organization `o` */
  private async endAccess(
    tx: Tx,
    organization: OrganizationId,
    user: RefusedUser,
    cause: 'REFUSED_BY_ISSUER' | 'NOT_SIGNED_IN_AGAIN',
    condition: string,
  ): Promise<WokenTargets[]> {
    const isRefused = await touches(
      tx,
      `UPDATE users u SET sso_refused_at = coalesce(sso_refused_at, now()), sso_session_over_at = NULL
       FROM organizations o WHERE u.organization_id = $1 AND u.id = $2 AND o.id = $1 AND ${condition} RETURNING u.id`,
      [organization, user.id],
    );
    if (!isRefused) return [];
    await this.withdraw(tx, organization, user.id, SYSTEM_ACTOR);
    const woken = await this.stopSessions(tx, organization, { userId: user.id }, SYSTEM_ACTOR, cause);
    await this.record(tx, organization, `USER_${cause}`, user, {});
    return woken;
  }

  private record(
    tx: Tx,
    organization: OrganizationId,
    eventType: AuditEventType,
    { id, email, identityProvider }: RefusedUser,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    return this.audit.write(tx, organization, {
      ...SYSTEM_ACTOR,
      eventType,
      resourceType: 'USER',
      resourceId: id,
      resourceName: email,
      details: { identityProvider, ...details },
    });
  }

  /**
   * The approvals of a user who has left or is locked down, or the one of a request that is taken back. Locks the approver,
   * before any rule is locked.
   * @returns whether there was one that no session has used
   */
  async withdraw(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    actor: AuditActor,
    requestId: string | null = null,
  ): Promise<boolean> {
    await lockUser(tx, organization, userId);
    const withdrawn = await withdrawApprovals(tx, organization, userId, requestId);
    if (withdrawn.length > 0)
      await this.audit.write(tx, organization, ...withdrawn.map((request) => endedEntry(actor, request)));
    return withdrawn.length > 0;
  }

  /** Whether an issuer no longer vouches for the user, who then starts no session: its lock serializes that with `refuse`. */
  isRefused(tx: Tx, organization: OrganizationId, userId: string): Promise<boolean> {
    return touches(
      tx,
      'SELECT FROM users WHERE organization_id = $1 AND id = $2 AND sso_refused_at IS NOT NULL',
      [organization, userId],
    );
  }

  /** Stops live sessions that hold what a role granted that an issuer took, and no role of the user grants. @returns the targets to wake */
  endUngranted(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    lostRoleIds: readonly string[],
  ): Promise<WokenTargets[]> {
    return this.stopSessions(tx, organization, { userId, lostRoleIds }, SYSTEM_ACTOR, 'ROLE_LOST');
  }

  private async stopSessions(
    tx: Tx,
    organization: OrganizationId,
    whose: SessionsOf,
    actor: AuditActor,
    cause: RemovalCause,
  ): Promise<WokenTargets[]> {
    const sessionIds = await this.endSessions(tx, organization, whose, actor, cause);
    return sessionIds.length === 0 ? [] : release(tx, cause, { sessionIds });
  }

  /**
   * Ends live sessions, as an admin's stop does. They are locked in the order of every writer. The caller releases what
   * they hold.
   * @returns their ids
   */
  async endSessions(
    tx: Tx,
    organization: OrganizationId,
    { userId, lostRoleIds }: SessionsOf,
    actor: AuditActor,
    cause: RemovalCause,
  ): Promise<string[]> {
    const trial = Trial.current;
    if (trial) {
      const live = await rows<{ id: string }>(tx, LIVE_OF, [organization, userId, lostRoleIds ?? null]);
      for (const { id } of live) trial.sessionIds.add(id);
      return live.map(({ id }) => id);
    }
    const ended = await rows<EndedSession>(
      tx,
      `WITH live AS MATERIALIZED (${LIVE_OF} FOR NO KEY UPDATE)
       UPDATE sessions s SET status = 'EXPIRING', ended_at = ${ENDED_AT}, ended_reason = 'ADMIN', ended_cause = $4
       FROM users u WHERE s.id IN (SELECT id FROM live) AND s.status IN (${MAY_EXPIRE}) AND u.id = s.user_id
       RETURNING s.id, u.id AS "userId", u.email, s.ipv4_address AS "ipv4Address", s.ipv6_address AS "ipv6Address"`,
      [organization, userId, lostRoleIds ?? null, cause],
    );
    const records = ended.map(({ id, userId: owner, email, ipv4Address, ipv6Address }): AuditEntry => ({
      ...actor,
      eventType: 'SESSION_STOPPED',
      resourceType: 'SESSION',
      resourceId: id,
      resourceName: email,
      details: { sessionId: id, userId: owner, ipv4Address, ipv6Address, reason: 'ADMIN', cause },
    }));
    if (records.length > 0) await this.audit.write(tx, organization, ...records);
    return ended.map(({ id }) => id);
  }

  private async revokeKeys(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    actor: AuditActor,
  ): Promise<void> {
    const shared = { ...actor, eventType: 'API_KEY_REVOKED', resourceType: 'API_KEY' };
    await tx.query(
      `WITH ended AS (
         UPDATE api_keys SET revoked_at = now()
         WHERE organization_id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING id, name
       ) ${recordEach(tx, `'resourceId', id, 'resourceName', name`)}`,
      [organization, userId, JSON.stringify(shared)],
    );
  }

  /** Revokes refresh tokens, invitations and password resets, and deletes known devices. */
  private async endTokens(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    await tx.query(
      `WITH refresh AS (
         UPDATE refresh_tokens SET revoked_at = now()
         WHERE organization_id = $1 AND user_id = $2 AND revoked_at IS NULL
       ), devices AS (
         DELETE FROM known_devices WHERE organization_id = $1 AND user_id = $2
       )
       UPDATE account_tokens SET used_at = now()
       WHERE organization_id = $1 AND user_id = $2 AND used_at IS NULL`,
      [organization, userId],
    );
  }

  async removeFromRoles(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    await tx.query('DELETE FROM role_users WHERE organization_id = $1 AND user_id = $2', [
      organization,
      userId,
    ]);
  }
}
