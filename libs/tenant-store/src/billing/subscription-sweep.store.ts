import type { OrganizationId } from '#rules';
import type { Tx } from '#entities';

export interface EndedPeriod {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** PAST_DUE: a renewal is due. EXPIRED: neither a paid period nor a grace period is left */
  readonly to: 'PAST_DUE' | 'EXPIRED';
}

/**
 * A payment service that renews automatically reports hours later; only after a day without a report nothing was paid.
 */
const RENEWAL_DUE = `s.current_period_end + CASE s.adapter WHEN 'sandbox' THEN interval '0' ELSE interval '1 day' END`;

const ENDED = `CASE s.status
    WHEN 'ACTIVE' THEN CASE WHEN ${RENEWAL_DUE} <= now() THEN 'PAST_DUE' END
    WHEN 'PAST_DUE' THEN CASE WHEN s.grace_period_end <= now() THEN 'EXPIRED' END
    WHEN 'CANCELLED' THEN CASE WHEN s.current_period_end <= now() THEN 'EXPIRED' END
    WHEN 'PENDING' THEN
      CASE WHEN coalesce(s.grace_period_end, s.current_period_end) <= now() THEN 'EXPIRED' END
  END`;

/**
 * Queries of the subscription sweep over all organizations, by the database's clock. Safe with any number of workers.
 */
export class SubscriptionSweepStore {
  /**
   * Subscriptions whose period or grace is over, locked until the transaction ends, each for one worker. The
   * organization is locked with its subscription, like in every change of billing; locked rows are skipped.
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
}
