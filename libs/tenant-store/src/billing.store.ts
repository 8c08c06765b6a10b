import type { OrganizationId, SubscriptionStatus } from '#rules';
import { type Slice, type Sliced, type TenantStore, type Tx, mayBecome, sliced } from '#entities';

/** Who pays, as it stands on invoices. */
export interface BillingDetails {
  readonly companyName: string | null;
  readonly billingContactName: string | null;
  readonly billingEmail: string | null;
  readonly billingAddressLine1: string | null;
  readonly billingAddressLine2: string | null;
  readonly billingCity: string | null;
  readonly billingPostalCode: string | null;
  readonly billingState: string | null;
  readonly billingCountry: string | null;
  readonly vatNumber: string | null;
}

export interface SubscriptionRow {
  readonly id: string;
  readonly planId: string;
  readonly status: SubscriptionStatus;
  readonly priceCents: number;
  readonly currency: string;
  readonly currentPeriodStart: Date | null;
  readonly currentPeriodEnd: Date | null;
  readonly gracePeriodEnd: Date | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly adapter: string;
  readonly checkoutReference: string | null;
  readonly adapterReference: string | null;
  /** the period that was paid is not over, on the database's clock */
  readonly periodRuns: boolean;
}

export interface NewCheckout {
  readonly planId: string;
  readonly priceCents: number;
  readonly currency: string;
  readonly adapter: string;
  /** null: the payment service knows the subscription already */
  readonly checkoutReference: string | null;
}

export interface NewPayment {
  readonly subscriptionId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: 'SUCCEEDED' | 'FAILED';
  readonly adapterReference: string | null;
}

export interface PaymentRow {
  readonly id: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: 'SUCCEEDED' | 'FAILED';
  readonly reference: string | null;
  readonly createdAt: Date;
}

const DETAILS = `company_name AS "companyName", billing_contact_name AS "billingContactName",
  billing_email AS "billingEmail", billing_address_line1 AS "billingAddressLine1",
  billing_address_line2 AS "billingAddressLine2", billing_city AS "billingCity",
  billing_postal_code AS "billingPostalCode", billing_state AS "billingState",
  billing_country AS "billingCountry", vat_number AS "vatNumber"`;

const DETAIL_COLUMNS: Readonly<Record<keyof BillingDetails, string>> = {
  companyName: 'company_name',
  billingContactName: 'billing_contact_name',
  billingEmail: 'billing_email',
  billingAddressLine1: 'billing_address_line1',
  billingAddressLine2: 'billing_address_line2',
  billingCity: 'billing_city',
  billingPostalCode: 'billing_postal_code',
  billingState: 'billing_state',
  billingCountry: 'billing_country',
  vatNumber: 'vat_number',
};

export const SUBSCRIPTION_COLUMNS = `s.id, s.plan_id AS "planId", s.status, s.price_cents AS "priceCents", s.currency,
  s.current_period_start AS "currentPeriodStart", s.current_period_end AS "currentPeriodEnd",
  s.grace_period_end AS "gracePeriodEnd", s.cancel_at_period_end AS "cancelAtPeriodEnd", s.adapter,
  s.checkout_reference AS "checkoutReference", s.adapter_reference AS "adapterReference",
  coalesce(s.current_period_end > clock_timestamp(), false) AS "periodRuns"`;

/** Who pays, for what, and what was paid. How a subscription moves on is in `SubscriptionMoveStore`. */
export class BillingStore implements TenantStore<BillingStore> {
  async details(tx: Tx, organization: OrganizationId): Promise<BillingDetails | null> {
    const [row] = await tx.query<BillingDetails[]>(
      `SELECT ${DETAILS} FROM billing_details WHERE organization_id = $1`,
      [organization],
    );
    return row ?? null;
  }

