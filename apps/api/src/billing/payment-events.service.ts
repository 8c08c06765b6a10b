import { Injectable, Logger } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { type SubscriptionRow, Tenants } from '#tenant-store';
import {
  asOrganizationId,
  followingMoves,
  isPaidFor,
  type OrganizationId,
  type SubscriptionStatus,
} from '#rules';
import { isUUID } from 'class-validator';
import { notFound } from '../errors';
import { PaymentAdapter, type PaymentEvent, type ReportedSubscription } from './payment-adapter';
import { Plans } from '../plans/plans';
import { SubscriptionRecords } from './subscription-records';

type Report = ReportedSubscription & { readonly reference: string };

/** Calls to the payment service after the commit. */
type AfterCommit = (() => Promise<void>) | null;

/**
 * Synchronizes subscriptions with the payment service. An event only triggers the synchronization: the state is read from
 * the service under the organization's lock, so events may arrive late, repeatedly or out of order.
 */
@Injectable()
export class PaymentEvents {
  private readonly logger = new Logger('PaymentEvents');

  constructor(
    private readonly stores: Tenants,
    private readonly records: SubscriptionRecords,
    private readonly plans: Plans,
    private readonly payments: PaymentAdapter,
  ) {}

  /**
   * @param body the raw bytes of the request
   * @throws ApiError 404 for an adapter that is not in use, 400 for a body that does not come from the service
   */
  async receive(adapter: string, body: Buffer, headers: IncomingHttpHeaders): Promise<void> {
    if (adapter !== this.payments.name) throw notFound(`No payments are made through ${adapter} here`);
    const event = await this.payments.readEvent(body, headers);
    if (!event) return;
    const afterCommit = await this.stores.transaction((tx) => this.process(tx, event));
    try {
      await afterCommit?.();
    } catch (error) {
      this.logger.error({
        msg: 'A replaced subscription or checkout at the payment service must be ended manually',
        event,
        reason: String(error),
      });
    }
  }

  private async process(tx: Tx, event: PaymentEvent): Promise<AfterCommit> {
    if (!(await this.stores.paymentEvents.recordEvent(tx, this.payments.name, event.id))) return null;
    const organization = await this.organizationOf(tx, event);
    if (!organization || (await this.stores.billing.lock(tx, organization)) === null)
      return this.ignore(event, 'it is of no organization here');
    const found = await this.payments.readSubscription(event.reference);
    const report = found && { ...found, reference: event.reference };
    const current = await this.stores.billing.latestSubscription(tx, organization);
    const isCurrent = current?.adapterReference === event.reference && current.status !== 'EXPIRED';
    const row = isCurrent ? current : report && (await this.rowForNew(tx, organization, current, report));
    if (!report) return this.ignore(event, 'the payment service knows no such subscription');
    if (!row) return this.ignore(event, 'another subscription is the current one, or it is not paid for');
    await this.recordPayment(tx, organization, row, event);
    await this.applyReport(tx, organization, row, report);
    return this.endReplaced(row, report);
  }

  /** From the subscription's row, or from the metadata that was stored at the service with the checkout. */
  private async organizationOf(tx: Tx, event: PaymentEvent): Promise<OrganizationId | null> {
    const known = await this.stores.paymentEvents.organizationOfSubscription(
      tx,
      this.payments.name,
      event.reference,
    );
    if (known) return known;
    return isUUID(event.organizationId) ? asOrganizationId(event.organizationId!) : null;
  }

  /** The row for a subscription's first payment: that of the open checkout, or a new one for a late payment. */
  private async rowForNew(
    tx: Tx,
    organization: OrganizationId,
    current: SubscriptionRow | null,
    { status }: Report,
  ): Promise<SubscriptionRow | null> {
    const paid = status !== null && isPaidFor(status);
    if (current?.status === 'PENDING') return paid || status === null ? current : null;
    if (!paid || (current && current.status !== 'EXPIRED')) return null;
    const { id: planId, priceCents, currency } = this.plans.paid;
    const late = { planId, priceCents, currency, adapter: this.payments.name, checkoutReference: null };
    return this.stores.billing.openCheckout(tx, organization, late);
  }

  private async applyReport(
    tx: Tx,
    organization: OrganizationId,
    row: SubscriptionRow,
    report: Report,
  ): Promise<void> {
    if (report.status === null) return;
    let current = row;
    for (const next of movesTo(row, report)) {
      const moved = await this.move(tx, organization, current.id, next, report);
      current = await this.records.writeMove(tx, organization, SYSTEM_ACTOR, current, moved);
    }
  }

  private move(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    to: SubscriptionStatus,
    { reference, period }: Report,
  ): Promise<SubscriptionRow | null> {
    const { subscriptionMoves } = this.stores;
    switch (to) {
      case 'ACTIVE':
        return subscriptionMoves.activate(tx, organization, id, reference, period);
      case 'CANCELLED':
        return subscriptionMoves.cancel(tx, organization, id, period.end);
      case 'PAST_DUE':
        return subscriptionMoves.fallDue(tx, organization, id);
      case 'EXPIRED':
        return subscriptionMoves.expire(tx, organization, id);
      case 'PENDING':
        throw new Error('No payment service opens a checkout');
    }
  }

  private async recordPayment(
    tx: Tx,
    organization: OrganizationId,
    row: SubscriptionRow,
    { payment, type }: PaymentEvent,
  ): Promise<void> {
    if (!payment) return;
    const { reference, ...paid } = payment;
    await this.stores.billing.recordPayment(tx, organization, {
      ...paid,
      subscriptionId: row.id,
      adapterReference: reference,
    });
    const event = payment.status === 'SUCCEEDED' ? 'PAYMENT_SUCCEEDED' : 'PAYMENT_FAILED';
    await this.records.write(tx, organization, SYSTEM_ACTOR, row, {
      ...payment,
      eventType: event,
      event: type,
    });
  }

  /** Ends what the payment replaced: the previous subscription, and the open checkout, which may not be the paid one. */
  private endReplaced(row: SubscriptionRow, { reference, status }: Report): AfterCommit {
    if (row.status !== 'PENDING' || status === null || !isPaidFor(status)) return null;
    const { adapterReference: before, checkoutReference: checkout } = row;
    return async () => {
      if (before !== null && before !== reference) await this.payments.end(before);
      if (checkout !== null) await this.payments.abandonCheckout(checkout);
    };
  }

  /** For subscriptions of other products, late events of ended subscriptions, and second subscriptions. */
  private ignore({ id, type, reference, payment }: PaymentEvent, reason: string): null {
    this.logger.warn({
      msg: 'An event about a subscription that is not ours to change',
      id,
      type,
      reference,
      payment,
      reason,
    });
    return null;
  }
}

/** The transitions to the reported status. A first payment activates the subscription before anything else. */
function movesTo(row: SubscriptionRow, { reference, status }: Report): readonly SubscriptionStatus[] {
  if (status === null) return [];
  const isNew = row.status === 'PENDING' && row.adapterReference !== reference;
  if (!isNew) return followingMoves(row.status, status);
  return isPaidFor(status)
    ? ['ACTIVE', ...followingMoves('ACTIVE', status).filter((next) => next !== 'ACTIVE')]
    : [];
}
