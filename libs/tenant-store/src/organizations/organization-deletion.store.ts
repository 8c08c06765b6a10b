import type { OrganizationId } from '#rules';
import type { WokenTargets } from '#engine-store/port';
import { type AuditActor, type TenantStore, type Tx, rows, touches, UNFINISHED } from '#entities';
import type { CredentialStore } from '../resources/credential.store';
import type { OffboardingStore } from './offboarding.store';
import type { ResourceRulesStore } from '../resources/resource-rules.store';
import type { UserStore } from '../accounts/user.store';

/** Begins the deletion of an organization. A worker closes it when its last rule is gone. */
export class OrganizationDeletionStore implements TenantStore<OrganizationDeletionStore> {
  constructor(
    private readonly users: UserStore,
    private readonly offboarding: OffboardingStore,
    private readonly rules: ResourceRulesStore,
    private readonly credentials: CredentialStore,
  ) {}

  /**
   * Locks the row against everything that refers to it: concurrent inserts of users, credentials and resources either
   * precede the deletion, which finds them, or are refused by a trigger.
   * @returns false when there is no such organization, or it is deleted
   */
  lock(tx: Tx, organization: OrganizationId): Promise<boolean> {
    return touches(tx, 'SELECT FROM organizations WHERE id = $1 AND deleted_at IS NULL FOR UPDATE', [
      organization,
    ]);
  }

  /** Call `lock` first. @returns the e-mails of active administrators besides this one */
  async otherAdmins(tx: Tx, organization: OrganizationId, userId: string): Promise<string[]> {
    const others = await tx.query<{ email: string }[]>(
      `SELECT email FROM users WHERE organization_id = $1 AND id <> $2 AND is_org_admin AND is_active ORDER BY email`,
      [organization, userId],
    );
    return others.map(({ email }) => email);
  }

  /**
   * Ends everything that can open something, and releases all rules. Call `lock` first.
   * @returns the targets to wake
   */
  async begin(tx: Tx, organization: OrganizationId, actor: AuditActor): Promise<WokenTargets[]> {
    const agents = await this.keepAgents(tx, organization);
    // a slug has no colon, so the changed one never is another organization's
    await tx.query(
      `UPDATE organizations SET deleted_at = now(), slug = slug || ':' || id, updated_at = now(),
         sso_required = false, recovery_administrator_id = NULL, suspended_at = coalesce(suspended_at, now()) WHERE id = $1`,
      [organization],
    );
    for (const table of ['oidc_trusts', 'webhooks', 'identity_providers'])
      await tx.query(`DELETE FROM ${table} WHERE organization_id = $1`, [organization]);
    // resources before users, as a start locks them
    const resources = await this.lockAll(tx, organization, 'resources');
    const woken: WokenTargets[] = [];
    for (const id of await this.users.deleteAll(tx, organization, agents))
      woken.push(...(await this.offboarding.end(tx, organization, id, actor)));
    for (const id of resources) woken.push(...(await this.rules.delete(tx, organization, id)));
    for (const id of await this.lockAll(tx, organization, 'credentials'))
      await this.credentials.remove(tx, organization, id);
    return woken;
  }

  /**
   * Hands the keys of agents to a new service user, without any other scope: hosts remove their rules by themselves, and
   * must be able to report it.
   * @returns the service user's id; null: no agent has a key
   */
  private async keepAgents(tx: Tx, organization: OrganizationId): Promise<string | null> {
    const [kept] = await rows<{ userId: string }>(
      tx,
      `WITH serving AS (
         SELECT k.id FROM api_keys k JOIN users u ON u.id = k.user_id AND u.is_active
         WHERE k.organization_id = $1 AND k.revoked_at IS NULL AND 'agent:connect' = ANY (k.scopes)
       ), keeper AS (
         INSERT INTO users (organization_id, email, name, is_service)
         SELECT $1, gen_random_uuid() || '@service.invalid', 'Agents', true WHERE EXISTS (SELECT FROM serving)
         RETURNING id
       )
       UPDATE api_keys SET user_id = keeper.id, scopes = '{agent:connect}' FROM keeper
       WHERE api_keys.id IN (SELECT id FROM serving) RETURNING user_id AS "userId"`,
      [organization],
    );
    return kept?.userId ?? null;
  }

