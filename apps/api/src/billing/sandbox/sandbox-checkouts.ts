import { Injectable } from '@nestjs/common';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { type SubscriptionRow, Tenants } from '#tenant-store';
import { PAYABLE_STATUSES, type OrganizationId } from '#rules';
import { opaqueTokenHash } from '#secrets';
import { PaymentAdapter } from '../payment-adapter';
import type { BrowserPage } from '../../pages/browser-page';
import { Plans } from '../../plans/plans';
import { SubscriptionRecords } from '../subscription-records';
import {
  checkoutPage,
  declinedPage,
  refusedPage,
  UNKNOWN_CHECKOUT,
  type SandboxCheckout,
} from './sandbox-pages';
import { SANDBOX } from './sandbox.adapter';

type CheckoutAction = (
  tx: Tx,
  organization: OrganizationId,
  checkout: SandboxCheckout,
) => Promise<BrowserPage>;

const isPayable = ({ status }: SubscriptionRow): boolean =>
  (PAYABLE_STATUSES as readonly string[]).includes(status);

/** The page of a sandbox checkout and its two buttons. The token is the only credential. */
@Injectable()
export class SandboxCheckouts {
  constructor(
    private readonly stores: Tenants,
    private readonly records: SubscriptionRecords,
    private readonly plans: Plans,
    private readonly payments: PaymentAdapter,
  ) {}

  show(token: string): Promise<BrowserPage> {
    return this.onCheckout(token, (_tx, _organization, checkout) => Promise.resolve(checkoutPage(checkout)));
  }

  /** Pays. Idempotent. */
  confirm(token: string): Promise<BrowserPage> {
    return this.onCheckout(token, async (tx, organization, checkout) => {
      const { subscription } = checkout;
      if (subscription.status === 'ACTIVE') return checkoutPage(checkout);
      if (!isPayable(subscription)) return refusedPage(checkout);
      await this.recordPayment(tx, organization, subscription, 'SUCCEEDED');
      const { interval } = checkout.plan;
      const moved = await this.stores.subscriptionMoves.payInterval(
        tx,
        organization,
        subscription.id,
        interval,
      );
      const paid = await this.records.writeMove(tx, organization, SYSTEM_ACTOR, subscription, moved);
      return checkoutPage({ ...checkout, subscription: paid });
    });
  }

  /** Simulates a failed payment; the checkout stays payable. */
  decline(token: string): Promise<BrowserPage> {
    return this.onCheckout(token, async (tx, organization, checkout) => {
      if (!isPayable(checkout.subscription)) return refusedPage(checkout);
      await this.recordPayment(tx, organization, checkout.subscription, 'FAILED');
      return declinedPage(checkout);
    });
  }

  private onCheckout(token: string, action: CheckoutAction): Promise<BrowserPage> {
    // the buttons must not pay when another adapter is in use
    if (this.payments.name !== SANDBOX) return Promise.resolve(UNKNOWN_CHECKOUT);
    const reference = opaqueTokenHash(token);
    return this.stores.transaction(async (tx) => {
      const organization = await this.stores.paymentEvents.organizationOfCheckout(tx, SANDBOX, reference);
      const organizationName = organization && (await this.stores.billing.lock(tx, organization));
      const subscription = organization && (await this.stores.billing.latestSubscription(tx, organization));
      if (!organizationName || subscription?.checkoutReference !== reference) return UNKNOWN_CHECKOUT;
      const plan = this.plans.find(subscription.planId) ?? this.plans.paid;
      return action(tx, organization, { token, organizationName, plan, subscription });
    });
  }

  private async recordPayment(
    tx: Tx,
    organization: OrganizationId,
    subscription: SubscriptionRow,
    status: 'SUCCEEDED' | 'FAILED',
  ): Promise<void> {
    const payment = { amountCents: subscription.priceCents, currency: subscription.currency };
    await this.stores.billing.recordPayment(tx, organization, {
      ...payment,
      subscriptionId: subscription.id,
      status,
      adapterReference: null,
    });
    const event = status === 'SUCCEEDED' ? 'PAYMENT_SUCCEEDED' : 'PAYMENT_FAILED';
    await this.records.write(tx, organization, SYSTEM_ACTOR, subscription, { ...payment, eventType: event });
  }
}
