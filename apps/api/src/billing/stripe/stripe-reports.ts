import type Stripe from 'stripe';
import type { ReportedStatus } from '#rules';
import type { PaymentEvent, ReportedSubscription } from '../payment-adapter';

type Named = string | { readonly id: string } | null | undefined;

const idOf = (named: Named): string | null =>
  typeof named === 'object' ? (named?.id ?? null) : (named ?? null);

/** Converts an event about a subscription. @returns why it cannot be used, or null for events of other types */
export function paymentEvent(event: Stripe.Event): PaymentEvent | string | null {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- Stripe has hundreds of types and adds more
  switch (event.type) {
    case 'checkout.session.completed': {
      const session = event.data.object;
      return eventOf(event, idOf(session.subscription), session.metadata, null);
    }
    case 'customer.subscription.deleted':
    case 'customer.subscription.updated': {
      const subscription = event.data.object;
      return eventOf(event, subscription.id, subscription.metadata, null);
    }
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return invoiceEvent(event, event.data.object, event.type === 'invoice.paid');
    default:
      return null;
  }
}

/** Where an invoice named its subscription before 2025-03-31. An endpoint at Stripe keeps the version it was created with. */
interface FormerInvoice {
  readonly subscription?: Named;
  readonly subscription_details?: { readonly metadata?: Stripe.Metadata | null } | null;
}

function invoiceEvent(
  event: Stripe.Event,
  invoice: Stripe.Invoice & FormerInvoice,
  paid: boolean,
): PaymentEvent | string {
  const details = invoice.parent?.subscription_details ?? {
    subscription: invoice.subscription,
    metadata: invoice.subscription_details?.metadata,
  };
  const amountCents = paid ? invoice.amount_paid : invoice.amount_due;
  // Stripe starts a period that is already paid with an invoice of 0
  const payment =
    amountCents > 0
      ? {
          reference: invoice.id,
          amountCents,
          currency: invoice.currency.toUpperCase(),
          status: paid ? ('SUCCEEDED' as const) : ('FAILED' as const),
        }
      : null;
  return eventOf(event, idOf(details.subscription), details.metadata, payment);
}

function eventOf(
  { id, type }: Stripe.Event,
  reference: string | null,
  metadata: Stripe.Metadata | null | undefined,
  payment: PaymentEvent['payment'],
): PaymentEvent | string {
  if (reference === null) return 'it names no subscription';
  return { id, type, reference, organizationId: metadata?.['organizationId'] ?? null, payment };
}

const STATUSES: Readonly<Partial<Record<string, ReportedStatus>>> = {
  active: 'ACTIVE',
  trialing: 'ACTIVE',
  past_due: 'PAST_DUE',
  unpaid: 'PAST_DUE',
  canceled: 'EXPIRED',
  incomplete_expired: 'EXPIRED',
};

/** Converts the state of a Stripe subscription. */
export function reportedSubscription(subscription: Stripe.Subscription): ReportedSubscription {
  const status = STATUSES[subscription.status] ?? null;
  const ends = subscription.cancel_at_period_end || subscription.cancel_at !== null;
  const [item] = subscription.items.data;
  const start = item?.current_period_start ?? subscription.start_date;
  const end = (ends ? subscription.cancel_at : null) ?? item?.current_period_end ?? start;
  return {
    status: status === 'ACTIVE' && ends ? 'CANCELLED' : status,
    period: { start: new Date(start * 1000), end: new Date(end * 1000) },
  };
}
