import type { OrganizationId } from '#rules';
import type { Tx } from '#entities';

export interface EndedPeriod {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** to PAST_DUE: a renewal is due. to EXPIRED: nothing that was paid or granted is left */
  readonly to: 'PAST_DUE' | 'EXPIRED';
}

/** A payment service that renews by itself tells hours later; only its silence for a day says that nothing was paid. */
const RENEWAL_DUE = `s.current_period_end + CASE s.adapter WHEN 'sandbox' THEN interval '0' ELSE interval '1 day' END`;

const ENDED = `CASE s.status
    WHEN 'ACTIVE' THEN CASE WHEN ${RENEWAL_DUE} <= now() THEN 'PAST_DUE' END
    WHEN 'PAST_DUE' THEN CASE WHEN s.grace_period_end <= now() THEN 'EXPIRED' END
    WHEN 'CANCELLED' THEN CASE WHEN s.current_period_end <= now() THEN 'EXPIRED' END
    WHEN 'PENDING' THEN
      CASE WHEN coalesce(s.grace_period_end, s.current_period_end) <= now() THEN 'EXPIRED' END
  END`;

/** What the sweep over all organizations' subscriptions asks, on the database's clock. Any number of workers may ask at once. */
export class SubscriptionSweepStore {
  /**
   * Subscriptions whose period or grace is over, locked until the transaction ends, each for one worker. The
   * organization is locked with its subscription, as everybody who changes billing does; nobody is waited for.
   */
  ended(tx: Tx, limit: number): Promise<EndedPeriod[]> {
    return tx.query(
      `SELECT s.id, s.organization_id AS "organizationId", ${ENDED} AS to
       FROM subscriptions s JOIN organizations o ON o.id = s.organization_id
       WHERE s.status <> 'EXPIRED' AND least(s.current_period_end, s.grace_period_end) <= now()
         AND ${ENDED} IS NOT NULL
       ORDER BY s.current_period_end LIMIT $1 FOR NO KEY UPDATE OF s, o SKIP LOCKED`,
      [limit],
    );
  }

  /** Milliseconds until something that was paid or granted may be over; null: nothing has an end ahead. */
  async untilNextEnd(tx: Tx): Promise<number | null> {
    const [next] = await tx.query<{ ms: number | null }[]>(
      `SELECT extract(epoch FROM min(ends.at) - now())::float8 * 1000 AS ms
       FROM subscriptions s CROSS JOIN LATERAL (VALUES (s.current_period_end), (s.grace_period_end), (${RENEWAL_DUE})) ends (at)
       WHERE s.status <> 'EXPIRED' AND least(s.current_period_end, s.grace_period_end) < now() + interval '1 minute'
         AND ends.at > now()`,
    );
    return next!.ms;
  }
}
