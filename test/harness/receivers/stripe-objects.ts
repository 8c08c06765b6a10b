import { randomBytes } from 'node:crypto';

/** A decoded Stripe form: `a[b][0][c]=d` is `{ a: { b: { 0: { c: 'd' } } } }`. */
export interface Form {
  readonly [name: string]: string | Form;
}

export type StripeObject = Record<string, unknown> & { readonly id: string };

const stripeId = (prefix: string): string => `${prefix}_test_${randomBytes(12).toString('hex')}`;

export const inSeconds = (moment: number): number => Math.floor(moment / 1000);

/** Decodes a form-encoded body as Stripe does. */
export function readForm(body: string): Form {
  const form: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '');
    let at = form;
    for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[keys.at(-1)!] = value;
  }
  return form as Form;
}

export function checkoutSession(form: Form, pageBase: string): StripeObject {
  const id = stripeId('cs');
  return {
    id,
    object: 'checkout.session',
    mode: form['mode'],
    status: 'open',
    payment_status: 'unpaid',
    url: `${pageBase}/c/pay/${id}`,
    subscription: null,
    client_reference_id: form['client_reference_id'] ?? null,
    customer_email: form['customer_email'] ?? null,
    metadata: form['metadata'] ?? {},
    // Stripe does not return it: the items of the later subscription
    subscription_data: form['subscription_data'] ?? {},
  };
}

/** The subscription that a paid checkout creates, for thirty days from now. */
export function subscriptionOf(session: StripeObject): StripeObject {
  const data = session['subscription_data'] as Form;
  const start = inSeconds(Date.now());
  const trialEnd = data['trial_end'] === undefined ? null : Number(data['trial_end']);
  return {
    id: stripeId('sub'),
    object: 'subscription',
    status: trialEnd === null ? 'active' : 'trialing',
    start_date: start,
    trial_end: trialEnd,
    cancel_at: null,
    cancel_at_period_end: false,
    metadata: data['metadata'] ?? {},
    items: {
      object: 'list',
      data: [
        {
          id: stripeId('si'),
          object: 'subscription_item',
          current_period_start: start,
          current_period_end: trialEnd ?? start + 30 * 86_400,
        },
      ],
    },
  };
}

export function invoiceOf(subscription: StripeObject, paid: boolean, amount: number): StripeObject {
  return {
    id: stripeId('in'),
    object: 'invoice',
    currency: 'eur',
    amount_due: amount,
    amount_paid: paid ? amount : 0,
    status: paid ? 'paid' : 'open',
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: subscription.id, metadata: subscription['metadata'] },
    },
  };
}

export function eventOf(type: string, object: StripeObject): StripeObject {
  return {
    id: stripeId('evt'),
    object: 'event',
    api_version: '2026-10-28.endive',
    created: inSeconds(Date.now()),
    livemode: false,
    pending_webhooks: 1,
    request: null,
    type,
    data: { object },
  };
}
