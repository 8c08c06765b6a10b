import { GRACE_DAYS, type OrganizationId, type PlanInterval, type SubscriptionStatus } from '#rules';
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from './billing.store';
import { PAYABLE, type TenantStore, type Tx, first, mayBecome } from '#entities';

export interface PaidPeriod {
  readonly start: Date;
  readonly end: Date;
}

const MONTHS: Readonly<Record<PlanInterval, number>> = { MONTH: 1, YEAR: 12 };

/** SQL of one move: updates subscription and organization tier in one statement, so that they never differ. */
const move = (to: SubscriptionStatus, from: string, changes: string, tier: string): string => `
  WITH moved AS (
    UPDATE subscriptions SET status = '${to}', updated_at = now(), ${changes}
    WHERE organization_id = $1 AND id = $2 AND status IN (${from}) RETURNING *
  ), entitled AS (
    UPDATE organizations SET subscription_tier = '${tier}', updated_at = now()
    WHERE id = (SELECT organization_id FROM moved) AND subscription_tier <> '${tier}'
  )
  SELECT ${SUBSCRIPTION_COLUMNS} FROM moved s`;

/**
 * The status transitions of a subscription, each guarded by its source statuses. All return the moved row, or null when
 * it was in none of them. The organization is on the Paid plan from the first payment until EXPIRED.
 */
export class SubscriptionMoveStore implements TenantStore<SubscriptionMoveStore> {
  /** Paid for one more interval: after the paid period, or from now when that ended more than an interval ago. */
  payInterval(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    interval: PlanInterval,
  ): Promise<SubscriptionRow | null> {
    const oneMore = `current_period_end + make_interval(months => $3)`;
    const changes = `grace_period_end = NULL, cancel_at_period_end = false,
      current_period_start = CASE WHEN current_period_end > now() THEN current_period_start
        WHEN ${oneMore} > now() THEN current_period_end ELSE now() END,
      current_period_end = CASE WHEN ${oneMore} > now() THEN ${oneMore}
        ELSE now() + make_interval(months => $3) END`;
    return first(tx, move('ACTIVE', PAYABLE, changes, 'PAID'), [organization, id, MONTHS[interval]]);
  }

  /** Paid for a period given by the payment service. @param reference the service's id of the subscription */
  activate(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    reference: string,
    period: PaidPeriod,
  ): Promise<SubscriptionRow | null> {
    const changes = `grace_period_end = NULL, cancel_at_period_end = false, adapter_reference = $3,
      current_period_start = $4, current_period_end = $5`;
    const statement = move('ACTIVE', mayBecome('ACTIVE'), changes, 'PAID');
    return first(tx, statement, [organization, id, reference, period.start, period.end]);
  }

  /** Ends with the paid period. @param periodEnd as given by the payment service; null: unchanged */
  cancel(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    periodEnd: Date | null = null,
  ): Promise<SubscriptionRow | null> {
    const changes = `cancel_at_period_end = true, current_period_end = coalesce($3, current_period_end)`;
    const statement = move('CANCELLED', mayBecome('CANCELLED'), changes, 'PAID');
    return first(tx, statement, [organization, id, periodEnd]);
  }

  /** Not paid in time: the grace period starts. */
  fallDue(tx: Tx, organization: OrganizationId, id: string): Promise<SubscriptionRow | null> {
    const changes = `grace_period_end = now() + make_interval(days => ${GRACE_DAYS})`;
    return first(tx, move('PAST_DUE', mayBecome('PAST_DUE'), changes, 'PAID'), [organization, id]);
  }

  /** Ended: the organization is back on the Free plan. */
  expire(tx: Tx, organization: OrganizationId, id: string): Promise<SubscriptionRow | null> {
    const changes = `cancel_at_period_end = false`;
    return first(tx, move('EXPIRED', mayBecome('EXPIRED'), changes, 'FREE'), [organization, id]);
  }
}

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
  listEnded(tx: Tx, limit: number): Promise<EndedPeriod[]> {
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
