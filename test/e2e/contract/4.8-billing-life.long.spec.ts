import {
  coded,
  Customer,
  DAY_MS,
  open,
  press,
  refusal,
  type Coded,
  type Subscription,
} from '../../builders/billing/billing';
import { organization } from '../../builders/accounts/organization';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const after = (moment: string | null): number => Date.parse(moment ?? '') - Date.now();

describe('4.8 Billing', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  /** Workers sweep ended periods when they start, and schedule the next end. */
  const sweptTo = async (customer: Customer, status: string, workers = 1): Promise<Subscription> => {
    const started = await Promise.all(Array.from({ length: workers }, () => drawbridge.startWorker()));
    const subscription = await customer.reaches(status);
    // a worker that is asked to end finishes the sweep it is in
    await Promise.all(started.map((worker) => worker.stop()));
    return subscription;
  };

  describe('POST /billing/cancel', () => {
    it('404 NOT_FOUND without a subscription', async () => {
      const customer = await Customer.withDetails(drawbridge);
      expect(refusal(await customer.cancel())).toEqual(coded(404, 'NOT_FOUND'));
    });

    it('CANCELLED, and on Paid until currentPeriodEnd; audited by the admin', async () => {
      const customer = await Customer.paying(drawbridge);
      const { currentPeriodEnd } = await customer.subscription();
      expect(await customer.cancel()).toMatchObject({
        status: 200,
        body: { subscription: { status: 'CANCELLED', cancelAtPeriodEnd: true, currentPeriodEnd } },
      });
      expect(await customer.tier()).toBe('PAID');
      expect((await customer.trail()).at(-1)).toMatchObject({
        eventType: 'SUBSCRIPTION_CANCELLED',
        actorType: 'USER',
        actorEmail: customer.email,
      });
    });

    it('a second time changes nothing more', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.cancel();
      expect(await customer.cancel()).toMatchObject({
        status: 200,
        body: { subscription: { status: 'CANCELLED' } },
      });
      expect((await customer.events()).filter((type) => type === 'SUBSCRIPTION_CANCELLED')).toHaveLength(1);
    });

    it('a PENDING one is EXPIRED at once, its page takes no payment, and there is nothing left to cancel', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      expect(await customer.cancel()).toMatchObject({
        status: 200,
        body: { subscription: { status: 'EXPIRED' } },
      });
      expect((await press(redirectUrl, 'confirm')).status).toBe(409);
      expect(await customer.tier()).toBe('FREE');
      expect((await customer.cancel()).status).toBe(404);
    });

    it('at currentPeriodEnd it is EXPIRED and the plan Free, and a new one can be subscribed to', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.cancel();
      await customer.endPeriod();
      await sweptTo(customer, 'EXPIRED');
      expect(await customer.tier()).toBe('FREE');
      expect((await customer.trail()).at(-1)).toMatchObject({
        eventType: 'SUBSCRIPTION_EXPIRED',
        actorType: 'SYSTEM',
      });
      const { redirectUrl } = await customer.subscribed();
      await press(redirectUrl, 'confirm');
      expect(await customer.subscription()).toMatchObject({ status: 'ACTIVE', cancelAtPeriodEnd: false });
      expect(await customer.tier()).toBe('PAID');
    });
  });

  describe('subscribing again while CANCELLED', () => {
    const cancelled = async (): Promise<{ customer: Customer; before: Subscription }> => {
      const customer = await Customer.paying(drawbridge);
      const answer = await customer.admin.expect(200, customer.cancel());
      return { customer, before: answer.subscription };
    };

    it('is PENDING and stays on Paid; paid, a period follows the one that runs', async () => {
      const { customer, before } = await cancelled();
      const { redirectUrl, subscription } = await customer.subscribed();
      expect(subscription).toMatchObject({ status: 'PENDING', currentPeriodEnd: before.currentPeriodEnd });
      expect(await customer.tier()).toBe('PAID');
      await press(redirectUrl, 'confirm');
      const paid = await customer.subscription();
      expect(paid).toMatchObject({ status: 'ACTIVE', cancelAtPeriodEnd: false });
      expect(paid.currentPeriodStart).toBe(before.currentPeriodStart);
      expect(after(paid.currentPeriodEnd) - after(before.currentPeriodEnd)).toBeGreaterThan(27 * DAY_MS);
    });

    it('cancelled again before it is paid, it is CANCELLED as before', async () => {
      const { customer, before } = await cancelled();
      await customer.subscribed();
      const answer = await customer.admin.expect(200, customer.cancel());
      expect(answer.subscription).toEqual(before);
      expect(await customer.tier()).toBe('PAID');
    });

    it('not paid until the period ends, it is EXPIRED and the plan Free', async () => {
      const { customer } = await cancelled();
      await customer.subscribed();
      await customer.endPeriod();
      await sweptTo(customer, 'EXPIRED');
      expect(await customer.tier()).toBe('FREE');
    });
  });

  describe('a period that ends without a payment', () => {
    it('is PAST_DUE with seven days of grace on Paid, changed once by several workers', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      const subscription = await sweptTo(customer, 'PAST_DUE', 2);
      expect(after(subscription.gracePeriodEnd) / DAY_MS).toBeGreaterThan(6.9);
      expect(after(subscription.gracePeriodEnd) / DAY_MS).toBeLessThanOrEqual(7);
      expect(await customer.tier()).toBe('PAID');
      expect((await customer.events()).filter((type) => type === 'SUBSCRIPTION_PAST_DUE')).toHaveLength(1);
    });

    it('its page can be paid again: ACTIVE for the period that follows', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      await press(redirectUrl, 'confirm');
      await customer.endPeriod(60);
      const { currentPeriodEnd: ended } = await customer.subscription();
      await sweptTo(customer, 'PAST_DUE');
      expect((await open(redirectUrl)).html).toContain('/confirm"');
      await press(redirectUrl, 'confirm');
      const renewed = await customer.subscription();
      expect(renewed).toMatchObject({ status: 'ACTIVE', currentPeriodStart: ended, gracePeriodEnd: null });
      expect(after(renewed.currentPeriodEnd)).toBeGreaterThan(27 * DAY_MS);
    });

    it('a new page can be asked for, and keeps the grace', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      const { gracePeriodEnd } = await sweptTo(customer, 'PAST_DUE');
      const { redirectUrl, subscription } = await customer.subscribed();
      expect(subscription).toMatchObject({ status: 'PENDING', gracePeriodEnd });
      expect(await customer.tier()).toBe('PAID');
      await press(redirectUrl, 'confirm');
      expect(await customer.subscription()).toMatchObject({ status: 'ACTIVE', gracePeriodEnd: null });
    });

    it('cancelled, it ends at once', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      await sweptTo(customer, 'PAST_DUE');
      expect(await customer.cancel()).toMatchObject({
        status: 200,
        body: { subscription: { status: 'EXPIRED' } },
      });
      expect(await customer.tier()).toBe('FREE');
    });

    it('at gracePeriodEnd it is EXPIRED and the plan Free', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      await sweptTo(customer, 'PAST_DUE');
      await customer.endGrace();
      await sweptTo(customer, 'EXPIRED');
      expect(await customer.tier()).toBe('FREE');
      expect((await customer.events()).slice(-2)).toEqual(['SUBSCRIPTION_PAST_DUE', 'SUBSCRIPTION_EXPIRED']);
    });
  });

  describe('back on Free', () => {
    it('everything stays, a sixth resource and a key are refused, and a running session ends as planned', async () => {
      const org = await organization(drawbridge);
      await drawbridge.query(`UPDATE organizations SET subscription_tier = 'FREE' WHERE id = $1`, [
        org.organizationId,
      ]);
      const customer = Customer.of(drawbridge, org.admin, org.organizationId);
      await customer.setDetails();
      await press((await customer.subscribed()).redirectUrl, 'confirm');
      const resource = (index: number): Promise<Answer<Coded>> =>
        org.admin.post('/resources', {
          name: `more-${index}`,
          credentialId: org.credentialId,
          provider: 'AWS',
          resourceType: 'SECURITY_GROUP',
          resourceIdentifier: `sg-0123456789abcdef${index}`,
          region: 'eu-central-1',
        });
      const created = await Promise.all([1, 2, 3, 4, 5].map(resource));
      expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
      const key = await org.apiKey(['sessions:read', 'sessions:write']);
      const worker = await drawbridge.startWorker();
      const { id } = await org.started({ ipv4Address: '203.0.113.48', durationHours: 20 });
      const running = await org.reaches(id, 'ACTIVE');

      await customer.cancel();
      await customer.endPeriod();
      await sweptTo(customer, 'EXPIRED');

      expect(await org.admin.expect(200, org.admin.get<object[]>('/resources'))).toHaveLength(6);
      expect(await resource(6)).toMatchObject({ status: 400, body: { error: 'MAX_RESOURCES_REACHED' } });
      // a key still reads and stops, and starts nothing
      expect((await key.get('/sessions')).status).toBe(200);
      expect((await key.post('/sessions', { ipv4Address: '203.0.113.99' })).status).toBe(403);
      const more = await org.admin.post('/api-keys', { name: 'more', scopes: ['sessions:read'] });
      expect(more.status).toBe(403);
      const session = await org.session(id);
      expect(session).toMatchObject({ status: 'ACTIVE', expiresAt: running.expiresAt, endedAt: null });
      await worker.stop();
    });
  });
});
