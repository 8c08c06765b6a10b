import { Logger } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type Stripe from 'stripe';
import type { ApiSettings } from '../../api.settings';
import { badRequest } from '../../errors';
import type { PublicAddress } from '../../http/public-address';
import {
  PaymentAdapter,
  paymentUnavailable,
  type Checkout,
  type CheckoutOrder,
  type PaymentEvent,
  type ReportedSubscription,
} from '../payment-adapter';
import { RETURN_PATH } from '../return-page.controller';
import { paymentEvent, reportedSubscription } from './stripe-reports';

/** Stripe accepts a deferred start (trial_end) only at least 48 hours ahead. */
const MIN_DEFERRED_START_MS = 49 * 60 * 60 * 1000;

interface Loaded {
  readonly errors: typeof Stripe.errors;
  readonly client: Stripe;
}

/** Stripe Checkout, webhooks and renewals. The package is loaded on first use. */
export class StripePayments extends PaymentAdapter {
  override readonly name = 'stripe';
  private readonly logger = new Logger('Stripe');
  private loading: Promise<Loaded> | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly address: PublicAddress,
  ) {
    super();
  }

  override async openCheckout(order: CheckoutOrder): Promise<Checkout> {
    const metadata = { organizationId: order.organizationId };
    const later = order.paidUntil && order.paidUntil.getTime() > Date.now() + MIN_DEFERRED_START_MS;
    const session = await this.call((stripe) =>
      stripe.checkout.sessions.create({
        mode: 'subscription',
        line_items: [{ price: this.settings.STRIPE_PRICE_ID ?? '', quantity: 1 }],
        client_reference_id: order.organizationId,
        customer_email: order.customerEmail,
        success_url: this.address.of(`${RETURN_PATH}/paid`),
        cancel_url: this.address.of(`${RETURN_PATH}/left`),
        metadata,
        subscription_data: {
          metadata,
          ...(later && order.paidUntil && { trial_end: Math.floor(order.paidUntil.getTime() / 1000) }),
        },
      }),
    );
    if (session.url === null) throw new Error('Stripe opened a checkout without a page');
    return { reference: session.id, redirectUrl: session.url };
  }

  override async abandonCheckout(reference: string): Promise<void> {
    await this.nullIfEnded((stripe) => stripe.checkout.sessions.expire(reference));
  }

  override async cancelAtPeriodEnd(reference: string): Promise<void> {
    await this.call((stripe) => stripe.subscriptions.update(reference, { cancel_at_period_end: true }));
  }

  override async end(reference: string): Promise<void> {
    await this.nullIfEnded((stripe) => stripe.subscriptions.cancel(reference));
  }

  override async readEvent(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | null> {
    const { client } = await this.loadOnce();
    const event = this.verified(client, body, headers['stripe-signature'] ?? '');
    const reported = paymentEvent(event);
    if (typeof reported !== 'string') return reported;
    this.logger.warn({ msg: 'An event is ignored', id: event.id, type: event.type, reason: reported });
    return null;
  }

  /** Every error here is caused by the request: the package throws various errors for malformed headers. */
  private verified(client: Stripe, body: Buffer, signature: string | string[]): Stripe.Event {
    try {
      return client.webhooks.constructEvent(body, signature, this.settings.STRIPE_WEBHOOK_SECRET ?? '');
    } catch (error) {
      this.logger.warn({ msg: 'An event was refused', reason: error instanceof Error ? error.name : '' });
      throw badRequest('The Stripe-Signature header is missing, wrong or too old');
    }
  }

  override async readSubscription(reference: string): Promise<ReportedSubscription | null> {
    const found = await this.nullIfEnded((stripe) => stripe.subscriptions.retrieve(reference));
    return found && reportedSubscription(found);
  }

  /** @returns null when Stripe refuses the call because the object is missing or has ended */
  private async nullIfEnded<T>(work: (stripe: Stripe) => Promise<T>): Promise<T | null> {
    const { errors } = await this.loadOnce();
    try {
      return await this.call(work);
    } catch (error) {
      if (error instanceof errors.StripeInvalidRequestError) {
        this.logger.debug({ msg: 'Stripe: the object is missing or has ended', reason: error.message });
        return null;
      }
      throw error;
    }
  }

  private async call<T>(work: (stripe: Stripe) => Promise<T>): Promise<T> {
    const { errors, client } = await this.loadOnce();
    try {
      return await work(client);
    } catch (error) {
      if (!(error instanceof errors.StripeError) || !isTransient(error)) throw error;
      this.logger.warn({ msg: 'Stripe is out of reach', reason: error.message });
      throw paymentUnavailable();
    }
  }

  private loadOnce(): Promise<Loaded> {
    this.loading ??= this.load();
    return this.loading;
  }

  private async load(): Promise<Loaded> {
    const { stripeClient, stripeErrors } = await import('./stripe-client.js');
    const { STRIPE_SECRET_KEY = '', STRIPE_API_URL } = this.settings;
    return { errors: stripeErrors, client: stripeClient(STRIPE_SECRET_KEY, STRIPE_API_URL) };
  }
}

/** Connection errors, server errors and rate limiting are retryable. */
const isTransient = (error: Stripe.errors.StripeError): boolean =>
  error.statusCode === undefined || error.statusCode >= 500 || error.statusCode === 429;