  /** @param changes the fields to write; what is left out stays as it is */
  async changeDetails(
    tx: Tx,
    organization: OrganizationId,
    changes: Partial<BillingDetails>,
  ): Promise<BillingDetails> {
    const fields = Object.keys(DETAIL_COLUMNS) as (keyof BillingDetails)[];
    const given = fields.filter((field) => changes[field] !== undefined);
    const columns = given.map((field) => DETAIL_COLUMNS[field]);
    const written = await tx.query<BillingDetails[]>(
      `INSERT INTO billing_details (${['organization_id', ...columns].join(', ')})
       VALUES (${['$1', ...columns.map((_, index) => `$${index + 2}`)].join(', ')})
       ON CONFLICT (organization_id) DO UPDATE SET
         ${columns.map((column) => `${column} = excluded.${column}, `).join('')}updated_at = now()
       RETURNING ${DETAILS}`,
      [organization, ...given.map((field) => changes[field])],
    );
    return written[0]!;
  }

  /**
   * Keeps everybody else's hands off the organization's billing until the transaction ends.
   * @returns the organization's name; null when there is no such organization
   */
  async lock(tx: Tx, organization: OrganizationId): Promise<string | null> {
    const [row] = await tx.query<{ name: string }[]>(
      'SELECT name FROM organizations WHERE id = $1 FOR NO KEY UPDATE',
      [organization],
    );
    return row?.name ?? null;
  }

  /** The subscription that is not over, else the one that was the last. */
  async latestSubscription(tx: Tx, organization: OrganizationId): Promise<SubscriptionRow | null> {
    const [row] = await tx.query<SubscriptionRow[]>(
      `SELECT ${SUBSCRIPTION_COLUMNS} FROM subscriptions s WHERE s.organization_id = $1
       ORDER BY s.status = 'EXPIRED', s.created_at DESC, s.id LIMIT 1`,
      [organization],
    );
    return row ?? null;
  }

  /**
   * A PENDING subscription with this checkout: a new one, or the current one where its status allows it, which keeps
   * the period that is paid.
   * @returns null when the current one is paid and goes on
   */
  async openCheckout(
    tx: Tx,
    organization: OrganizationId,
    checkout: NewCheckout,
  ): Promise<SubscriptionRow | null> {
    const [row] = await tx.query<SubscriptionRow[]>(
      `INSERT INTO subscriptions AS s (organization_id, plan_id, price_cents, currency, adapter, checkout_reference)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (organization_id) WHERE status <> 'EXPIRED' DO UPDATE SET status = 'PENDING',
         plan_id = excluded.plan_id, price_cents = excluded.price_cents, currency = excluded.currency,
         adapter = excluded.adapter, checkout_reference = excluded.checkout_reference,
         cancel_at_period_end = false, updated_at = now()
       WHERE s.status IN (${mayBecome('PENDING')})
       RETURNING ${SUBSCRIPTION_COLUMNS}`,
      [
        organization,
        checkout.planId,
        checkout.priceCents,
        checkout.currency,
        checkout.adapter,
        checkout.checkoutReference,
      ],
    );
    return row ?? null;
  }

  async recordPayment(tx: Tx, organization: OrganizationId, payment: NewPayment): Promise<void> {
    await tx.query(
      `INSERT INTO payments (organization_id, subscription_id, amount_cents, currency, status, adapter_reference)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [
        organization,
        payment.subscriptionId,
        payment.amountCents,
        payment.currency,
        payment.status,
        payment.adapterReference,
      ],
    );
  }

  /** Newest first. */
  payments(tx: Tx, organization: OrganizationId, slice: Slice): Promise<Sliced<PaymentRow>> {
    return sliced(
      tx,
      {
        counted: 'FROM payments WHERE organization_id = $1',
        rows: `SELECT id, amount_cents AS "amountCents", currency, status, adapter_reference AS reference,
         created_at AS "createdAt"
       FROM payments WHERE organization_id = $1 ORDER BY created_at DESC, id`,
      },
      [organization],
      slice,
    );
  }
}
