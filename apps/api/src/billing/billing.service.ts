import { Injectable, Logger } from '@nestjs/common';
import { type AuditActor, Database, type Slice, type Sliced, type Tx } from '#entities';
import { BillingStore, type PaymentRow, type SubscriptionRow } from '#tenant-store';
import type { Principal } from '#guards';
import { cancelledStatus } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { badRequest, notFound, notPossible, unprocessable } from '../errors';
import type { Actor } from '../http/actor';
import { missingDetails } from './organization-billing.service';
import { PaymentAdapter, type Checkout } from './payment-adapter';
import { Plans, type Plan } from './plans';
import { SubscriptionMoves } from './subscription-moves';

export interface Subscribed {
  readonly row: SubscriptionRow;
  readonly plan: Plan;
}

const NO_SUBSCRIPTION = 'The organization has no subscription: POST /billing/subscribe opens one';

@Injectable()
export class BillingService {
  private readonly logger = new Logger('Billing');

  constructor(
    private readonly database: Database,
    private readonly billing: BillingStore,
    private readonly moves: SubscriptionMoves,
    private readonly plans: Plans,
    private readonly adapter: PaymentAdapter,
  ) {}

  /** The current or unpaid subscription, otherwise the last one that ended. */
  async subscription({ organizationId }: Principal): Promise<Subscribed> {
    const row = await this.billing.latestSubscription(this.database.autocommit, organizationId);
    if (!row) throw notFound(NO_SUBSCRIPTION);
    return this.withPlan(row);
  }

  payments({ organizationId }: Principal, slice: Slice): Promise<Sliced<PaymentRow>> {
    return this.billing.payments(this.database.autocommit, organizationId, slice);
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
    const before = await this.billing.latestSubscription(this.database.autocommit, organizationId);
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

  /** A paid subscription ends with its period, an unpaid one immediately. Idempotent. */
  async cancel(actor: Actor): Promise<Subscribed> {
    const { principal } = actor;
    const { organizationId } = principal;
    const by = auditActor(actor);
    const { before, after } = await this.database.transaction(async (tx) => {
      await this.billing.lock(tx, organizationId);
      const row = await this.billing.latestSubscription(tx, organizationId);
      if (!row || row.status === 'EXPIRED') throw notFound(NO_SUBSCRIPTION);
      if (row.status === 'CANCELLED') return { before: row, after: row };
      return { before: row, after: await this.cancelInTransaction(tx, principal, row, by) };
    });
    if (before.status === 'PENDING') await this.abandonCheckout(before);
    return this.withPlan(after);
  }

  /** Calls the payment service last, inside the transaction: its failure rolls the cancellation back. */
  private async cancelInTransaction(
    tx: Tx,
    { organizationId }: Principal,
    row: SubscriptionRow,
    by: AuditActor,
  ): Promise<SubscriptionRow> {
    const atPeriodEnd = cancelledStatus(row.status, row.periodRuns) === 'CANCELLED';
    const moved = atPeriodEnd
      ? await this.moves.cancel(tx, organizationId, row, by)
      : await this.moves.expire(tx, organizationId, row, by);
    if (row.adapterReference !== null && row.adapter === this.adapter.name) {
      if (atPeriodEnd) await this.adapter.cancelAtPeriodEnd(row.adapterReference);
      else await this.adapter.end(row.adapterReference);
    }
    return moved;
  }

  private async saveCheckout(
    { organizationId }: Principal,
    plan: Plan,
    { reference }: Checkout,
    by: AuditActor,
  ): Promise<SubscriptionRow> {
    const { id: planId, priceCents, currency } = plan;
    const adapter = this.adapter.name;
    const { before, row } = await this.database.transaction(async (tx) => {
      await this.billing.lock(tx, organizationId);
      const current = await this.billing.latestSubscription(tx, organizationId);
      const checkout = { planId, priceCents, currency, adapter, checkoutReference: reference };
      const opened = await this.billing.openCheckout(tx, organizationId, checkout);
      if (opened)
        await this.moves.record(tx, organizationId, by, 'SUBSCRIPTION_CREATED', opened, {
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
    const details = await this.billing.details(this.database.autocommit, organizationId);
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

const alreadyActive = (): Error =>
  notPossible('An active subscription exists: cancel it first with POST /billing/cancel');
