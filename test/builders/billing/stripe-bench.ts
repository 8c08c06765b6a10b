import type { Answer } from '../../harness/product/api-client';
import { ConnectProxy } from '../../harness/network/connect-proxy';
import { Drawbridge } from '../../harness/product/drawbridge';
import { eventOf, type StripeObject } from '../../harness/receivers/stripe-objects';
import { StripeServer, stripeSignature } from '../../harness/receivers/stripe-server';
import { Customer } from './billing';

export const PRICE = 'price_1ExampleMonthly';

/** The product with a simulated Stripe. */
export class StripeBench {
  private constructor(
    readonly stripe: StripeServer,
    readonly drawbridge: Drawbridge,
    readonly proxy: ConnectProxy,
  ) {}

  static async start(): Promise<StripeBench> {
    const [stripe, proxy] = await Promise.all([StripeServer.start(), ConnectProxy.start()]);
    const drawbridge = await Drawbridge.start({
      worker: false,
      api: {
        PAYMENT: 'stripe',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
        STRIPE_PRICE_ID: PRICE,
        STRIPE_API_URL: stripe.url,
        EGRESS_PROXY: proxy.url,
        HTTPS_PROXY: 'http://127.0.0.1:1',
      },
    });
    return new StripeBench(stripe, drawbridge, proxy);
  }

  async stop(): Promise<void> {
    await this.drawbridge.stop();
    await this.stripe.stop();
    await this.proxy.stop();
  }

  post(body: string, signature: string | null): Promise<Answer> {
    const headers = signature === null ? {} : { 'Stripe-Signature': signature };
    return this.drawbridge.api.post('/billing/webhooks/stripe', body, headers);
  }

  deliver(event: StripeObject): Promise<Answer> {
    const body = JSON.stringify(event);
    return this.post(body, stripeSignature(body, this.stripe.webhookSecret));
  }

  /** Sends an event that must be accepted. */
  async tell(type: string, object: StripeObject): Promise<void> {
    await this.drawbridge.api.expect(200, this.deliver(eventOf(type, object)));
  }

  customer(): Promise<Customer> {
    return Customer.withDetails(this.drawbridge);
  }

  /** A customer with a subscription that Stripe renews. */
  async paying(): Promise<{ customer: Customer; subscription: StripeObject }> {
    const customer = await this.customer();
    const { redirectUrl } = await customer.subscribed();
    const subscription = this.stripe.pay(redirectUrl);
    await this.tell('checkout.session.completed', this.stripe.sessionOf(redirectUrl));
    await customer.reaches('ACTIVE');
    return { customer, subscription };
  }
}
