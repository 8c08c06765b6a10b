import type { Tx } from '#entities';

/** A device that has signed in to one of the accounts in question. */
export interface KnownDevice {
  readonly id: string;
  readonly userId: string;
}

const DAYS_KEPT = 180;
const MAX_DEVICES_PER_USER = 20;

/** Devices that have signed in before. They come before anybody is known: the token says whose they are. */
export class KnownDeviceStore {
  /** @returns the one used last, when the device knows several of the accounts; null when it knows none */
  async find(tx: Tx, tokenHash: string, userIds: readonly string[]): Promise<KnownDevice | null> {
    const [row] = await tx.query<KnownDevice[]>(
      `SELECT id, user_id AS "userId" FROM known_devices
       WHERE token_hash = $1 AND user_id = ANY ($2::uuid[]) AND expires_at > now()
       ORDER BY expires_at DESC LIMIT 1`,
      [tokenHash, userIds],
    );
    return row ?? null;
  }

  /** Whether the token was given to a device, by whatever account. */
  async isKnown(tx: Tx, tokenHash: string): Promise<boolean> {
    const [row] = await tx.query<{ known: boolean }[]>(
      'SELECT EXISTS (SELECT FROM known_devices WHERE token_hash = $1 AND expires_at > now()) AS known',
      [tokenHash],
    );
    return row!.known;
  }

  /** Keeps a device for 180 days from now, and of a user's devices the 20 used last. */
  async remember(
    tx: Tx,
    device: { organizationId: string; userId: string; tokenHash: string },
  ): Promise<void> {
    const { organizationId, userId, tokenHash } = device;
    await tx.query(
      `INSERT INTO known_devices (organization_id, user_id, token_hash, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(days => ${DAYS_KEPT}))
       ON CONFLICT (token_hash, user_id) DO UPDATE SET expires_at = excluded.expires_at`,
      [organizationId, userId, tokenHash],
    );
    await tx.query(
      `DELETE FROM known_devices WHERE id IN (
         SELECT id FROM known_devices WHERE user_id = $1 ORDER BY expires_at DESC, id OFFSET ${MAX_DEVICES_PER_USER})`,
      [userId],
    );
  }

  /** Every device that a user's account knows. */
  async ofUser(tx: Tx, userId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>('SELECT id FROM known_devices WHERE user_id = $1', [
      userId,
    ]);
    return rows.map(({ id }) => id);
  }
}
