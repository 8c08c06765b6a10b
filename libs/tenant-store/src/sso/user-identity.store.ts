import type { OrganizationId } from '#rules';
import {
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  type UserIdentityEntity,
  first,
  readPage,
  touches,
} from '#entities';

/** Who a subject of an issuer is; without a user it waits for an administrator to link it. */
export interface UserIdentityRow extends Readonly<
  Pick<UserIdentityEntity, 'id' | 'subject' | 'email' | 'name' | 'username' | 'userId' | 'lastSeenAt'>
> {
  readonly userEmail: string | null;
}

/** What an issuer says of a subject. */
type SeenSubject = Pick<UserIdentityRow, 'subject' | 'email' | 'name' | 'username'>;

/** Of subjects that no user has linked: anyone who can sign in at an issuer can make one. */
const MAX_WAITING = 100;

const SELECT = `SELECT i.id, i.subject, i.email, i.name, i.username, i.user_id AS "userId", u.email AS "userEmail", i.last_seen_at AS "lastSeenAt"
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
    return readPage(tx, SELECT, order, [organization, providerId], slice);
  }

  /** Reads and locks it until the commit. */
  findLocked(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    id: string,
  ): Promise<UserIdentityRow | null> {
    return first(tx, `${SELECT} AND i.id = $3 FOR NO KEY UPDATE OF i`, [organization, providerId, id]);
  }

  /** Remembers a subject: the constraint decides between concurrent sign-ins of a new one. */
  async recordSubject(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    { subject, email, name, username }: SeenSubject,
  ): Promise<UserIdentityRow> {
    const found = await first<{ id: string }>(
      tx,
      `INSERT INTO user_identities (organization_id, provider_id, subject, email, name, username)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (provider_id, subject) DO UPDATE SET email = coalesce(excluded.email, user_identities.email),
         name = coalesce(excluded.name, user_identities.name),
         username = coalesce(excluded.username, user_identities.username), last_seen_at = now() RETURNING id`,
      [organization, providerId, subject, email, name, username],
    );
    return (await this.findLocked(tx, organization, providerId, found!.id))!;
  }

  /** What of the newest claims about a person could not be read; null: nothing. The provider shows one of those who are signed in. */
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

  /**
   * Deletes the longest unseen of those that wait, so that a fixed number stays; strangers, by the provider's domains, before
   * colleagues.
   */
  async trimWaiting(tx: Tx, organization: OrganizationId, providerId: string): Promise<void> {
    await tx.query(
      `DELETE FROM user_identities WHERE id IN (
         SELECT i.id FROM user_identities i JOIN identity_providers p ON p.id = i.provider_id
         WHERE i.organization_id = $1 AND i.provider_id = $2 AND i.user_id IS NULL
         ORDER BY coalesce(substring(i.email FROM '[^@]+$') = ANY (p.email_domains), false) DESC, i.last_seen_at DESC
         OFFSET ${MAX_WAITING} FOR UPDATE OF i SKIP LOCKED)`,
      [organization, providerId],
    );
  }

  /**
   * Gives a user the address that the provider vouches for in place of one that it was asked about before. Not to whom has not
   * confirmed the identity, the recovery administrator and operators of the platform: a new address gets their password links.
   * Those that were sent to the former one end. @returns the former one; null: it stays
   */
  async readdress(
    tx: Tx,
    organization: OrganizationId,
    identityId: string,
    email: string,
  ): Promise<string | null> {
    const found = await first<{ former: string }>(
      tx,
      `WITH known AS (
         SELECT u.id, u.email AS former FROM user_identities i JOIN users u ON u.id = i.user_id
           JOIN identity_providers p ON p.id = i.provider_id JOIN organizations o ON o.id = i.organization_id
         WHERE i.organization_id = $1 AND i.id = $2 AND NOT i.needs_second_factor AND u.email <> $3
           AND substring(u.email FROM '[^@]+$') = ANY (p.email_domains) AND u.platform_role = 'CUSTOMER'
           AND u.id IS DISTINCT FROM o.recovery_administrator_id
           AND NOT EXISTS (SELECT FROM users other WHERE other.organization_id = $1 AND other.email = $3
             AND other.deleted_at IS NULL)
       ), links AS (
         UPDATE account_tokens t SET used_at = now() FROM known
         WHERE t.organization_id = $1 AND t.user_id = known.id AND t.used_at IS NULL)
       UPDATE users u SET email = $3, updated_at = now() FROM known
       WHERE u.organization_id = $1 AND u.id = known.id RETURNING known.former`,
      [organization, identityId, email],
    );
    return found?.former ?? null;
  }

  /** An invited person who has never signed in, in any way. Call `UserStore.lock` first. */
  async findInvited(tx: Tx, organization: OrganizationId, email: string): Promise<string | null> {
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
