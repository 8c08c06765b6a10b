import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import type { AuditActor, Slice, Sliced } from '#entities';
import { type PaymentRow, type SubscriptionRow, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { cancelledStatus, type OrganizationId } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { badRequest, notFound, notPossible, unprocessable } from '../errors';
import type { Actor } from '../http/actor';
import { missingDetails } from './organization-billing.service';
import { PaymentAdapter, type Checkout } from './payment-adapter';
import { Plans, type Plan } from '../plans/plans';
import { SubscriptionRecords } from './subscription-records';

export interface Subscribed {
  readonly row: SubscriptionRow;
  readonly plan: Plan;
}

const NO_SUBSCRIPTION = 'The organization has no subscription: POST /billing/subscribe opens one';
const NOTHING_BILLED = 'The organization has no subscription: this deployment does not bill';

@Injectable()
export class BillingService {
  private readonly logger = new Logger('Billing');

  constructor(
    private readonly stores: Tenants,
    private readonly records: SubscriptionRecords,
    private readonly plans: Plans,
    private readonly adapter: PaymentAdapter,
  ) {}

  /** The current or unpaid subscription, otherwise the last one that ended. */
  async subscription({ organizationId }: Principal): Promise<Subscribed> {
    const row = await this.stores.billing.latestSubscription(this.stores.autocommit, organizationId);
    if (!row) throw notFound(this.plans.bills ? NO_SUBSCRIPTION : NOTHING_BILLED);
    return this.withPlan(row);
  }

  payments({ organizationId }: Principal, slice: Slice): Promise<Sliced<PaymentRow>> {
    return this.stores.billing.payments(this.stores.autocommit, organizationId, slice);
  }

  /**
   * Opens a checkout. The payment service is called before anything is written: an unused checkout does no harm.
   * @throws ApiError 404, 400 or 422, checked in this order, or 503
   */
  async subscribe(actor: Actor, planId: string): Promise<Subscribed & { readonly redirectUrl: string }> {
    const { principal } = actor;
    const { organizationId } = principal;
    const plan = this.plans.find(planId);
    if (!plan) throw notFound(`Plan ${planId} does not exist: see GET /billing/plans`);
    if (plan.tier === 'FREE') throw badRequest('planId names the free plan, which needs no subscription');
    const before = await this.stores.billing.latestSubscription(this.stores.autocommit, organizationId);
    if (before?.status === 'ACTIVE') throw alreadyActive();
    const customerEmail = await this.billingEmail(principal);
    const checkout = await this.adapter.openCheckout({
      organizationId,
      customerEmail,
      paidUntil: before?.periodRuns ? before.currentPeriodEnd : null,
    });
    const row = await this.saveCheckout(principal, plan, checkout, auditActor(actor));
    return { row, plan, redirectUrl: checkout.redirectUrl };
  }

  /**
   * A paid subscription ends with its period, an unpaid one immediately. Idempotent. The payment service is called before
   * anything is written: when the write fails, its event about the end arrives, or the customer cancels again.
   */
  async cancel(actor: Actor): Promise<Subscribed> {
    const { organizationId } = actor.principal;
    for (;;) {
      const row = await this.stores.billing.latestSubscription(this.stores.autocommit, organizationId);
      if (!row || row.status === 'EXPIRED') throw notFound(NO_SUBSCRIPTION);
      if (row.status === 'CANCELLED') return this.withPlan(row);
      await this.cancelAtService(row);
      const after = await this.recordCancellation(organizationId, row, auditActor(actor));
      // changed while the service was called, perhaps by its own event about this
      if (!after) continue;
      if (row.status === 'PENDING') await this.abandonCheckout(row);
      return this.withPlan(after);
    }
  }

  private async cancelAtService(row: SubscriptionRow): Promise<void> {
    if (row.adapterReference === null || row.adapter !== this.adapter.name) return;
    if (endsWithPeriod(row)) await this.adapter.cancelAtPeriodEnd(row.adapterReference);
    else await this.adapter.end(row.adapterReference);
  }

  /** @returns null when the subscription is no longer as it was when the service was called */
  private recordCancellation(
    organizationId: OrganizationId,
    called: SubscriptionRow,
    by: AuditActor,
  ): Promise<SubscriptionRow | null> {
    return this.stores.transaction(async (tx) => {
      await this.stores.billing.lock(tx, organizationId);
      const row = await this.stores.billing.latestSubscription(tx, organizationId);
      if (!row || !isDeepStrictEqual(row, called)) return null;
      const move = endsWithPeriod(row) ? 'cancel' : 'expire';
      const moved = await this.stores.subscriptionMoves[move](tx, organizationId, row.id);
      return this.records.writeMove(tx, organizationId, by, row, moved);
    });
  }

  private async saveCheckout(
    { organizationId }: Principal,
    plan: Plan,
    { reference }: Checkout,
    by: AuditActor,
  ): Promise<SubscriptionRow> {
    const { id: planId, priceCents, currency } = plan;
    const adapter = this.adapter.name;
    const { before, row } = await this.stores.transaction(async (tx) => {
      await this.stores.billing.lock(tx, organizationId);
      const current = await this.stores.billing.latestSubscription(tx, organizationId);
      const checkout = { planId, priceCents, currency, adapter, checkoutReference: reference };
      const opened = await this.stores.billing.openCheckout(tx, organizationId, checkout);
      if (opened)
        await this.records.write(tx, organizationId, by, opened, {
          eventType: 'SUBSCRIPTION_CREATED',
          priceCents,
          currency,
        });
      return { before: current, row: opened };
    });
    if (!row) {
      await this.abandonCheckout({ adapter, checkoutReference: reference });
      throw alreadyActive();
    }
    if (before?.status === 'PENDING') await this.abandonCheckout(before);
    return row;
  }

  /** Closes a replaced checkout, so that it cannot be paid as well. Failures are only logged. */
  private async abandonCheckout({
    adapter,
    checkoutReference,
  }: Pick<SubscriptionRow, 'adapter' | 'checkoutReference'>): Promise<void> {
    if (checkoutReference === null || adapter !== this.adapter.name) return;
    try {
      await this.adapter.abandonCheckout(checkoutReference);
    } catch (error) {
      this.logger.warn({ msg: 'A checkout that was replaced is still open', reason: String(error) });
    }
  }

  private async billingEmail({ organizationId }: Principal): Promise<string> {
    const details = await this.stores.billing.details(this.stores.autocommit, organizationId);
    const missing = missingDetails(details);
    if (missing.length > 0 || !details?.billingEmail) {
      throw unprocessable(
        `The billing details lack ${missing.join(', ')}: set them with PATCH /organization/billing`,
      );
    }
    return details.billingEmail;
  }

  private withPlan(row: SubscriptionRow): Subscribed {
    return { row, plan: this.plans.find(row.planId) ?? this.plans.paid };
  }
}

const endsWithPeriod = ({ status, periodRuns }: SubscriptionRow): boolean =>
  cancelledStatus(status, periodRuns) === 'CANCELLED';

const alreadyActive = (): Error =>
  notPossible('An active subscription exists: cancel it first with POST /billing/cancel');
