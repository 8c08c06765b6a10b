import type { OrganizationId } from '#rules';
import { type TenantStore, type Tx, returned } from '#entities';

/** What a deleted organization still has. */
export interface OwnedObjects {
  readonly resourceIds: readonly string[];
  readonly credentialIds: readonly string[];
}

/** Begins the deletion of an organization. Call its methods in one transaction, in this order. */
export class OrganizationDeletionStore implements TenantStore<OrganizationDeletionStore> {
  /**
   * Locks the row against everything that refers to it: concurrent inserts of users, credentials and resources either
   * precede the deletion, which finds them, or are refused by a trigger.
   * @returns false when there is no such organization, or it is deleted
   */
  async lock(tx: Tx, organization: OrganizationId): Promise<boolean> {
    const locked = await tx.query<object[]>(
      'SELECT FROM organizations WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
      [organization],
    );
    return locked.length > 0;
  }

  /** @returns the e-mails of active administrators besides this one */
  async otherAdmins(tx: Tx, organization: OrganizationId, userId: string): Promise<string[]> {
    const others = await tx.query<{ email: string }[]>(
      `SELECT email FROM users WHERE organization_id = $1 AND id <> $2 AND is_org_admin AND is_active ORDER BY email`,
      [organization, userId],
    );
    return others.map(({ email }) => email);
  }

  /**
   * Hands the keys of agents to a new service user, without any other scope: hosts remove their rules by themselves, and
   * must be able to say so.
   * @returns the service user's id; null: no agent has a key
   */
  async keepAgents(tx: Tx, organization: OrganizationId): Promise<string | null> {
    const [kept] = returned<{ userId: string }>(
      await tx.query(
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
      ),
    );
    return kept?.userId ?? null;
  }

  /** A slug has no colon, so that the changed one never is another organization's. */
  async mark(tx: Tx, organization: OrganizationId): Promise<void> {
    await tx.query(
      `UPDATE organizations SET deleted_at = now(), slug = slug || ':' || id, updated_at = now(),
         suspended_at = coalesce(suspended_at, now()) WHERE id = $1`,
      [organization],
    );
  }

  /** Ends the trusts, and locks the resources: a start takes its resources before its user, too. */
  async owned(tx: Tx, organization: OrganizationId): Promise<OwnedObjects> {
    await tx.query('DELETE FROM oidc_trusts WHERE organization_id = $1', [organization]);
    const idsOf = async (table: string): Promise<string[]> => {
      const rows = await tx.query<{ id: string }[]>(
        `SELECT id FROM ${table} WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY id FOR UPDATE`,
        [organization],
      );
      return rows.map(({ id }) => id);
    };
    return { resourceIds: await idsOf('resources'), credentialIds: await idsOf('credentials') };
  }
}