  private async lockAll(
    tx: Tx,
    organization: OrganizationId,
    table: 'resources' | 'credentials',
  ): Promise<string[]> {
    const found = await tx.query<{ id: string }[]>(
      `SELECT id FROM ${table} WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY id FOR UPDATE`,
      [organization],
    );
    return found.map(({ id }) => id);
  }
}

/** Secrets, and what is of use only while there are users. */
const NEEDED_WHILE_OPEN = [
  'data_keys',
  'credentials',
  'oidc_trusts',
  'webhooks',
  'notice_cursors',
  'identity_providers',
  'lockdowns',
  'agents',
  'access_requests',
  'api_keys',
  'roles',
  'billing_details',
];
/** What sessions and invoices refer to. */
const NEEDED_BY_HISTORY = ['payments', 'subscriptions', 'static_ip_rules', 'users'];

/** Finishes the deletion of organizations. Serves all of them. With OFFSET 0 a table is probed, not joined as a whole. */
export class OrganizationClosingStore {
  /**
   * Closes deleted organizations that hold no rule any more: nothing in a cloud depends on their secrets. Cheap
   * conditions come first; the last one reads all live rules.
   */
  async close(tx: Tx, limit: number): Promise<{ id: OrganizationId; name: string }[]> {
    const closed = await rows<{ id: OrganizationId; name: string }>(
      tx,
      `UPDATE organizations SET closed_at = now(), updated_at = now() WHERE id IN (
         SELECT o.id FROM organizations o WHERE o.deleted_at IS NOT NULL AND o.closed_at IS NULL
           AND NOT EXISTS (SELECT FROM resources WHERE organization_id = o.id OFFSET 0)
           AND NOT EXISTS (SELECT FROM sessions WHERE organization_id = o.id AND status IN (${UNFINISHED}) OFFSET 0)
           AND NOT EXISTS (SELECT FROM subscriptions WHERE organization_id = o.id AND status NOT IN ('CANCELLED', 'EXPIRED'))
           AND NOT EXISTS (SELECT FROM credentials c JOIN rules r ON r.credential_id = c.id WHERE c.organization_id = o.id)
         LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING id, name`,
      [limit],
    );
    const ids = closed.map(({ id }) => id);
    if (ids.length === 0) return [];
    await tx.query(
      `DELETE FROM recovery_codes WHERE user_id IN (SELECT id FROM users WHERE organization_id = ANY ($1))`,
      [ids],
    );
    for (const table of NEEDED_WHILE_OPEN)
      await tx.query(`DELETE FROM ${table} WHERE organization_id = ANY ($1)`, [ids]);
    await tx.query(
      `UPDATE users SET email = id || '@deleted.invalid', name = 'Deleted user', is_active = false,
         deleted_at = coalesce(deleted_at, now()) WHERE organization_id = ANY ($1)`,
      [ids],
    );
    return closed;
  }

  /** Deletes closed organizations whose sessions and audit records are gone. @returns how many */
  async forget(tx: Tx, limit: number): Promise<number> {
    const gone = await tx.query<{ id: string }[]>(
      `SELECT o.id FROM organizations o WHERE o.deleted_at IS NOT NULL AND o.closed_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM sessions WHERE organization_id = o.id OFFSET 0)
         AND NOT EXISTS (SELECT FROM audit_records WHERE organization_id = o.id OFFSET 0)
       LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [limit],
    );
    const ids = gone.map(({ id }) => id);
    if (ids.length === 0) return 0;
    for (const table of NEEDED_BY_HISTORY)
      await tx.query(`DELETE FROM ${table} WHERE organization_id = ANY ($1)`, [ids]);
    await tx.query('DELETE FROM organizations WHERE id = ANY ($1)', [ids]);
    return ids.length;
  }
}
