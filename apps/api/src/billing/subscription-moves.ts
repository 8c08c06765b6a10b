import { Injectable } from '@nestjs/common';
import type { AuditActor, AuditEventType, Tx } from '#entities';
import { type PaidPeriod, type SubscriptionRow, TenantStores } from '#tenant-store';
import type { OrganizationId, SubscriptionStatus } from '#rules';
import { Plans } from '../plans/plans';

const EVENTS: Readonly<Record<Exclude<SubscriptionStatus, 'PENDING'>, AuditEventType>> = {
  ACTIVE: 'SUBSCRIPTION_ACTIVATED',
  CANCELLED: 'SUBSCRIPTION_CANCELLED',
  PAST_DUE: 'SUBSCRIPTION_PAST_DUE',
  EXPIRED: 'SUBSCRIPTION_EXPIRED',
};

/** What is recorded of a subscription: the type of the record, and its details. */
type SubscriptionEvent = Readonly<Record<string, unknown>> & { readonly eventType: AuditEventType };

/** Status transitions of subscriptions, with their audit records. The caller holds the organization's billing lock. */
@Injectable()
export class SubscriptionMoves {
  constructor(
    private readonly stores: TenantStores,
    private readonly plans: Plans,
  ) {}

  async payInterval(
    tx: Tx,
    org: OrganizationId,
    row: SubscriptionRow,
    by: AuditActor,
  ): Promise<SubscriptionRow> {
    const { interval } = this.plans.find(row.planId) ?? this.plans.paid;
    const moved = await this.stores.subscriptionMoves.payInterval(tx, org, row.id, interval);
    return this.recordMove(tx, org, by, row, moved);
  }

  async activate(
    tx: Tx,
    org: OrganizationId,
    row: SubscriptionRow,
    by: AuditActor,
    paid: { readonly reference: string; readonly period: PaidPeriod },
  ): Promise<SubscriptionRow> {
    const moved = await this.stores.subscriptionMoves.activate(tx, org, row.id, paid.reference, paid.period);
    return this.recordMove(tx, org, by, row, moved);
  }

  async cancel(
    tx: Tx,
    org: OrganizationId,
    row: SubscriptionRow,
    by: AuditActor,
    periodEnd: Date | null = null,
  ): Promise<SubscriptionRow> {
    const moved = await this.stores.subscriptionMoves.cancel(tx, org, row.id, periodEnd);
    return this.recordMove(tx, org, by, row, moved);
  }

  async fallDue(tx: Tx, org: OrganizationId, row: SubscriptionRow, by: AuditActor): Promise<SubscriptionRow> {
    return this.recordMove(tx, org, by, row, await this.stores.subscriptionMoves.fallDue(tx, org, row.id));
  }

  async expire(tx: Tx, org: OrganizationId, row: SubscriptionRow, by: AuditActor): Promise<SubscriptionRow> {
    return this.recordMove(tx, org, by, row, await this.stores.subscriptionMoves.expire(tx, org, row.id));
  }

  /** Writes an audit record about a subscription. */
  record(
    tx: Tx,
    org: OrganizationId,
    by: AuditActor,
    row: SubscriptionRow,
    { eventType, ...details }: SubscriptionEvent,
  ): Promise<void> {
    const failed = eventType === 'PAYMENT_FAILED';
    return this.stores.audit.write(tx, org, {
      ...by,
      eventType,
      resourceType: 'SUBSCRIPTION',
      resourceId: row.id,
      resourceName: this.plans.find(row.planId)?.displayName ?? null,
      result: failed ? 'FAILURE' : 'SUCCESS',
      errorMessage: failed ? 'The payment was declined' : null,
      details,
    });
  }

  private async recordMove(
    tx: Tx,
    org: OrganizationId,
    by: AuditActor,
    before: SubscriptionRow,
    moved: SubscriptionRow | null,
  ): Promise<SubscriptionRow> {
    if (!moved) throw new Error(`Subscription ${before.id} cannot leave ${before.status} this way`);
    // a renewal changes only the period, and its payment is recorded
    if (moved.status === before.status || moved.status === 'PENDING') return moved;
    await this.record(tx, org, by, moved, {
      eventType: EVENTS[moved.status],
      previousStatus: before.status,
      currentPeriodEnd: moved.currentPeriodEnd,
      gracePeriodEnd: moved.gracePeriodEnd,
    });
    return moved;
  }
}
