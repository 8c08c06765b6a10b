import type { OrganizationId } from '#rules';
import { release, type WokenTargets } from '#engine-store/port';
import { endedEntry, endRequestsOf } from './access-request-ends';
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
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
}

/** Ends everything that belongs to a deactivated or deleted user. */
export class OffboardingStore implements TenantStore<OffboardingStore> {
  private readonly audit = new AuditTrail();

  /** Ends live sessions, open access requests, API keys, refresh tokens, invitations and password resets. @returns the targets to wake */
  async end(
    tx: Tx,
    organization: OrganizationId,
    user: { id: string; email: string },
    actor: AuditActor,
  ): Promise<WokenTargets[]> {
    const woken = await this.endSessions(tx, organization, user, actor);
    const requests = await endRequestsOf(tx, organization, user.id);
    if (requests.length > 0)
      await this.audit.write(tx, organization, ...requests.map((request) => endedEntry(actor, request)));
    await this.revokeKeys(tx, organization, user.id, actor);
    await this.endTokens(tx, organization, user.id);
    return woken;
  }

  /** Stops all live sessions of the user, as an admin's stop does. @returns the targets to wake */
  private async endSessions(
    tx: Tx,
    organization: OrganizationId,
    user: { id: string; email: string },
    actor: AuditActor,
  ): Promise<WokenTargets[]> {
    const ended = await rows<EndedSession>(
      tx,
      `UPDATE sessions SET status = 'EXPIRING', ended_at = now(), ended_reason = 'ADMIN'
       WHERE organization_id = $1 AND user_id = $2 AND status IN (${MAY_EXPIRE})
       RETURNING id, ipv4_address AS "ipv4Address", ipv6_address AS "ipv6Address"`,
      [organization, user.id],
    );
    if (ended.length === 0) return [];
    const records = ended.map(({ id, ipv4Address, ipv6Address }): AuditEntry => ({
      ...actor,
      eventType: 'SESSION_STOPPED',
      resourceType: 'SESSION',
      resourceId: id,
      resourceName: user.email,
      details: { sessionId: id, userId: user.id, ipv4Address, ipv6Address, reason: 'ADMIN' },
    }));
    await this.audit.write(tx, organization, ...records);
    return release(tx, 'USER_OFFBOARDED', { sessionIds: ended.map(({ id }) => id) });
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
