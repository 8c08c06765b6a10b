import { Injectable, Logger } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { Database, SYSTEM_ACTOR, type Tx } from '#entities';
import { BillingStore, PaymentEventStore, type SubscriptionRow } from '#tenant-store';
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
import { Plans } from './plans';
import { SubscriptionMoves } from './subscription-moves';

type Report = ReportedSubscription & { readonly reference: string };

/** What is left to tell the payment service once the transaction stands. */
type Afterwards = (() => Promise<void>) | null;

/**
 * Brings our subscriptions to what the payment service says. An event is only the reason to look: how the subscription
 * stands is read from the service under the organization's lock, so that events may come late, twice or out of order.
 */
@Injectable()
export class PaymentEvents {
  private readonly logger = new Logger('PaymentEvents');

  constructor(
    private readonly database: Database,
    private readonly billing: BillingStore,
    private readonly events: PaymentEventStore,
    private readonly moves: SubscriptionMoves,
    private readonly plans: Plans,
    private readonly payments: PaymentAdapter,
  ) {}

  /**
   * @param body the request's, byte for byte
   * @throws ApiError 404 for an adapter that is not in use, 400 for a body that is not the service's
   */
  async take(adapter: string, body: Buffer, headers: IncomingHttpHeaders): Promise<void> {
    if (adapter !== this.payments.name) throw notFound(`No payments are made through ${adapter} here`);
    const event = await this.payments.readEvent(body, headers);
    if (!event) return;
    const afterwards = await this.database.transaction((tx) => this.dealWith(tx, event));
    try {
      await afterwards?.();
    } catch (error) {
      this.logger.error({
        msg: 'Something at the payment service is left to end by hand',
        event,
        reason: String(error),
      });
    }
  }

  private async dealWith(tx: Tx, event: PaymentEvent): Promise<Afterwards> {
    if (!(await this.events.note(tx, this.payments.name, event.id))) return null;
    const organization = await this.organizationOf(tx, event);
    if (!organization || (await this.billing.lock(tx, organization)) === null) return this.unknown(event);
    const found = await this.payments.readSubscription(event.reference);
    const report = found && { ...found, reference: event.reference };
    const current = await this.billing.latestSubscription(tx, organization);
    const ours = current?.adapterReference === event.reference && current.status !== 'EXPIRED';
    const row = ours ? current : report && (await this.placeFor(tx, organization, current, report));
    if (!row || !report) return this.unknown(event);
    await this.recordPayment(tx, organization, row, event);
    await this.follow(tx, organization, row, report);
    return this.leftover(row, report);
  }

  /** Whose it is: the row knows, or the note we left at the service when the checkout was opened. */
  private async organizationOf(tx: Tx, event: PaymentEvent): Promise<OrganizationId | null> {
    const known = await this.events.organizationOfSubscription(tx, this.payments.name, event.reference);
    if (known) return known;
    return isUUID(event.organizationId) ? asOrganizationId(event.organizationId!) : null;
  }

  /** The row of a subscription that was paid for the first time: the open checkout's, or one for what was paid late. */
  private async placeFor(
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
    return this.billing.openCheckout(tx, organization, late);
  }

  private async follow(
    tx: Tx,
    organization: OrganizationId,
    row: SubscriptionRow,
    report: Report,
  ): Promise<void> {
    if (report.status === null) return;
    let current = row;
    for (const next of stepsOf(row, report))
      current = await this.step(tx, organization, current, next, report);
  }

  private step(
    tx: Tx,
    organization: OrganizationId,
    row: SubscriptionRow,
    to: SubscriptionStatus,
    report: Report,
  ): Promise<SubscriptionRow> {
    const { moves } = this;
    switch (to) {
      case 'ACTIVE':
        return moves.activate(tx, organization, row, SYSTEM_ACTOR, report);
      case 'CANCELLED':
        return moves.cancel(tx, organization, row, SYSTEM_ACTOR, report.period.end);
      case 'PAST_DUE':
        return moves.fallDue(tx, organization, row, SYSTEM_ACTOR);
      case 'EXPIRED':
        return moves.expire(tx, organization, row, SYSTEM_ACTOR);
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
    await this.billing.recordPayment(tx, organization, {
      ...paid,
      subscriptionId: row.id,
      adapterReference: reference,
    });
    const event = payment.status === 'SUCCEEDED' ? 'PAYMENT_SUCCEEDED' : 'PAYMENT_FAILED';
    await this.moves.record(tx, organization, SYSTEM_ACTOR, event, row, { ...payment, event: type });
  }

  /** What the payment made superfluous: the subscription before it, and a checkout that may be another than was paid. */
  private leftover(row: SubscriptionRow, { reference, status }: Report): Afterwards {
    if (row.status !== 'PENDING' || status === null || !isPaidFor(status)) return null;
    const { adapterReference: before, checkoutReference: checkout } = row;
    return async () => {
      if (before !== null && before !== reference) await this.payments.end(before);
      if (checkout !== null) await this.payments.abandonCheckout(checkout);
    };
  }

  /** Another product's of the same account, an ended one's echo, or a second one that somebody pays for. */
  private unknown({ type, reference, payment }: PaymentEvent): null {
    this.logger.warn({
      msg: 'An event about a subscription that is not ours to change',
      type,
      reference,
      payment,
    });
    return null;
  }
}

/** A first payment opens the way to whatever the service says of it by now. */
function stepsOf(row: SubscriptionRow, { reference, status }: Report): readonly SubscriptionStatus[] {
  if (status === null) return [];
  const isNew = row.status === 'PENDING' && row.adapterReference !== reference;
  if (!isNew) return followingMoves(row.status, status);
  return isPaidFor(status)
    ? ['ACTIVE', ...followingMoves('ACTIVE', status).filter((next) => next !== 'ACTIVE')]
    : [];
}
