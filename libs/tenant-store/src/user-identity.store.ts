import type { OrganizationId } from '#rules';
import {
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  type UserIdentityEntity,
  first,
  sliced,
  touches,
} from '#entities';

/** Who a subject of an issuer is; without a user it waits for an administrator to link it. */
export interface UserIdentityRow extends Readonly<
  Pick<UserIdentityEntity, 'id' | 'subject' | 'email' | 'userId' | 'lastSeenAt'>
> {
  readonly userEmail: string | null;
}

/** Of subjects that nobody has linked: whoever can sign in at an issuer can make one. */
const MAX_WAITING = 100;

const SELECT = `SELECT i.id, i.subject, i.email, i.user_id AS "userId", u.email AS "userEmail", i.last_seen_at AS "lastSeenAt"
  FROM user_identities i LEFT JOIN users u ON u.id = i.user_id
  WHERE i.organization_id = $1 AND i.provider_id = $2`;

/** Accounts are joined by (provider, subject) only. */
export class UserIdentityStore implements TenantStore<UserIdentityStore> {
  /** Those that wait first, then by when they were last seen. */
  list(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    slice: Slice,
  ): Promise<Sliced<UserIdentityRow>> {
    const order = 'i.user_id IS NOT NULL, i.last_seen_at DESC, i.id';
    return sliced(tx, SELECT, order, [organization, providerId], slice);
  }

  /** Reads and locks it until the commit. */
  findLocked(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    id: string,
  ): Promise<UserIdentityRow | null> {
    return first<UserIdentityRow>(tx, `${SELECT} AND i.id = $3 FOR NO KEY UPDATE OF i`, [
      organization,
      providerId,
      id,
    ]);
  }

  /** Remembers a subject: the constraint decides between concurrent sign-ins of a new one. */
  async seen(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    { subject, email }: { readonly subject: string; readonly email: string | null },
  ): Promise<UserIdentityRow> {
    const found = await first<{ id: string }>(
      tx,
      `INSERT INTO user_identities (organization_id, provider_id, subject, email) VALUES ($1, $2, $3, $4)
       ON CONFLICT (provider_id, subject) DO UPDATE SET
         email = coalesce(excluded.email, user_identities.email), last_seen_at = now() RETURNING id`,
      [organization, providerId, subject, email],
    );
    return (await this.findLocked(tx, organization, providerId, found!.id))!;
  }

  /** What of the newest claims about somebody could not be read; null: nothing. The provider shows one of those who are signed in. */
  async recordClaimsError(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    { subject, problem }: { readonly subject: string; readonly problem: string | null },
  ): Promise<void> {
    await tx.query(
      `UPDATE user_identities SET claims_error = $4
       WHERE organization_id = $1 AND provider_id = $2 AND subject = $3 AND claims_error IS DISTINCT FROM $4`,
      [organization, providerId, subject, problem],
    );
  }

  /** Deletes the longest unseen of those that wait, so that a fixed number stays. */
  async trimWaiting(tx: Tx, organization: OrganizationId, providerId: string): Promise<void> {
    await tx.query(
      `DELETE FROM user_identities WHERE id IN (
         SELECT id FROM user_identities WHERE organization_id = $1 AND provider_id = $2 AND user_id IS NULL
         ORDER BY last_seen_at DESC OFFSET ${MAX_WAITING} FOR UPDATE SKIP LOCKED)`,
      [organization, providerId],
    );
  }

  /** Somebody invited who has never signed in, in any way. Call `UserStore.lock` first. */
  async invited(tx: Tx, organization: OrganizationId, email: string): Promise<string | null> {
    const found = await first<{ id: string }>(
      tx,
      `SELECT u.id FROM users u WHERE u.organization_id = $1 AND u.email = $2 AND u.deleted_at IS NULL AND u.is_active
         AND NOT u.is_service AND u.password_hash IS NULL AND u.last_login_at IS NULL
         AND NOT EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id)`,
      [organization, email],
    );
    return found?.id ?? null;
  }

  /**
   * @param linkedBy the administrator: who has signed in before has to confirm it; null: the person did by an invitation
   * @returns false when there is no such active user for people, or the identity is linked to another one
   */
  link(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    userId: string,
    linkedBy: string | null = null,
  ): Promise<boolean> {
    return touches(
      tx,
      `UPDATE user_identities i SET user_id = u.id, linked_by = CASE WHEN i.user_id IS NULL THEN $4 ELSE i.linked_by END,
         needs_second_factor = CASE WHEN i.user_id IS NULL THEN $4::uuid IS NOT NULL AND u.last_login_at IS NOT NULL
           ELSE i.needs_second_factor END
       FROM users u WHERE i.organization_id = $1 AND i.id = $2 AND (i.user_id IS NULL OR i.user_id = u.id)
         AND u.organization_id = $1 AND u.id = $3 AND u.is_active AND NOT u.is_service RETURNING i.id`,
      [organization, id, userId, linkedBy],
    );
  }

  /** Its sign-ins go with it: call `SsoSignInStore.endOfIdentity` first. */
  delete(tx: Tx, organization: OrganizationId, providerId: string, id: string): Promise<boolean> {
    return touches(
      tx,
      `DELETE FROM user_identities WHERE organization_id = $1 AND provider_id = $2 AND id = $3 RETURNING id`,
      [organization, providerId, id],
    );
  }
}
