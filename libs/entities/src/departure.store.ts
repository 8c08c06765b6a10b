import type { OrganizationId } from '#rules';
import { auditInsert, type AuditActor } from './audit.store';
import type { Trail } from './closing';
import type { Tx } from './database';
import { RELEASE, wokenTargets, type WokenTargets } from './openings';
import { MAY_EXPIRE } from './status-lists';
import type { TenantStore } from './tenant-store';

/** One audit record for each row of `ended`: what all share is parameter $3, what differs is written here. */
const recordEach = (own: string, trail: Trail): string =>
  auditInsert('$1', `(SELECT jsonb_agg($3::jsonb || jsonb_build_object(${own})) FROM ended)`, trail);

const SESSION_FACTS = `'resourceId', id, 'details', jsonb_build_object('sessionId', id, 'userId', user_id,
  'ipv4Address', ipv4_address, 'ipv6Address', ipv6_address, 'reason', 'ADMIN')`;

/** What ends with a user who is deactivated or deleted. Each method is one statement, with its audit records. */
export class DepartureStore implements TenantStore<DepartureStore> {
  /** As an admin's stop does, for all of the user's live sessions. @returns the cloud objects to wake */
  async endSessions(
    tx: Tx,
    organization: OrganizationId,
    user: { id: string; email: string },
    actor: AuditActor,
    trail: Trail,
  ): Promise<WokenTargets[]> {
    const shared = {
      ...actor,
      eventType: 'SESSION_STOPPED',
      resourceType: 'SESSION',
      resourceName: user.email,
    };
    const [ended] = await tx.query<{ targets: WokenTargets[] }[]>(
      `WITH ended AS (
         UPDATE sessions SET status = 'EXPIRING', ended_at = now(), ended_reason = 'ADMIN'
         WHERE organization_id = $1 AND user_id = $2 AND status IN (${MAY_EXPIRE})
         RETURNING id, user_id, ipv4_address, ipv6_address
       ), ${RELEASE}, audit AS (${recordEach(SESSION_FACTS, trail)})
       SELECT ${wokenTargets('SELECT target_id FROM due')} AS targets`,
      [organization, user.id, JSON.stringify(shared)],
    );
    return ended!.targets;
  }

  async revokeKeys(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    actor: AuditActor,
    trail: Trail,
  ): Promise<void> {
    const shared = { ...actor, eventType: 'API_KEY_REVOKED', resourceType: 'API_KEY' };
    await tx.query(
      `WITH ended AS (
         UPDATE api_keys SET revoked_at = now()
         WHERE organization_id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING id, name
       ) ${recordEach(`'resourceId', id, 'resourceName', name`, trail)}`,
      [organization, userId, JSON.stringify(shared)],
    );
  }

  /** Refresh tokens, and the invitations and resets that could set a password again. */
  async endTokens(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    await tx.query(
      `WITH refresh AS (
         UPDATE refresh_tokens SET revoked_at = now()
         WHERE organization_id = $1 AND user_id = $2 AND revoked_at IS NULL
       )
       UPDATE account_tokens SET used_at = now()
       WHERE organization_id = $1 AND user_id = $2 AND used_at IS NULL`,
      [organization, userId],
    );
  }

  async leaveRoles(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    await tx.query('DELETE FROM role_users WHERE organization_id = $1 AND user_id = $2', [
      organization,
      userId,
    ]);
  }
}
