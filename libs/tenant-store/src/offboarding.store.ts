import type { OrganizationId } from '#rules';
import { release, type WokenTargets } from '#engine-store/port';
import {
  type AuditActor,
  type AuditEntry,
  AuditTrail,
  MAY_EXPIRE,
  type TenantStore,
  type Tx,
  auditInsert,
  auditTable,
  rows,
} from '#entities';

/** SQL: one audit record for each row of `ended`; common fields are parameter $3, `own` has the row's fields. */
const recordEach = (tx: Tx, own: string): string =>
  auditInsert('$1', `(SELECT jsonb_agg($3::jsonb || jsonb_build_object(${own})) FROM ended)`, auditTable(tx));

interface EndedSession {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
}

/** Ends everything that belongs to a deactivated or deleted user. */
export class OffboardingStore implements TenantStore<OffboardingStore> {
  private readonly audit = new AuditTrail();

  /** Ends live sessions, API keys, refresh tokens, invitations and password resets. @returns the targets to wake */
  async end(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    actor: AuditActor,
  ): Promise<WokenTargets[]> {
    const sessionIds = await this.endSessions(tx, organization, userId, actor);
    const woken = sessionIds.length === 0 ? [] : await release(tx, 'USER_OFFBOARDED', { sessionIds });
    await this.revokeKeys(tx, organization, userId, actor);
    await this.endTokens(tx, organization, userId);
    return woken;
  }

  /**
   * Ends all live sessions, as an admin's stop does. They are locked in the order of every writer. The caller releases
   * what they hold.
   * @param userId null: of everybody
   * @returns their ids
   */
  async endSessions(
    tx: Tx,
    organization: OrganizationId,
    userId: string | null,
    actor: AuditActor,
  ): Promise<string[]> {
    const ended = await rows<EndedSession>(
      tx,
      `WITH live AS MATERIALIZED (
         SELECT id FROM sessions WHERE organization_id = $1 AND ($2::uuid IS NULL OR user_id = $2)
           AND status IN (${MAY_EXPIRE}) ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE sessions s SET status = 'EXPIRING', ended_at = now(), ended_reason = 'ADMIN'
       FROM users u WHERE s.id IN (SELECT id FROM live) AND s.status IN (${MAY_EXPIRE}) AND u.id = s.user_id
       RETURNING s.id, u.id AS "userId", u.email, s.ipv4_address AS "ipv4Address", s.ipv6_address AS "ipv6Address"`,
      [organization, userId],
    );
    const records = ended.map(({ id, userId: owner, email, ipv4Address, ipv6Address }): AuditEntry => ({
      ...actor,
      eventType: 'SESSION_STOPPED',
      resourceType: 'SESSION',
      resourceId: id,
      resourceName: email,
      details: { sessionId: id, userId: owner, ipv4Address, ipv6Address, reason: 'ADMIN' },
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
