import { type Tx, first } from '#entities';

/** The lock-out policy of one counter. */
export interface LockOutRule {
  /** this attempt and each later one locks */
  readonly lockAt: number;
  /** duration of the first lock; each further one is twice as long */
  readonly firstLockSeconds: number;
  readonly maxLockSeconds: number;
  /** one failure is dropped from the count per this interval */
  readonly decaySeconds: number;
}

/** The counters of one account's password: by e-mail with the organization's slug, and by e-mail alone. */
export interface PasswordCounters {
  readonly withSlug: string;
  readonly withoutSlug: string;
  readonly email: string;
}

/**
 * Key of the counter for guesses at a password. It is derived from the input, not from the account it resolves to, so
 * that a lock does not reveal whether an account exists.
 * @param email trimmed and lower case
 * @param slug null: the e-mail alone was given
 */
export const passwordCounter = (email: string, slug: string | null): string =>
  `password ${slug ?? ''}/${email}`;

/** Key of the counter for guesses at the codes of a user's second factor. */
export const codeCounter = (userId: string): string => `code ${userId}`;

/** SQL: whether attempts at the account of the row `u` of users are currently locked out. */
export const IS_LOCKED = `EXISTS (SELECT FROM sign_in_failures f WHERE f.locked_until > now() AND f.account_key IN (
  'password /' || u.email, 'code ' || u.id,
  'password ' || (SELECT slug FROM organizations WHERE id = u.organization_id) || '/' || u.email))`;

/** Counts attempts at secrets before authentication, whether the account exists or not. */
export class SignInFailureStore {
  /**
   * Counts an attempt as failed before it is made, so that concurrent attempts count too.
   * @returns the current count with this attempt; null while the counter is locked
   */
  async count(tx: Tx, key: string, rule: LockOutRule): Promise<number | null> {
    const [row] = await tx.query<{ failures: number }[]>(
      `INSERT INTO sign_in_failures AS f (account_key, failures, last_failed_at) VALUES ($1, 1, now())
       ON CONFLICT (account_key) DO UPDATE SET
         (failures, last_failed_at, locked_until) = (
           SELECT n.failures, n.since, CASE WHEN n.failures >= $2::int THEN now() + make_interval(secs =>
             least($3::float8 * 2 ^ (n.failures - $2::int), $4::float8)) END
           FROM (
             SELECT least(greatest(f.failures - gone.count, 0) + 1, 2 * $2::int) AS failures,
               CASE WHEN gone.count >= f.failures THEN now()
                 ELSE f.last_failed_at + gone.count * make_interval(secs => $5) END AS since
             -- one that waited for another's row began before it: no time has passed
             FROM (SELECT least(greatest(floor(extract(epoch FROM now() - f.last_failed_at) / $5::float8), 0), 1000)::int
               AS count) gone
           ) n
         )
       WHERE f.locked_until IS NULL OR f.locked_until <= now()
       RETURNING failures`,
      [key, rule.lockAt, rule.firstLockSeconds, rule.maxLockSeconds, rule.decaySeconds],
    );
    return row?.failures ?? null;
  }

  /** A write without effect: it takes as long as the failure record of an existing account, against timing attacks. */
  async touch(tx: Tx, key: string): Promise<void> {
    await tx.query('UPDATE sign_in_failures SET last_failed_at = last_failed_at WHERE account_key = $1', [
      key,
    ]);
  }

  /** Whole seconds until the next attempt is accepted, at least 1. */
  async readSecondsLocked(tx: Tx, key: string): Promise<number> {
    const [row] = await tx.query<{ seconds: number }[]>(
      `SELECT greatest(1, ceil(extract(epoch FROM locked_until - clock_timestamp())))::int AS seconds
       FROM sign_in_failures WHERE account_key = $1`,
      [key],
    );
    return row?.seconds ?? 1;
  }

  /** Resets these counters. */
  async forget(tx: Tx, keys: readonly string[]): Promise<void> {
    await tx.query('DELETE FROM sign_in_failures WHERE account_key = ANY ($1::text[])', [keys]);
  }

  /**
   * As `forget`, for an account's password. Attempts without a slug count for every account with the e-mail, so that
   * counter is reset only when there is a single account.
   */
  async forgetPassword(tx: Tx, { withSlug, withoutSlug, email }: PasswordCounters): Promise<void> {
    await tx.query(
      `DELETE FROM sign_in_failures WHERE account_key = $1 OR account_key = $2
         AND (SELECT count(*) FROM users WHERE email = $3 AND deleted_at IS NULL) = 1`,
      [withSlug, withoutSlug, email],
    );
  }

  /**
   * Undoes one counted attempt that was neither a failure nor, so far, a success.
   * @param number the result of `count`: the lock is removed if this attempt caused it
   */
  async undoAttempt(tx: Tx, key: string, number: number): Promise<void> {
    await tx.query(
      `UPDATE sign_in_failures SET failures = failures - 1,
         locked_until = CASE WHEN failures = $2 THEN NULL ELSE locked_until END
       WHERE account_key = $1 AND failures > 0`,
      [key, number],
    );
  }
}

/** A device that has signed in to one of the given accounts. */
export interface KnownDevice {
  readonly id: string;
  readonly userId: string;
}

const RETENTION_DAYS = 180;
const MAX_DEVICES_PER_USER = 20;

/** Devices that have signed in before. Used before authentication: the token identifies the account. */
export class KnownDeviceStore {
  /** @returns the most recently used match; null when the device has signed in to none of the accounts */
  find(tx: Tx, tokenHash: string, userIds: readonly string[]): Promise<KnownDevice | null> {
    return first(
      tx,
      `SELECT id, user_id AS "userId" FROM known_devices
       WHERE token_hash = $1 AND user_id = ANY ($2::uuid[]) AND expires_at > now()
       ORDER BY expires_at DESC LIMIT 1`,
      [tokenHash, userIds],
    );
  }

  /** Whether the token was issued to a device, for any account. */
  async isKnown(tx: Tx, tokenHash: string): Promise<boolean> {
    const [row] = await tx.query<{ known: boolean }[]>(
      'SELECT EXISTS (SELECT FROM known_devices WHERE token_hash = $1 AND expires_at > now()) AS known',
      [tokenHash],
    );
    return row!.known;
  }

  /** Stores a device for 180 days from now; per user the 20 most recently used are kept. */
  async remember(
    tx: Tx,
    device: { organizationId: string; userId: string; tokenHash: string },
  ): Promise<void> {
    const { organizationId, userId, tokenHash } = device;
    await tx.query(
      `INSERT INTO known_devices (organization_id, user_id, token_hash, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(days => ${RETENTION_DAYS}))
       ON CONFLICT (token_hash, user_id) DO UPDATE SET expires_at = excluded.expires_at`,
      [organizationId, userId, tokenHash],
    );
    await tx.query(
      `DELETE FROM known_devices WHERE id IN (
         SELECT id FROM known_devices WHERE user_id = $1 ORDER BY expires_at DESC, id OFFSET ${MAX_DEVICES_PER_USER})`,
      [userId],
    );
  }

  async ofUser(tx: Tx, userId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>('SELECT id FROM known_devices WHERE user_id = $1', [
      userId,
    ]);
    return rows.map(({ id }) => id);
  }
}
