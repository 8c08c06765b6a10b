import { randomUUID } from 'node:crypto';
import { BILLING_DETAILS, coded, Customer, press, refusal, type Coded } from '../../builders/billing/billing';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.8 Billing', () => {
  const drawbridge = Drawbridge.own({
    worker: false,
    api: { PAID_PLAN_PRICE_CENTS: '2950', PAID_PLAN_CURRENCY: 'USD' },
  });

  describe('GET /billing/plans', () => {
    it('names two plans, Free and Paid, with the configured price and their limits', async () => {
      const customer = await Customer.register(drawbridge);
      const plans = await customer.admin.expect(200, customer.admin.get('/billing/plans'));
      expect(plans).toMatchObject([
        {
          name: 'FREE',
          displayName: 'Free',
          tier: 'FREE',
          priceCents: 0,
          currency: 'USD',
          interval: 'MONTH',
          limits: { maxSessionDurationHours: 4, maxResources: 5, maxUsers: 5 },
        },
        {
          name: 'PAID',
          displayName: 'Paid',
          tier: 'PAID',
          priceCents: 2950,
          currency: 'USD',
          interval: 'MONTH',
          limits: { maxSessionDurationHours: 24, maxResources: null, maxUsers: null },
        },
      ]);
    });
  });

  describe('POST /billing/subscribe', () => {
    it('answers 200 with redirectUrl, a PENDING subscription without periods, and success', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const answer = await customer.subscribe();
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual({
        redirectUrl: expect.stringMatching(/^http:\/\/localhost:\d+\/billing\/sandbox\/[\w-]{43}$/) as string,
        subscription: {
          planName: 'PAID',
          planDisplayName: 'Paid',
          tier: 'PAID',
          priceCents: 2950,
          currency: 'USD',
          status: 'PENDING',
          currentPeriodStart: null,
          currentPeriodEnd: null,
          gracePeriodEnd: null,
          cancelAtPeriodEnd: false,
        },
        success: true,
      });
      expect(await customer.tier()).toBe('FREE');
    });

    it('400 BAD_REQUEST for a planId that is none, naming it', async () => {
      const { admin } = await Customer.withDetails(drawbridge);
      const answer = await admin.post<Coded>('/billing/subscribe', { planId: 'paid' });
      expect(refusal(answer)).toEqual(coded(400, 'BAD_REQUEST'));
      expect(answer.body.message).toContain('planId');
    });

    it('404 NOT_FOUND for an unknown plan, before the billing details are asked for', async () => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.post('/billing/subscribe', { planId: randomUUID() });
      expect(refusal(answer)).toEqual(coded(404, 'NOT_FOUND'));
    });

    it('400 BAD_REQUEST for the free plan, before the billing details are asked for', async () => {
      const customer = await Customer.register(drawbridge);
      const { id: planId } = await customer.plan('FREE');
      const answer = await customer.admin.post('/billing/subscribe', { planId });
      expect(refusal(answer)).toEqual(coded(400, 'BAD_REQUEST'));
    });

    it('400 BAD_REQUEST while a subscription is active, before the billing details are asked for', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.admin.expect(200, customer.admin.patch('/organization/billing', { companyName: null }));
      const answer = await customer.subscribe();
      expect(refusal(answer)).toEqual(coded(400, 'BAD_REQUEST'));
      expect((await customer.subscription()).status).toBe('ACTIVE');
    });

    it('422 UNPROCESSABLE_ENTITY without billing details, naming what is missing', async () => {
      const customer = await Customer.register(drawbridge);
      const none = await customer.subscribe();
      expect(refusal(none)).toEqual(coded(422, 'UNPROCESSABLE_ENTITY'));
      const { billingCity: _city, ...details } = BILLING_DETAILS;
      await customer.admin.expect(200, customer.admin.patch('/organization/billing', details));
      const insufficient = (await customer.subscribe()) as unknown as Answer<Coded>;
      expect(insufficient.status).toBe(422);
      expect(insufficient.body.message).toContain('billingCity');
      expect(insufficient.body.message).not.toContain('companyName');
      expect(await customer.events()).toEqual(['BILLING_DETAILS_UPDATED']);
    });

    it('while PENDING: a fresh checkout takes the place of the old, whose page is gone', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const first = await customer.subscribed();
      const second = await customer.subscribed();
      expect(second.redirectUrl).not.toBe(first.redirectUrl);
      expect((await press(first.redirectUrl, 'confirm')).status).toBe(404);
      expect((await customer.subscription()).status).toBe('PENDING');
      expect((await press(second.redirectUrl, 'confirm')).status).toBe(200);
      expect((await customer.subscription()).status).toBe('ACTIVE');
    });

    it('several at once make one subscription, and one of their pages can be paid', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const answers = await Promise.all(Array.from({ length: 6 }, () => customer.subscribe()));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const pages = await Promise.all(answers.map(({ body }) => press(body.redirectUrl, 'confirm')));
      expect(pages.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200, 404, 404, 404, 404, 404,
      ]);
      const [made] = await drawbridge.query<{ subscriptions: number; payments: number }>(
        `SELECT (SELECT count(*)::int FROM subscriptions WHERE organization_id = $1) AS subscriptions,
           (SELECT count(*)::int FROM payments WHERE organization_id = $1) AS payments`,
        [customer.organizationId],
      );
      expect(made).toEqual({ subscriptions: 1, payments: 1 });
    });
  });

  describe('GET /billing/subscription', () => {
    it('404 NOT_FOUND while there is none', async () => {
      const customer = await Customer.withDetails(drawbridge);
      expect(refusal(await customer.admin.get('/billing/subscription'))).toEqual(coded(404, 'NOT_FOUND'));
    });

    it('answers with the subscription, also a PENDING one', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { subscription } = await customer.subscribed();
      const answer = await customer.admin.expect(200, customer.admin.get('/billing/subscription'));
      expect(answer).toEqual({ subscription });
    });

    it("another organization's is not seen", async () => {
      await Customer.paying(drawbridge);
      const stranger = await Customer.withDetails(drawbridge);
      expect((await stranger.admin.get('/billing/subscription')).status).toBe(404);
      expect(await stranger.admin.expect(200, stranger.admin.get('/billing/payments'))).toEqual([]);
    });
  });

  describe('GET /billing/payments', () => {
    it('lists payments, declined ones too, the newest first and paged', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      await press(redirectUrl, 'decline');
      await press(redirectUrl, 'confirm');
      const all = await customer.admin.expect(200, customer.admin.get<{ id: string }[]>('/billing/payments'));
      expect(all).toEqual([
        {
          id: expect.any(String) as string,
          amountCents: 2950,
          currency: 'USD',
          status: 'SUCCEEDED',
          reference: null,
          createdAt: expect.any(String) as string,
        },
        expect.objectContaining({ status: 'FAILED' }),
      ]);
      const second = await customer.admin.get<object[]>('/billing/payments?page=1&size=1');
      expect(second.body).toEqual([all[1]]);
    });
  });

  describe('POST /billing/webhooks/{adapter}', () => {
    it.each(['stripe', 'sandbox', 'nobody'])(
      '404 NOT_FOUND for %s while the sandbox takes the money',
      async (name) => {
        const answer = await drawbridge.api.post(`/billing/webhooks/${name}`, {});
        expect(refusal(answer)).toEqual(coded(404, 'NOT_FOUND'));
      },
    );
  });

  describe('GET and PATCH /organization/billing', () => {
    it('404 until they are given; PATCH changes what is given, and null empties a field', async () => {
      const { admin } = await Customer.register(drawbridge);
      const patch = (body: object) => admin.expect(200, admin.patch('/organization/billing', body));
      expect((await admin.get('/organization/billing')).status).toBe(404);
      const nothing = { billingState: null, billingCity: null };
      const first = { ...nothing, companyName: 'Example Ltd', vatNumber: null };
      expect(await patch({ companyName: '  Example Ltd ' })).toMatchObject(first);
      const vatNumber = 'DE123456789';
      const more = { vatNumber, billingState: 'BE' };
      expect(await patch(more)).toMatchObject({ ...first, ...more });
      const last = await patch({ billingState: null });
      expect(last).toMatchObject({ ...first, vatNumber });
      expect(await admin.expect(200, admin.get('/organization/billing'))).toEqual(last);
    });

    it.each([
      ['billingEmail', 'nobody'],
      ['companyName', ''],
      ['billingCountry', 'x'.repeat(201)],
    ])('400 with validationErrors for %s %j', async (field, value) => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.patch('/organization/billing', { [field]: value });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'Bad Request', validationErrors: { [field]: expect.any(String) as string } },
      });
    });

    it('is audited as BILLING_DETAILS_UPDATED, with the fields and without their values', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const [record] = await customer.trail();
      expect(record).toMatchObject({
        eventType: 'BILLING_DETAILS_UPDATED',
        actorType: 'USER',
        details: { fields: Object.keys(BILLING_DETAILS) },
      });
      expect(JSON.stringify(record)).not.toContain(BILLING_DETAILS.billingEmail);
    });
  });
});
