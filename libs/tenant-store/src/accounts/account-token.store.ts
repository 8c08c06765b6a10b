import type { OrganizationId } from '#rules';
import { type AccountTokenPurpose, type Tx, countOf, first, touches } from '#entities';

/** The user whose password a token sets. */
export interface AccountTokenHolder {
  readonly purpose: AccountTokenPurpose;
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly name: string;
  readonly organizationName: string;
  readonly organizationSlug: string;
  /** the administrator who has passed a link for a new password on; null: none has */
  readonly passedOnBy: string | null;
}

export interface NewAccountToken {
  readonly organizationId: string;
  readonly userId: string;
  readonly purpose: AccountTokenPurpose;
  readonly tokenHash: string;
  readonly ttlSeconds: number;
  readonly passedOnBy?: string | null;
}

/** How long an invitation is valid. */
export const INVITED_DAYS = 7;
/** SQL: addresses of one mailbox look different by a tag, or by dots. */
const mailboxOf = (email: string): string =>
  `replace(split_part(split_part(${email}::text, '@', 1), '+', 1), '.', '') || '@' || split_part(${email}::text, '@', 2)`;

const HOLDER = `t.purpose, t.passed_on_by AS "passedOnBy", u.id AS "userId", u.organization_id AS "organizationId", u.email, u.name,
  o.name AS "organizationName", o.slug AS "organizationSlug"`;
/** The token $1 of a purpose in $2, while it is usable. */
const USABLE = `t.token_hash = $1 AND t.purpose = ANY($2) AND t.used_at IS NULL AND t.expires_at > now()
  AND u.organization_id = t.organization_id AND u.id = t.user_id AND u.is_active`;

/** Single-use tokens to set a password. Used before authentication: the token identifies the user. */
export class AccountTokenStore {
  /** Creates none for a service user: it has no password. */
  async create(tx: Tx, token: NewAccountToken): Promise<void> {
    const { organizationId, userId, purpose, tokenHash, ttlSeconds, passedOnBy = null } = token;
    await tx.query(
      `INSERT INTO account_tokens (organization_id, user_id, purpose, token_hash, expires_at, passed_on_by)
       SELECT organization_id, id, $3, $4, now() + make_interval(secs => $5), $6::uuid FROM users
       WHERE organization_id = $1 AND id = $2 AND NOT is_service`,
      [organizationId, userId, purpose, tokenHash, ttlSeconds, passedOnBy],
    );
  }

  /** @returns false, and creates none, when the user got `maxPerHour` of the purpose within the last hour */
  async createWithinLimit(tx: Tx, token: NewAccountToken, maxPerHour: number): Promise<boolean> {
    // the lock serializes concurrent requests
    await tx.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [token.userId]);
    const recent = `account_tokens WHERE user_id = $1 AND purpose = $2 AND created_at > now() - interval '1 hour'`;
    if ((await countOf(tx, recent, [token.userId, token.purpose])) >= maxPerHour) return false;
    await this.create(tx, token);
    return true;
  }

  /**
   * Counts the invitations to a mailbox over all organizations, or those of one organization. An advisory lock serializes
   * concurrent calls until the commit: call it for the mailbox first.
   * @param of `mailbox`: an e-mail address in it
   * @returns null when one more may be sent, else the seconds until it may
   */
  async secondsUntilInvitable(
    tx: Tx,
    of: 'mailbox' | 'organization',
    value: string,
    maxPerDay: number,
  ): Promise<number | null> {
    const [given, counted] =
      of === 'mailbox' ? [mailboxOf('$1'), mailboxOf('u.email')] : ['$1', 't.organization_id::text'];
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('invitation ' || ${given}, 0))`, [value]);
    const [nth] = await tx.query<{ seconds: number }[]>(
      `SELECT greatest(1, ceil(extract(epoch FROM t.created_at + interval '1 day' - now())))::int AS seconds
       FROM account_tokens t JOIN users u ON u.organization_id = t.organization_id AND u.id = t.user_id
       WHERE t.expires_at > now() + interval '${INVITED_DAYS - 1} days' AND t.purpose = 'INVITE'
         AND t.created_at > now() - interval '1 day' AND ${counted} = ${given}
       ORDER BY t.created_at DESC OFFSET $2 LIMIT 1`,
      [value, maxPerDay - 1],
    );
    return nth?.seconds ?? null;
  }

  /** Invalidates the user's invitations. */
  async endInvitations(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
    await tx.query(
      `UPDATE account_tokens SET used_at = now()
       WHERE organization_id = $1 AND user_id = $2 AND purpose = 'INVITE' AND used_at IS NULL`,
      [organization, userId],
    );
  }

  /**
   * Reads a token's user without consuming it.
   * @param purposes those it may have
   * @returns null when it is unknown, used, expired, or its user inactive
   */
  holder(
    tx: Tx,
    tokenHash: string,
    purposes: readonly AccountTokenPurpose[],
  ): Promise<AccountTokenHolder | null> {
    return first(
      tx,
      `SELECT ${HOLDER} FROM account_tokens t, users u, organizations o
       WHERE ${USABLE} AND o.id = t.organization_id`,
      [tokenHash, purposes],
    );
  }

  /** Consumes a token. Of concurrent calls one returns true. */
  use(tx: Tx, tokenHash: string, purpose: AccountTokenPurpose): Promise<boolean> {
    return touches(
      tx,
      `UPDATE account_tokens t SET used_at = now() FROM users u WHERE ${USABLE} RETURNING t.id`,
      [tokenHash, [purpose]],
    );
  }
}
