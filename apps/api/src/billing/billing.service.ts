import { Injectable, Logger } from '@nestjs/common';
import { type AuditActor, Database, type Slice, type Sliced, type Tx } from '#entities';
import { BillingStore, type PaymentRow, type SubscriptionRow } from '#tenant-store';
import type { Principal } from '#guards';
import { cancelledStatus, type HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { badRequest, notFound, notPossible, unprocessable } from '../errors';
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
    private readonly payments: PaymentAdapter,
  ) {}

  /** The subscription that runs or waits for its payment, else the last one that ended. */
  async subscription({ organizationId }: Principal): Promise<Subscribed> {
    const row = await this.billing.latestSubscription(this.database.autocommit, organizationId);
    if (!row) throw notFound(NO_SUBSCRIPTION);
    return this.withPlan(row);
  }

  paid({ organizationId }: Principal, slice: Slice): Promise<Sliced<PaymentRow>> {
    return this.billing.payments(this.database.autocommit, organizationId, slice);
  }

  /**
   * Opens a checkout. Its page is asked for before anything is written: one that nobody was sent to does no harm.
   * @throws ApiError 404, 400 or 422, checked in this order, or 503
   */
  async subscribe(
    principal: Principal,
    planId: string,
    caller: HostAddress | null,
  ): Promise<Subscribed & { readonly redirectUrl: string }> {
    const { organizationId } = principal;
    const plan = this.plans.find(planId);
    if (!plan) throw notFound(`Plan ${planId} does not exist: see GET /billing/plans`);
    if (plan.tier === 'FREE') throw badRequest('planId names the free plan, which needs no subscription');
    const before = await this.billing.latestSubscription(this.database.autocommit, organizationId);
    if (before?.status === 'ACTIVE') throw alreadyActive();
    const customerEmail = await this.billingEmail(principal);
    const checkout = await this.payments.openCheckout({
      organizationId,
      customerEmail,
      paidUntil: before?.periodRuns ? before.currentPeriodEnd : null,
    });
    const row = await this.keepCheckout(
      principal,
      plan,
      checkout,
      auditActor(principal, caller?.text ?? null),
    );
    return { row, plan, redirectUrl: checkout.redirectUrl };
  }

  /** What is paid for is used up; what was never paid ends at once. Said again, it changes nothing more. */
  async cancel(principal: Principal, caller: HostAddress | null): Promise<Subscribed> {
    const { organizationId } = principal;
    const by = auditActor(principal, caller?.text ?? null);
    const { before, after } = await this.database.transaction(async (tx) => {
      await this.billing.lock(tx, organizationId);
      const row = await this.billing.latestSubscription(tx, organizationId);
      if (!row || row.status === 'EXPIRED') throw notFound(NO_SUBSCRIPTION);
      if (row.status === 'CANCELLED') return { before: row, after: row };
      return { before: row, after: await this.cancelled(tx, principal, row, by) };
    });
    if (before.status === 'PENDING') await this.abandon(before);
    return this.withPlan(after);
  }

  /** The service is told last, inside the transaction: when it refuses, nothing was cancelled here either. */
  private async cancelled(
    tx: Tx,
    { organizationId }: Principal,
    row: SubscriptionRow,
    by: AuditActor,
  ): Promise<SubscriptionRow> {
    const atPeriodEnd = cancelledStatus(row.status, row.periodRuns) === 'CANCELLED';
    const moved = atPeriodEnd
      ? await this.moves.cancel(tx, organizationId, row, by)
      : await this.moves.expire(tx, organizationId, row, by);
    if (row.adapterReference !== null && row.adapter === this.payments.name) {
      if (atPeriodEnd) await this.payments.cancelAtPeriodEnd(row.adapterReference);
      else await this.payments.end(row.adapterReference);
    }
    return moved;
  }

  private async keepCheckout(
    { organizationId }: Principal,
    plan: Plan,
    { reference }: Checkout,
    by: AuditActor,
  ): Promise<SubscriptionRow> {
    const { id: planId, priceCents, currency } = plan;
    const adapter = this.payments.name;
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
      await this.abandon({ adapter, checkoutReference: reference });
      throw alreadyActive();
    }
    if (before?.status === 'PENDING') await this.abandon(before);
    return row;
  }

  /** A page that could still be paid would be paid twice. What cannot be closed is only logged: the deed stands. */
  private async abandon({
    adapter,
    checkoutReference,
  }: Pick<SubscriptionRow, 'adapter' | 'checkoutReference'>): Promise<void> {
    if (checkoutReference === null || adapter !== this.payments.name) return;
    try {
      await this.payments.abandonCheckout(checkoutReference);
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
