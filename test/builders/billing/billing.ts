import type { Schemas } from '#client';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { founder } from '../accounts/people';

export type Subscription = Schemas['SubscriptionDto'];
export type SubscribeAnswer = Schemas['SubscribeAnswerDto'];

export type Plan = Schemas['PlanDto'];

export interface AuditRow {
  readonly eventType: string;
  readonly actorType: string;
  readonly actorEmail: string | null;
  readonly result: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export const BILLING_DETAILS = {
  companyName: 'Example Ltd',
  billingEmail: 'invoices@example.com',
  billingAddressLine1: '1 Example Street',
  billingCity: 'Berlin',
  billingPostalCode: '10115',
  billingCountry: 'DE',
} as const;

export const DAY_MS = 86_400_000;

/** An organization and its billing. */
export class Customer {
  private constructor(
    readonly drawbridge: Drawbridge,
    readonly admin: ApiClient,
    readonly organizationId: string,
    readonly email: string,
  ) {}

  /** A new organization on the Free plan, without billing details. */
  static async register(drawbridge: Drawbridge, organizationName = 'Example'): Promise<Customer> {
    const { client, organizationId, email } = await founder(drawbridge, organizationName);
    return new Customer(drawbridge, client, organizationId, email);
  }

  /** A new organization with billing details, which may subscribe. */
  static async withDetails(drawbridge: Drawbridge, organizationName?: string): Promise<Customer> {
    const customer = await Customer.register(drawbridge, organizationName);
    await customer.setDetails();
    return customer;
  }

  /** A new organization with an active subscription. */
  static async paying(drawbridge: Drawbridge): Promise<Customer> {
    const customer = await Customer.withDetails(drawbridge);
    const { redirectUrl } = await customer.subscribed();
    await press(redirectUrl, 'confirm');
    return customer;
  }

  /** An existing organization. */
  static of(drawbridge: Drawbridge, admin: ApiClient, organizationId: string): Customer {
    return new Customer(drawbridge, admin, organizationId, '');
  }

  async setDetails(): Promise<void> {
    await this.admin.patched('/organization/billing', BILLING_DETAILS);
  }

  async plan(tier: 'FREE' | 'PAID'): Promise<Plan> {
    const plans = await this.admin.read<Plan[]>('/billing/plans');
    return plans.find((plan) => plan.tier === tier)!;
  }

  subscribe = async (): Promise<Answer<SubscribeAnswer>> =>
    this.admin.post('/billing/subscribe', { planId: (await this.plan('PAID')).id });
  subscribed = (): Promise<SubscribeAnswer> => this.admin.expect(200, this.subscribe());
  cancel = (): Promise<Answer<{ subscription: Subscription }>> => this.admin.post('/billing/cancel');

  async subscription(): Promise<Subscription> {
    const answer = this.admin.get<{ subscription: Subscription }>('/billing/subscription');
    return (await this.admin.expect(200, answer)).subscription;
  }

  reaches(status: string): Promise<Subscription> {
    return until(`the subscription is ${status}`, async () => {
      const subscription = await this.subscription();
      return subscription.status === status && subscription;
    });
  }

  payments = (): Promise<{ readonly id: string; readonly status: string }[]> =>
    this.admin.read('/billing/payments');

  async tier(): Promise<string> {
    const [row] = await this.drawbridge.query<{ tier: string }>(
      'SELECT subscription_tier AS tier FROM organizations WHERE id = $1',
      [this.organizationId],
    );
    return row!.tier;
  }

  /** Moves the end of the paid period into the past. */
  async endPeriod(secondsAgo = 1): Promise<void> {
    await this.drawbridge.query(
      `UPDATE subscriptions SET current_period_end = now() - make_interval(secs => $2)
       WHERE organization_id = $1 AND status <> 'EXPIRED'`,
      [this.organizationId, secondsAgo],
    );
  }

  async endGrace(): Promise<void> {
    await this.drawbridge.query(
      `UPDATE subscriptions SET grace_period_end = now() WHERE organization_id = $1 AND status <> 'EXPIRED'`,
      [this.organizationId],
    );
  }

  /** The organization's audit records of billing, oldest first. */
  trail(): Promise<AuditRow[]> {
    return this.drawbridge.query(
      `SELECT event_type AS "eventType", actor_type AS "actorType", actor_email AS "actorEmail", result, details
       FROM audit_records WHERE organization_id = $1
         AND (event_type LIKE 'SUBSCRIPTION%' OR event_type LIKE 'PAYMENT%' OR event_type LIKE 'BILLING%')
       ORDER BY sequence`,
      [this.organizationId],
    );
  }

  events = async (): Promise<string[]> => (await this.trail()).map(({ eventType }) => eventType);
}

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

async function pageOf(response: Response): Promise<Page> {
  return { status: response.status, html: await response.text(), headers: response.headers };
}

export const open = async (redirectUrl: string): Promise<Page> => pageOf(await fetch(redirectUrl));

/** Submits a button of the sandbox's page, as a browser without JavaScript does. */
export const press = async (redirectUrl: string, button: 'confirm' | 'decline'): Promise<Page> =>
  pageOf(
    await fetch(`${redirectUrl}/${button}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: '',
    }),
  );

export interface Coded {
  readonly error: string;
  readonly message: string;
}

/** A refusal, as `coded` spells it. */
export const refusal = ({ status, body }: Answer<unknown>): object => ({
  status,
  error: (body as Coded).error,
  keys: Object.keys(body as object).toSorted(),
});

/** A refusal in the shape of billing. */
export const coded = (status: number, error: string): object => ({
  status,
  error,
  keys: ['error', 'message', 'timestamp'],
});
