import { Injectable } from '@nestjs/common';
import type { AuditActor, AuditEventType, Tx } from '#entities';
import { type SubscriptionRow, TenantStores } from '#tenant-store';
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

/** Audit records of subscriptions. */
@Injectable()
export class SubscriptionRecords {
  constructor(
    private readonly stores: TenantStores,
    private readonly plans: Plans,
  ) {}

  write(
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

  /**
   * Writes that it left its status.
   * @param moved null: it could not
   */
  async writeMove(
    tx: Tx,
    org: OrganizationId,
    by: AuditActor,
    before: SubscriptionRow,
    moved: SubscriptionRow | null,
  ): Promise<SubscriptionRow> {
    if (!moved) throw new Error(`Subscription ${before.id} cannot leave ${before.status} this way`);
    // a renewal changes only the period, and its payment is recorded
    if (moved.status === before.status || moved.status === 'PENDING') return moved;
    await this.write(tx, org, by, moved, {
      eventType: EVENTS[moved.status],
      previousStatus: before.status,
      currentPeriodEnd: moved.currentPeriodEnd,
      gracePeriodEnd: moved.gracePeriodEnd,
    });
    return moved;
  }
}
