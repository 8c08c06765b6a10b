import { Customer, DAY_MS, open, press } from '../../builders/billing/billing';
import { logOf } from '../../builders/contract/request-lines';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const after = (moment: string | null): number => Date.parse(moment ?? '') - Date.now();

describe('4.8 Billing', () => {
  const drawbridge = Drawbridge.own({
    worker: false,
    api: { PAID_PLAN_PRICE_CENTS: '2950', PAID_PLAN_CURRENCY: 'USD', LOG_LEVEL: 'trace' },
  });

  describe('the payment page', () => {
    it('shows what is paid, in a page without scripts that cannot be framed', async () => {
      const customer = await Customer.withDetails(drawbridge, 'Ex<b>ample & Sons');
      const { redirectUrl } = await customer.subscribed();
      const page = await open(redirectUrl);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toContain('text/html');
      for (const text of [
        'Ex&#60;b&#62;ample &#38; Sons',
        'Paid',
        '29.50 USD a month',
        '/confirm"',
        '/decline"',
      ]) {
        expect(page.html).toContain(text);
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
      expect((await customer.trail()).slice(-2)).toMatchObject([
        {
          eventType: 'PAYMENT_SUCCEEDED',
          actorType: 'SYSTEM',
          details: { amountCents: 2950, currency: 'USD' },
        },
        { eventType: 'SUBSCRIPTION_ACTIVATED', actorType: 'SYSTEM' },
      ]);
    });

    it('pressed many times at once, confirm pays once', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      const eight = Array.from({ length: 8 });
      // so that each press finds a connection to the database open
      await Promise.all(eight.map(() => open(redirectUrl)));
      const pages = await Promise.all(eight.map(() => press(redirectUrl, 'confirm')));
      expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
      expect(await customer.payments()).toHaveLength(1);
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

    it('outside the embedded mode, start-up warns that payment is simulated', async () => {
      const server = { EMBEDDED: 'false', SMTP_URL: 'smtp://127.0.0.1:25', MAIL_FROM: 'door@example.com' };
      const served = await drawbridge.startApi({ PAYMENT: 'sandbox', ...server });
      await until('the warning is there', async () =>
        served.output.includes('Set PAYMENT=stripe to be paid'),
      );
      expect(drawbridge.apiServer.output).not.toContain('PAYMENT=');
    });

    it('its address is in no log, no trail and no table', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const { redirectUrl } = await customer.subscribed();
      const secret = redirectUrl.split('/').at(-1)!;
      await open(redirectUrl);
      await press(redirectUrl, 'confirm');
      // whose line follows that of the press
      const log = await logOf(drawbridge);
      expect(log).toContain('/confirm"');
      expect(log).not.toContain(secret);
      const [dump] = await drawbridge.query<{ dump: string }>(
        `SELECT (SELECT jsonb_agg(s)::text FROM subscriptions s) || (SELECT jsonb_agg(a)::text FROM audit_records a) AS dump`,
      );
      expect(dump!.dump).toContain(customer.organizationId);
      expect(dump!.dump).not.toContain(secret);
    });
  });
});
