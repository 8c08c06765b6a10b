import type { OrganizationId } from '#rules';
import { type Slice, type Sliced, type TenantStore, type Tx, readPage } from '#entities';
import { lockUser } from './lock-user';

/** One of a user's sign-ins that can still be refreshed. */
export interface SignInRow {
  readonly id: string;
  readonly createdAt: Date;
  /** when its newest token was issued */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** The newest token of each live sign-in of a user. */
const LIVE = `FROM (
    SELECT DISTINCT ON (family_id) family_id, created_at, expires_at, ip_address, user_agent, signed_in_at
    FROM refresh_tokens
    WHERE organization_id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now()
    ORDER BY family_id, created_at DESC, used_at DESC NULLS FIRST
  ) s`;

/** A user's active sign-ins. */
export class SignInStore implements TenantStore<SignInStore> {
  /** Newest first. */
  list(tx: Tx, organization: OrganizationId, userId: string, slice: Slice): Promise<Sliced<SignInRow>> {
    const columns = `SELECT family_id AS id, signed_in_at AS "createdAt", created_at AS "lastUsedAt",
      expires_at AS "expiresAt", ip_address AS "ipAddress", user_agent AS "userAgent"`;
    return readPage(tx, `${columns} ${LIVE}`, 'signed_in_at DESC, family_id', [organization, userId], slice);
  }

  /** Also invalidates its access tokens. @returns false when the user has no such live sign-in */
  async end(tx: Tx, organization: OrganizationId, userId: string, id: string): Promise<boolean> {
    return (await this.revoke(tx, organization, userId, id)) > 0;
  }

  /** As `end`, of every sign-in. @returns how many were live */
  endAll(tx: Tx, organization: OrganizationId, userId: string): Promise<number> {
    return this.revoke(tx, organization, userId, null);
  }

  private async revoke(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    id: string | null,
  ): Promise<number> {
    // serializes with a rotation, which would insert a token that this update does not see
    await lockUser(tx, organization, userId);
    const [ended] = await tx.query<{ count: number }[]>(
      `WITH live AS (SELECT family_id ${LIVE}), revoked AS (
         UPDATE refresh_tokens SET revoked_at = now() WHERE organization_id = $1 AND user_id = $2
           AND ($3::uuid IS NULL OR family_id = $3) AND revoked_at IS NULL
       ) SELECT count(*)::int AS count FROM live WHERE $3::uuid IS NULL OR family_id = $3`,
      [organization, userId, id],
    );
    return ended!.count;
  }
}
