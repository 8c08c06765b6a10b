import { definedFields, type OrganizationId, asOrganizationId } from '#rules';
import {
  BillingDetailsEntity,
  PaymentEntity,
  type Slice,
  type Sliced,
  type SubscriptionEntity,
  type TenantStore,
  type Tx,
  first,
  mayBecome,
  readPage,
  touches,
} from '#entities';

/** Billing details as shown on invoices. */
export type BillingDetails = Readonly<Omit<BillingDetailsEntity, 'organizationId' | 'updatedAt'>>;

export interface SubscriptionRow extends Readonly<
  Omit<SubscriptionEntity, 'organizationId' | 'createdAt' | 'updatedAt'>
> {
  /** the paid period is not over, by the database's clock */
  readonly periodRuns: boolean;
}

/** Without a checkoutReference the payment service already has the subscription. */
export type NewCheckout = Pick<
  SubscriptionRow,
  'planId' | 'priceCents' | 'currency' | 'adapter' | 'checkoutReference'
>;

export type NewPayment = Readonly<Omit<PaymentEntity, 'id' | 'organizationId' | 'createdAt'>>;

export interface PaymentRow extends Readonly<
  Omit<PaymentEntity, 'organizationId' | 'subscriptionId' | 'adapterReference'>
> {
  readonly reference: string | null;
}

const toDetails = (row: BillingDetailsEntity): BillingDetails => {
  const { organizationId, updatedAt, ...details } = row;
  return details;
};

export const SUBSCRIPTION_COLUMNS = `s.id, s.plan_id AS "planId", s.status, s.price_cents AS "priceCents", s.currency,
  s.current_period_start AS "currentPeriodStart", s.current_period_end AS "currentPeriodEnd",
  s.grace_period_end AS "gracePeriodEnd", s.cancel_at_period_end AS "cancelAtPeriodEnd", s.adapter,
  s.checkout_reference AS "checkoutReference", s.adapter_reference AS "adapterReference",
  coalesce(s.current_period_end > clock_timestamp(), false) AS "periodRuns"`;

/** Billing details, subscriptions and payments. `SubscriptionMoveStore` changes a subscription's status. */
export class BillingStore implements TenantStore<BillingStore> {
  async details(tx: Tx, organization: OrganizationId): Promise<BillingDetails | null> {
    const found = await tx.findOneBy(BillingDetailsEntity, { organizationId: organization });
    return found && toDetails(found);
  }

  /** @param changes the fields to write; others are unchanged */
  async changeDetails(
    tx: Tx,
    organization: OrganizationId,
    changes: Partial<BillingDetails>,
  ): Promise<BillingDetails> {
    const written = { ...definedFields(changes), organizationId: organization };
    await tx.upsert(BillingDetailsEntity, written, ['organizationId']);
    return toDetails(await tx.findOneByOrFail(BillingDetailsEntity, { organizationId: organization }));
  }

  /**
   * Locks the organization's billing until the transaction ends.
   * @returns the organization's name; null when there is no such organization
   */
  async lock(tx: Tx, organization: OrganizationId): Promise<string | null> {
    const [row] = await tx.query<{ name: string }[]>(
      'SELECT name FROM organizations WHERE id = $1 FOR NO KEY UPDATE',
      [organization],
    );
    return row?.name ?? null;
  }

  /** The current subscription, else the most recent one. */
  latestSubscription(tx: Tx, organization: OrganizationId): Promise<SubscriptionRow | null> {
    return first(
      tx,
      `SELECT ${SUBSCRIPTION_COLUMNS} FROM subscriptions s WHERE s.organization_id = $1
       ORDER BY s.status = 'EXPIRED', s.created_at DESC, s.id LIMIT 1`,
      [organization],
    );
  }

  /**
   * Creates a PENDING subscription with this checkout, or moves the current one to PENDING if its status allows that; the
   * paid period is kept.
   * @returns null when the current one is paid and continues
   */
  openCheckout(tx: Tx, organization: OrganizationId, checkout: NewCheckout): Promise<SubscriptionRow | null> {
    const { planId, priceCents, currency, adapter, checkoutReference } = checkout;
    return first(
      tx,
      `INSERT INTO subscriptions AS s (organization_id, plan_id, price_cents, currency, adapter, checkout_reference)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (organization_id) WHERE status <> 'EXPIRED' DO UPDATE SET status = 'PENDING',
         plan_id = excluded.plan_id, price_cents = excluded.price_cents, currency = excluded.currency,
         adapter = excluded.adapter, checkout_reference = excluded.checkout_reference,
         cancel_at_period_end = false, updated_at = now()
       WHERE s.status IN (${mayBecome('PENDING')})
       RETURNING ${SUBSCRIPTION_COLUMNS}`,
      [organization, planId, priceCents, currency, adapter, checkoutReference],
    );
  }

  async recordPayment(tx: Tx, organization: OrganizationId, payment: NewPayment): Promise<void> {
    await tx.insert(PaymentEntity, { ...payment, organizationId: organization });
  }

  /** Newest first. */
  payments(tx: Tx, organization: OrganizationId, slice: Slice): Promise<Sliced<PaymentRow>> {
    return readPage(
      tx,
      `SELECT id, amount_cents AS "amountCents", currency, status, adapter_reference AS reference,
         created_at AS "createdAt"
       FROM payments WHERE organization_id = $1`,
      'created_at DESC, id',
      [organization],
      slice,
    );
  }
}

/** Look-ups of payment services and payment pages, whose references identify the organization. */
export class PaymentEventStore {
  organizationOfCheckout(tx: Tx, adapter: string, reference: string): Promise<OrganizationId | null> {
    return this.organizationOf(tx, 'checkout_reference', adapter, reference);
  }

  /** The organization whose subscription has this reference at the payment service. */
  organizationOfSubscription(tx: Tx, adapter: string, reference: string): Promise<OrganizationId | null> {
    return this.organizationOf(tx, 'adapter_reference', adapter, reference);
  }

  /** @returns false when the event was already processed; waits while another transaction processes it */
  recordEvent(tx: Tx, adapter: string, eventId: string): Promise<boolean> {
    return touches(
      tx,
      'INSERT INTO payment_events (adapter, event_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING event_id',
      [adapter, eventId],
    );
  }

  private async organizationOf(
    tx: Tx,
    column: 'checkout_reference' | 'adapter_reference',
    adapter: string,
    reference: string,
  ): Promise<OrganizationId | null> {
    const [owner] = await tx.query<{ id: string }[]>(
      `SELECT organization_id AS id FROM subscriptions WHERE adapter = $1 AND ${column} = $2
       ORDER BY created_at DESC LIMIT 1`,
      [adapter, reference],
    );
    return owner ? asOrganizationId(owner.id) : null;
  }
}
