import StripeClient from 'stripe';
import { press } from '../../builders/billing/billing';
import { PRICE, StripeBench } from '../../builders/billing/stripe-bench';
import { eventOf } from '../../harness/receivers/stripe-objects';
import { stripeSignature } from '../../harness/receivers/stripe-server';

const MINUTE_MS = 60_000;

describe('4.8 Billing: payment through Stripe', () => {
  let bench: StripeBench;

  beforeAll(async () => {
    bench = await StripeBench.start();
  });
  afterAll(() => bench.stop());

  describe('a checkout', () => {
    it('is opened for the configured price, and its page is redirectUrl', async () => {
      const customer = await bench.customer();
      const { redirectUrl, subscription } = await customer.subscribed();
      expect(subscription.status).toBe('PENDING');
      expect(redirectUrl).toMatch(/^https:\/\/checkout\.stripe\.example\/c\/pay\/cs_test_/);
      const asked = bench.stripe.requests.findLast(({ path }) => path === '/v1/checkout/sessions');
      expect(asked?.form).toMatchObject({
        mode: 'subscription',
        line_items: { 0: { price: PRICE, quantity: '1' } },
        customer_email: 'invoices@example.com',
        client_reference_id: customer.organizationId,
        subscription_data: { metadata: { organizationId: customer.organizationId } },
      });
    });

    it('is asked for through the proxy of EGRESS_PROXY, the only one that is used', async () => {
      await (await bench.customer()).subscribed();
      expect(bench.proxy.requests).toContain(`CONNECT ${new URL(bench.stripe.url).host}`);
      expect(bench.drawbridge.apiServer.output).toContain('"unused":["HTTPS_PROXY"]');
    });

    it('sends the customer back to a page of this service', async () => {
      const customer = await bench.customer();
      await customer.subscribed();
      const { form } = bench.stripe.requests.findLast(({ path }) => path === '/v1/checkout/sessions')!;
      for (const name of ['success_url', 'cancel_url']) {
        const page = await fetch(form[name] as string);
        expect(page.status).toBe(200);
        expect(page.headers.get('content-type')).toContain('text/html');
      }
    });

    it('whose answer is lost is asked for again with the same idempotency key, and opened once', async () => {
      const customer = await bench.customer();
      const before = bench.stripe.openSessions().length;
      bench.stripe.fail('lost');
      await customer.subscribed();
      expect(bench.stripe.openSessions()).toHaveLength(before + 1);
      const [first, second] = bench.stripe.requests.slice(-2);
      expect(second!.idempotencyKey).toBe(first!.idempotencyKey);
      expect(first!.idempotencyKey).not.toBeNull();
    });

    it('503 while Stripe is down, and nothing is subscribed to', async () => {
      const customer = await bench.customer();
      bench.stripe.fail('down', 'down');
      const answer = await customer.subscribe();
      expect(answer).toMatchObject({ status: 503, body: { error: 'SERVICE_UNAVAILABLE' } });
      expect(answer.headers.get('retry-after')).toBe('5');
      expect((await customer.admin.get('/billing/subscription')).status).toBe(404);
    });

    it('that is replaced can no longer be paid', async () => {
      const customer = await bench.customer();
      const first = await customer.subscribed();
      const session = bench.stripe.sessionOf(first.redirectUrl);
      await customer.subscribed();
      expect(bench.stripe.sessionOf(`/${session.id}`)['status']).toBe('expired');
    });

    it('that is cancelled can no longer be paid', async () => {
      const customer = await bench.customer();
      const { redirectUrl } = await customer.subscribed();
      const { id } = bench.stripe.sessionOf(redirectUrl);
      expect(await customer.cancel()).toMatchObject({ body: { subscription: { status: 'EXPIRED' } } });
      expect(bench.stripe.sessionOf(`/${id}`)['status']).toBe('expired');
    });
  });

  describe('the signature', () => {
    const body = (): string => JSON.stringify(eventOf('customer.created', { id: 'cus_1' }));

    it('of the test server is the one Stripe’s own package makes', () => {
      const text = body();
      const timestamp = 1_780_000_000;
      const theirs = new StripeClient('sk_test_none').webhooks.generateTestHeaderString({
        payload: text,
        secret: bench.stripe.webhookSecret,
        timestamp,
      });
      expect(stripeSignature(text, bench.stripe.webhookSecret, timestamp * 1000)).toBe(theirs);
    });

    it.each([
      ['missing', () => null],
      ['garbled', () => 't=1,v1'],
      ['made with another secret', (text: string) => stripeSignature(text, 'whsec_other')],
      ['over another body', (_: string, secret: string) => stripeSignature('{}', secret)],
      [
        'six minutes old',
        (text: string, secret: string) => stripeSignature(text, secret, Date.now() - 6 * MINUTE_MS),
      ],
    ])('%s: 400 BAD_REQUEST', async (_what, make) => {
      const text = body();
      const answer = await bench.post(text, make(text, bench.stripe.webhookSecret));
      expect(answer).toMatchObject({ status: 400, body: { error: 'BAD_REQUEST' } });
    });

    it('is made over the bytes as they came: blanks and order stay', async () => {
      const text = ` {"type" : "customer.created",\n "id":"evt_blanks","data":{"object":{"id":"cus_1"}},"object":"event"} `;
      expect((await bench.post(text, stripeSignature(text, bench.stripe.webhookSecret))).status).toBe(200);
    });

    it('an event without a right one changes nothing', async () => {
      const customer = await bench.customer();
      const { redirectUrl } = await customer.subscribed();
      bench.stripe.pay(redirectUrl);
      const text = JSON.stringify(eventOf('checkout.session.completed', bench.stripe.sessionOf(redirectUrl)));
      expect((await bench.post(text, stripeSignature(text, 'whsec_forged'))).status).toBe(400);
      expect((await customer.subscription()).status).toBe('PENDING');
    });
  });

  describe('a cancellation', () => {
    it('reaches Stripe: no renewal after the period', async () => {
      const { customer, subscription } = await bench.paying();
      expect(await customer.cancel()).toMatchObject({ body: { subscription: { status: 'CANCELLED' } } });
      expect(bench.stripe.subscription(subscription.id)).toMatchObject({
        status: 'active',
        cancel_at_period_end: true,
      });
    });

    it('that does not reach Stripe has no effect: 503, and the subscription continues', async () => {
      const { customer } = await bench.paying();
      bench.stripe.fail('down', 'down');
      expect((await customer.cancel()).status).toBe(503);
      expect((await customer.subscription()).status).toBe('ACTIVE');
      expect(await customer.events()).not.toContain('SUBSCRIPTION_CANCELLED');
    });

    it('holds nothing while Stripe is asked: Stripe’s own event about it is handled meanwhile', async () => {
      const { customer, subscription } = await bench.paying();
      const { id } = subscription;
      bench.stripe.fail(() =>
        bench.tell('customer.subscription.updated', bench.stripe.changeSubscription(id, {})),
      );
      expect(await customer.cancel()).toMatchObject({ body: { subscription: { status: 'CANCELLED' } } });
      // an event that waited for the cancellation would have kept it waiting until it asks again
      const asked = bench.stripe.requests.filter(
        ({ method, path }) => method === 'POST' && path.includes(id),
      );
      expect(asked).toHaveLength(1);
      const events = (await customer.events()).filter((event) => event === 'SUBSCRIPTION_CANCELLED');
      expect(events).toHaveLength(1);
    });

    it('of what is PAST_DUE ends it at Stripe at once', async () => {
      const { customer, subscription } = await bench.paying();
      await bench.tell(
        'customer.subscription.updated',
        bench.stripe.changeSubscription(subscription.id, { status: 'past_due' }),
      );
      expect(await customer.cancel()).toMatchObject({ body: { subscription: { status: 'EXPIRED' } } });
      expect(bench.stripe.subscription(subscription.id)['status']).toBe('canceled');
    });
  });

  it('the sandbox’s page pays nothing', async () => {
    const page = `http://127.0.0.1:${bench.drawbridge.apiServer.port}/billing/sandbox/anything`;
    expect((await press(page, 'confirm')).status).toBe(404);
  });
});
