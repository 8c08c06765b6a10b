import { randomUUID } from 'node:crypto';
import { BILLING_DETAILS, Customer, DAY_MS, open, press, type Subscription } from '../../builders/billing';
import { organization } from '../../builders/organization';
import type { Answer } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';

interface Coded {
  readonly error: string;
  readonly message: string;
}

const after = (moment: string | null): number => Date.parse(moment ?? '') - Date.now();

describe('4.8 Billing', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({
      worker: false,
      api: { PAID_PLAN_PRICE_CENTS: '2950', PAID_PLAN_CURRENCY: 'USD' },
    });
  });
  afterAll(() => drawbridge.stop());

  /** A worker looks for periods that are over as soon as it starts. */
  const timePasses = async (): Promise<void> => void (await drawbridge.startWorker());

  const refusal = ({ status, body }: Answer<unknown>): object => ({
    status,
    error: (body as Coded).error,
    keys: Object.keys(body as object).toSorted(),
  });
  const coded = (status: number, error: string): object => ({
    status,
    error,
    keys: ['error', 'message', 'timestamp'],
  });

  describe('GET /billing/plans', () => {
    it('names two plans, Free and Paid, with the configured price and their limits', async () => {
      const customer = await Customer.register(drawbridge);
      const plans = await customer.admin.expect(200, customer.admin.get('/billing/plans'));
      const id = expect.stringMatching(
        /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
      ) as string;
      expect(plans).toEqual([
        {
          id,
          name: 'FREE',
          displayName: 'Free',
          tier: 'FREE',
          priceCents: 0,
          currency: 'USD',
          interval: 'MONTH',
          limits: { maxSessionDurationHours: 4, maxResources: 5, maxUsers: 5 },
        },
        {
          id,
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

    it('is audited as SUBSCRIPTION_CREATED by the admin', async () => {
      const customer = await Customer.withDetails(drawbridge);
      await customer.subscribed();
      expect((await customer.trail()).at(-1)).toMatchObject({
        eventType: 'SUBSCRIPTION_CREATED',
        actorType: 'USER',
        actorEmail: customer.email,
        result: 'SUCCESS',
      });
    });

    it.each([
      ['missing', {}],
      ['no text', { planId: 7 }],
      ['no UUID', { planId: 'paid' }],
    ])('400 BAD_REQUEST naming planId when it is %s', async (_what, body) => {
      const customer = await Customer.withDetails(drawbridge);
      const answer = await customer.admin.post<Coded>('/billing/subscribe', body);
      expect(refusal(answer)).toEqual(coded(400, 'BAD_REQUEST'));
      expect(answer.body.message).toContain('planId');
    });

    it('400 BAD_REQUEST for malformed JSON', async () => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.send('POST', '/billing/subscribe', '{"planId":');
      expect(refusal(answer)).toEqual(coded(400, 'BAD_REQUEST'));
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

  describe('who may', () => {
    const paths = [
      ['GET', '/billing/plans'],
      ['GET', '/billing/subscription'],
      ['POST', '/billing/subscribe'],
      ['POST', '/billing/cancel'],
      ['GET', '/billing/payments'],
    ] as const;

    it.each(paths)('401 UNAUTHORIZED without a token: %s %s', async (method, path) => {
      expect(refusal(await drawbridge.api.send(method, path))).toEqual(coded(401, 'UNAUTHORIZED'));
    });

    it.each(paths)('401 UNAUTHORIZED with an API key: %s %s', async (method, path) => {
      const org = await organization(drawbridge, []);
      const key = await org.apiKey(['sessions:read', 'audit:read']);
      expect(refusal(await key.send(method, path))).toEqual(coded(401, 'UNAUTHORIZED'));
    });

    it.each(paths)('403 FORBIDDEN for a user who is no admin: %s %s', async (method, path) => {
      const customer = await Customer.withDetails(drawbridge);
      await drawbridge.query('UPDATE users SET is_org_admin = false WHERE organization_id = $1', [
        customer.organizationId,
      ]);
      expect(refusal(await customer.admin.send(method, path))).toEqual(coded(403, 'FORBIDDEN'));
    });

    it('429 RATE_LIMIT_EXCEEDED is in the same shape', async () => {
      const strict = await Drawbridge.start({ worker: false, api: { RATE_LIMIT_PER_MINUTE: '1' } });
      try {
        await strict.api.get('/billing/plans');
        expect(refusal(await strict.api.get('/billing/plans'))).toEqual(coded(429, 'RATE_LIMIT_EXCEEDED'));
      } finally {
        await strict.stop();
      }
    });
  });

  describe('the payment page', () => {
    it('shows what is paid, in a page that needs no script and that nobody can frame', async () => {
      const customer = await Customer.withDetails(drawbridge, 'Ex<b>ample & Sons');
      const { redirectUrl } = await customer.subscribed();
      const page = await open(redirectUrl);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toContain('text/html');
      for (const words of [
        'Ex&#60;b&#62;ample &#38; Sons',
        'Paid',
        '29.50 USD a month',
        '/confirm"',
        '/decline"',
      ]) {
        expect(page.html).toContain(words);
      }
      expect(page.html).not.toMatch(/<script|<b>|\son\w+=/i);
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    });

    it('confirm: the subscription is ACTIVE for a month, the organization on Paid, and the page says so', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      const page = await press(redirectUrl, 'confirm');
      expect(page.status).toBe(200);
      expect(page.html).toContain('Thank you');
      expect(page.html).not.toContain('<form');
      const subscription = await customer.subscription();
      expect(subscription).toMatchObject({
        status: 'ACTIVE',
        gracePeriodEnd: null,
        cancelAtPeriodEnd: false,
      });
      expect(Math.abs(after(subscription.currentPeriodStart))).toBeLessThan(30_000);
      expect(after(subscription.currentPeriodEnd) / DAY_MS).toBeGreaterThan(27);
      expect(after(subscription.currentPeriodEnd) / DAY_MS).toBeLessThan(32);
      expect(await customer.tier()).toBe('PAID');
    });

    it('confirm is audited by SYSTEM as PAYMENT_SUCCEEDED and SUBSCRIPTION_ACTIVATED', async () => {
      const customer = await Customer.paying(drawbridge);
      expect((await customer.trail()).slice(-2)).toMatchObject([
        {
          eventType: 'PAYMENT_SUCCEEDED',
          actorType: 'SYSTEM',
          details: { amountCents: 2950, currency: 'USD' },
        },
        { eventType: 'SUBSCRIPTION_ACTIVATED', actorType: 'SYSTEM' },
      ]);
    });

    it('pressed twice at once, confirm pays once', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      const pages = await Promise.all([press(redirectUrl, 'confirm'), press(redirectUrl, 'confirm')]);
      expect(pages.map(({ status }) => status)).toEqual([200, 200]);
      const payments = await customer.admin.expect(200, customer.admin.get<object[]>('/billing/payments'));
      expect(payments).toHaveLength(1);
    });

    it('decline: says so, leaves the subscription PENDING and the plan Free, and may be paid afterwards', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      const page = await press(redirectUrl, 'decline');
      expect(page.status).toBe(200);
      expect(page.html).toContain('declined');
      expect((await customer.subscription()).status).toBe('PENDING');
      expect(await customer.tier()).toBe('FREE');
      expect((await customer.trail()).at(-1)).toMatchObject({
        eventType: 'PAYMENT_FAILED',
        result: 'FAILURE',
      });
      await press(redirectUrl, 'confirm');
      expect((await customer.subscription()).status).toBe('ACTIVE');
    });

    it('an address that was never given out is a page with 404', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      const guessed = redirectUrl.replace(/[^/]+$/, 'A'.repeat(43));
      for (const page of [
        await open(guessed),
        await press(guessed, 'confirm'),
        await press(guessed, 'decline'),
      ]) {
        expect(page).toMatchObject({ status: 404 });
        expect(page.html).toContain('<html');
      }
    });

    it('its address is in no log, no trail and no table', async () => {
      const talkative = await Drawbridge.start({ worker: false, api: { LOG_LEVEL: 'trace' } });
      try {
        const customer = await Customer.withDetails(talkative);
        const { redirectUrl } = await customer.subscribed();
        const secret = redirectUrl.split('/').at(-1)!;
        await open(redirectUrl);
        await press(redirectUrl, 'confirm');
        expect(talkative.apiServer.output).toContain('/billing/sandbox/');
        expect(talkative.apiServer.output).not.toContain(secret);
        const [dump] = await talkative.query<{ dump: string }>(
          `SELECT (SELECT jsonb_agg(s)::text FROM subscriptions s) || (SELECT jsonb_agg(a)::text FROM audit_records a) AS dump`,
        );
        expect(dump!.dump).toContain(customer.organizationId);
        expect(dump!.dump).not.toContain(secret);
      } finally {
        await talkative.stop();
      }
    });
  });

  describe('GET /billing/subscription', () => {
    it('404 NOT_FOUND while there is none', async () => {
      const customer = await Customer.withDetails(drawbridge);
      expect(refusal(await customer.admin.get('/billing/subscription'))).toEqual(coded(404, 'NOT_FOUND'));
    });

    it('answers with the subscription alone, also a PENDING one', async () => {
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
      await timePasses();
      await customer.reaches('EXPIRED');
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
      await timePasses();
      await customer.reaches('EXPIRED');
      expect(await customer.tier()).toBe('FREE');
    });
  });

  describe('a period that ends without a payment', () => {
    it('is PAST_DUE with seven days of grace on Paid, moved on once however many workers look', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      await Promise.all([timePasses(), timePasses()]);
      const subscription = await customer.reaches('PAST_DUE');
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
      await timePasses();
      await customer.reaches('PAST_DUE');
      expect((await open(redirectUrl)).html).toContain('/confirm"');
      await press(redirectUrl, 'confirm');
      const renewed = await customer.subscription();
      expect(renewed).toMatchObject({ status: 'ACTIVE', currentPeriodStart: ended, gracePeriodEnd: null });
      expect(after(renewed.currentPeriodEnd)).toBeGreaterThan(27 * DAY_MS);
    });

    it('a new page can be asked for, and keeps the grace', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      await timePasses();
      const { gracePeriodEnd } = await customer.reaches('PAST_DUE');
      const { redirectUrl, subscription } = await customer.subscribed();
      expect(subscription).toMatchObject({ status: 'PENDING', gracePeriodEnd });
      expect(await customer.tier()).toBe('PAID');
      await press(redirectUrl, 'confirm');
      expect(await customer.subscription()).toMatchObject({ status: 'ACTIVE', gracePeriodEnd: null });
    });

    it('cancelled, it ends at once', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      await timePasses();
      await customer.reaches('PAST_DUE');
      expect(await customer.cancel()).toMatchObject({
        status: 200,
        body: { subscription: { status: 'EXPIRED' } },
      });
      expect(await customer.tier()).toBe('FREE');
    });

    it('at gracePeriodEnd it is EXPIRED and the plan Free', async () => {
      const customer = await Customer.paying(drawbridge);
      await customer.endPeriod();
      await timePasses();
      await customer.reaches('PAST_DUE');
      await customer.endGrace();
      await timePasses();
      await customer.reaches('EXPIRED');
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
      const key = await org.apiKey(['sessions:read']);
      await timePasses();
      const { id } = await org.started({ ipv4Address: '203.0.113.48', durationHours: 20 });
      const running = await org.reaches(id, 'ACTIVE');

      await customer.cancel();
      await customer.endPeriod();
      await timePasses();
      await customer.reaches('EXPIRED');

      expect(await org.admin.expect(200, org.admin.get<object[]>('/resources'))).toHaveLength(6);
      expect(await resource(6)).toMatchObject({ status: 400, body: { error: 'MAX_RESOURCES_REACHED' } });
      expect((await key.get('/sessions')).status).toBe(403);
      const more = await org.admin.post('/api-keys', { name: 'more', scopes: ['sessions:read'] });
      expect(more.status).toBe(403);
      const session = await org.session(id);
      expect(session).toMatchObject({ status: 'ACTIVE', expiresAt: running.expiresAt, endedAt: null });
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
      expect(second.headers.get('x-total-count')).toBe('2');
      expect(second.headers.get('link')).toContain('rel="prev"');
    });

    it.each(['page=-1', 'size=0', 'size=101', 'page=x'])('400 BAD_REQUEST for %s', async (query) => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.get(`/billing/payments?${query}`);
      expect(refusal(answer)).toEqual(coded(400, 'BAD_REQUEST'));
    });
  });

  describe('GET and PATCH /organization/billing', () => {
    const NOTHING = Object.fromEntries(
      [
        'companyName',
        'billingContactName',
        'billingEmail',
        'billingAddressLine1',
        'billingAddressLine2',
        'billingCity',
        'billingPostalCode',
        'billingState',
        'billingCountry',
        'vatNumber',
      ].map((field) => [field, null]),
    );

    it('404 until it is configured, in the generic shape', async () => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.get('/organization/billing');
      expect(answer).toMatchObject({
        status: 404,
        body: { status: 404, error: 'Not Found', path: '/api/v1/organization/billing' },
      });
    });

    it('PATCH changes what is given and answers with all fields; null empties one', async () => {
      const customer = await Customer.register(drawbridge);
      const patch = (body: object) =>
        customer.admin.expect(200, customer.admin.patch('/organization/billing', body));
      expect(await patch({ companyName: '  Example Ltd ' })).toEqual({
        ...NOTHING,
        companyName: 'Example Ltd',
      });
      const more = { vatNumber: 'DE123456789', billingState: 'BE' };
      expect(await patch(more)).toEqual({ ...NOTHING, companyName: 'Example Ltd', ...more });
      expect(await patch({ billingState: null })).toMatchObject({
        billingState: null,
        vatNumber: 'DE123456789',
      });
      expect(await customer.admin.expect(200, customer.admin.get('/organization/billing'))).toEqual({
        ...NOTHING,
        companyName: 'Example Ltd',
        vatNumber: 'DE123456789',
      });
    });

    it.each([
      ['billingEmail', 'nobody'],
      ['companyName', ''],
      ['companyName', 7],
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

    it('401 without a token, 403 for a user who is no admin', async () => {
      expect((await drawbridge.api.get('/organization/billing')).status).toBe(401);
      expect((await drawbridge.api.patch('/organization/billing', {})).status).toBe(401);
      const customer = await Customer.withDetails(drawbridge);
      await drawbridge.query('UPDATE users SET is_org_admin = false WHERE organization_id = $1', [
        customer.organizationId,
      ]);
      expect((await customer.admin.get('/organization/billing')).status).toBe(403);
      expect((await customer.admin.patch('/organization/billing', {})).status).toBe(403);
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

    it('405 METHOD_NOT_ALLOWED for anything but POST', async () => {
      const answer = await drawbridge.api.get('/billing/webhooks/stripe');
      expect(refusal(answer)).toEqual(coded(405, 'METHOD_NOT_ALLOWED'));
      expect(answer.headers.get('allow')).toBe('POST');
    });
  });
});
