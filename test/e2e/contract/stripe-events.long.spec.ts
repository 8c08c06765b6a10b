import { DAY_MS } from '../../builders/billing/billing';
import { StripeBench } from '../../builders/billing/stripe-bench';
import { until } from '../../harness/until';
import { eventOf, invoiceOf, type StripeObject } from '../../harness/receivers/stripe-objects';

describe('4.8 Billing: Stripe events', () => {
  let bench: StripeBench;

  beforeAll(async () => {
    bench = await StripeBench.start();
  });
  afterAll(() => bench.stop());

  describe('the events', () => {
    it('checkout.session.completed: ACTIVE for Stripe’s period, on Paid, audited by SYSTEM', async () => {
      const { customer, subscription } = await bench.paying();
      const { items } = subscription as { items?: { data: { current_period_end: number }[] } };
      expect(await customer.subscription()).toMatchObject({
        status: 'ACTIVE',
        currentPeriodEnd: new Date(items!.data[0]!.current_period_end * 1000).toISOString(),
      });
      expect(await customer.tier()).toBe('PAID');
      expect((await customer.trail()).at(-1)).toMatchObject({
        eventType: 'SUBSCRIPTION_ACTIVATED',
        actorType: 'SYSTEM',
      });
    });

    it('invoice.paid: a payment, and the next period', async () => {
      const { customer, subscription } = await bench.paying();
      const before = await customer.subscription();
      bench.stripe.renew(subscription.id);
      const invoice = invoiceOf(subscription, true, 4900);
      await bench.tell('invoice.paid', invoice);
      const renewed = await customer.subscription();
      expect(renewed).toMatchObject({ status: 'ACTIVE', currentPeriodStart: before.currentPeriodEnd });
      expect(await customer.payments()).toMatchObject([
        { status: 'SUCCEEDED', amountCents: 4900, currency: 'EUR', reference: invoice.id },
      ]);
      expect((await customer.trail()).at(-1)).toMatchObject({
        eventType: 'PAYMENT_SUCCEEDED',
        actorType: 'SYSTEM',
      });
    });

    it('an invoice of an endpoint with a version before 2025-03-31 counts, too', async () => {
      const { customer, subscription } = await bench.paying();
      const { parent: _parent, ...invoice } = invoiceOf(subscription, true, 4900);
      await bench.tell('invoice.paid', { ...invoice, subscription: subscription.id });
      expect(await customer.payments()).toMatchObject([{ status: 'SUCCEEDED', reference: invoice.id }]);
    });

    it('an invoice without a subscription is answered 200 and logged', async () => {
      const event = eventOf('invoice.paid', { id: 'in_alone', amount_paid: 100, currency: 'eur' });
      expect((await bench.deliver(event)).status).toBe(200);
      const logged = new RegExp(`${event.id}.*invoice.paid.*it names no subscription`);
      await until('the event is in the log', () =>
        Promise.resolve(logged.test(bench.drawbridge.apiServer.output)),
      );
    });

    it('invoice.payment_failed: PAST_DUE with seven days of grace on Paid; paid later, ACTIVE again', async () => {
      const { customer, subscription } = await bench.paying();
      bench.stripe.changeSubscription(subscription.id, { status: 'past_due' });
      await bench.tell('invoice.payment_failed', invoiceOf(subscription, false, 4900));
      const due = await customer.subscription();
      expect(due.status).toBe('PAST_DUE');
      expect((Date.parse(due.gracePeriodEnd!) - Date.now()) / DAY_MS).toBeCloseTo(7, 1);
      expect(await customer.tier()).toBe('PAID');
      bench.stripe.renew(subscription.id);
      await bench.tell('invoice.paid', invoiceOf(subscription, true, 4900));
      expect(await customer.subscription()).toMatchObject({ status: 'ACTIVE', gracePeriodEnd: null });
      expect((await customer.events()).slice(-4)).toEqual([
        'PAYMENT_FAILED',
        'SUBSCRIPTION_PAST_DUE',
        'PAYMENT_SUCCEEDED',
        'SUBSCRIPTION_ACTIVATED',
      ]);
    });

    it('customer.subscription.updated: cancelled at Stripe is CANCELLED here, and taken back ACTIVE', async () => {
      const { customer, subscription } = await bench.paying();
      await bench.tell(
        'customer.subscription.updated',
        bench.stripe.changeSubscription(subscription.id, { cancel_at_period_end: true }),
      );
      expect(await customer.subscription()).toMatchObject({ status: 'CANCELLED', cancelAtPeriodEnd: true });
      expect(await customer.tier()).toBe('PAID');
      await bench.tell(
        'customer.subscription.updated',
        bench.stripe.changeSubscription(subscription.id, { cancel_at_period_end: false }),
      );
      expect(await customer.subscription()).toMatchObject({ status: 'ACTIVE', cancelAtPeriodEnd: false });
    });

    it('sent again, and twice at once, an event counts once', async () => {
      const { customer, subscription } = await bench.paying();
      const event = eventOf('invoice.paid', invoiceOf(subscription, true, 4900));
      const answers = await Promise.all([bench.deliver(event), bench.deliver(event), bench.deliver(event)]);
      answers.push(await bench.deliver(event));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await customer.payments()).toHaveLength(1);
    });

    it('an event that cannot be processed is 503, and is processed when it is sent again', async () => {
      const { customer, subscription } = await bench.paying();
      const event = eventOf('invoice.paid', invoiceOf(subscription, true, 4900));
      bench.stripe.fail('down', 'down');
      expect((await bench.deliver(event)).status).toBe(503);
      expect(await customer.payments()).toEqual([]);
      expect((await bench.deliver(event)).status).toBe(200);
      expect(await customer.payments()).toHaveLength(1);
    });

    it('the invoice before its checkout: the payment and the subscription are there all the same', async () => {
      const customer = await bench.customer();
      const { redirectUrl } = await customer.subscribed();
      const subscription = bench.stripe.pay(redirectUrl);
      await bench.tell('invoice.paid', invoiceOf(subscription, true, 4900));
      expect((await customer.subscription()).status).toBe('ACTIVE');
      await bench.tell('checkout.session.completed', bench.stripe.sessionOf(redirectUrl));
      expect((await customer.events()).slice(1)).toEqual([
        'SUBSCRIPTION_CREATED',
        'PAYMENT_SUCCEEDED',
        'SUBSCRIPTION_ACTIVATED',
      ]);
    });

    it('an old state that arrives after the end reactivates nothing', async () => {
      const { customer, subscription } = await bench.paying();
      const active = eventOf('customer.subscription.updated', subscription);
      await bench.tell(
        'customer.subscription.deleted',
        bench.stripe.changeSubscription(subscription.id, { status: 'canceled' }),
      );
      expect((await bench.deliver(active)).status).toBe(200);
      expect((await customer.subscription()).status).toBe('EXPIRED');
      expect(await customer.tier()).toBe('FREE');
    });

    it('an event about an unknown subscription is answered 200 and logged', async () => {
      const unknown: StripeObject = { id: 'sub_of_another_product', metadata: {} };
      await bench.tell('customer.subscription.updated', unknown);
      await bench.tell('invoice.paid', invoiceOf(unknown, true, 100));
      const logged = await until('the event is in the log', () =>
        Promise.resolve(/not ours to change.*sub_of_another_product/.exec(bench.drawbridge.apiServer.output)),
      );
      expect(logged).toHaveLength(1);
    });

    it('an event of another type is answered 200, outside the rate limit', async () => {
      const answer = await bench.deliver(eventOf('customer.created', { id: 'cus_1' }));
      expect(answer).toMatchObject({ status: 200, body: { received: true } });
      expect(answer.headers.get('x-ratelimit-limit')).toBeNull();
    });
  });

  describe('subscribing again', () => {
    it('while CANCELLED: charged from the end of the paid period on, and the old one ends at Stripe', async () => {
      const { customer, subscription: old } = await bench.paying();
      const cancelled = await customer.admin.expect(200, customer.cancel());
      const { redirectUrl } = await customer.subscribed();
      const paidUntil = cancelled.subscription.currentPeriodEnd!;
      expect(bench.stripe.sessionOf(redirectUrl)['subscription_data']).toMatchObject({
        trial_end: String(Date.parse(paidUntil) / 1000),
      });
      bench.stripe.pay(redirectUrl);
      await bench.tell('checkout.session.completed', bench.stripe.sessionOf(redirectUrl));
      expect(await customer.subscription()).toMatchObject({ status: 'ACTIVE', currentPeriodEnd: paidUntil });
      expect(bench.stripe.subscription(old.id)['status']).toBe('canceled');
      await bench.tell('customer.subscription.deleted', bench.stripe.subscription(old.id));
      expect((await customer.subscription()).status).toBe('ACTIVE');
    });

    it('what is paid after it ended here is given: a new subscription', async () => {
      const { customer, subscription } = await bench.paying();
      await bench.drawbridge.query(`UPDATE subscriptions SET status = 'EXPIRED' WHERE organization_id = $1`, [
        customer.organizationId,
      ]);
      bench.stripe.renew(subscription.id);
      await bench.tell('invoice.paid', invoiceOf(subscription, true, 4900));
      expect((await customer.subscription()).status).toBe('ACTIVE');
      expect(await customer.payments()).toHaveLength(1);
    });
  });

  describe('the end of a period', () => {
    it('is left to Stripe for a day: ACTIVE after an hour of silence, PAST_DUE after a day', async () => {
      const { customer: early } = await bench.paying();
      const { customer: late } = await bench.paying();
      await early.endPeriod(3600);
      await late.endPeriod(86_400 + 60);
      const worker = await bench.drawbridge.startWorker();
      await late.reaches('PAST_DUE');
      expect((await early.subscription()).status).toBe('ACTIVE');
      await worker.stop();
    });
  });
});
