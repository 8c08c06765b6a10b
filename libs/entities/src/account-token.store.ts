import type { OrganizationId } from '#rules';
import { returned, type Tx } from './database';
import type { AccountTokenPurpose } from './sign-in.entity';

/** Whose token it was, and what the password it sets must keep. */
export interface AccountTokenRow {
  readonly userId: string;
  readonly organizationId: OrganizationId;
}

/** Tokens that let somebody set a password once. They come before anybody is known: the token itself says whose it is. */
export class AccountTokenStore {
  async create(
    tx: Tx,
    token: {
      organizationId: string;
      userId: string;
      purpose: AccountTokenPurpose;
      tokenHash: string;
      ttlSeconds: number;
    },
  ): Promise<void> {
    await tx.query(
      `INSERT INTO account_tokens (organization_id, user_id, purpose, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
      [token.organizationId, token.userId, token.purpose, token.tokenHash, token.ttlSeconds],
    );
  }

  /** Uses a token up. @returns null when it is unknown, used, expired, or its user inactive: of many at once one wins */
  async use(tx: Tx, tokenHash: string, purpose: AccountTokenPurpose): Promise<AccountTokenRow | null> {
    const [row] = returned<AccountTokenRow>(
      await tx.query(
        `UPDATE account_tokens t SET used_at = now() FROM users u
         WHERE t.token_hash = $1 AND t.purpose = $2 AND t.used_at IS NULL AND t.expires_at > now()
           AND u.organization_id = t.organization_id AND u.id = t.user_id AND u.is_active
         RETURNING t.user_id AS "userId", t.organization_id AS "organizationId"`,
        [tokenHash, purpose],
      ),
    );
    return row ?? null;
  }

  /** After a password was set none of the user's older tokens sets another. */
  async endAll(tx: Tx, userId: string): Promise<void> {
    await tx.query('UPDATE account_tokens SET used_at = now() WHERE user_id = $1 AND used_at IS NULL', [
      userId,
    ]);
  }
}
