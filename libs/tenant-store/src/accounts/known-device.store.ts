import { type Tx, first } from '#entities';

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
    return first<KnownDevice>(
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

  /** The ids of all devices of a user. */
  async ofUser(tx: Tx, userId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>('SELECT id FROM known_devices WHERE user_id = $1', [
      userId,
    ]);
    return rows.map(({ id }) => id);
  }
}
