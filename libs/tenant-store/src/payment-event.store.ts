import { asOrganizationId, type OrganizationId } from '#rules';
import type { Tx } from '#entities';

/** What payment services and payment pages ask before the organization is known: their references say whose it is. */
export class PaymentEventStore {
  /** The organization whose subscription has this checkout open or paid. */
  organizationOfCheckout(tx: Tx, adapter: string, reference: string): Promise<OrganizationId | null> {
    return this.organizationOf(tx, 'checkout_reference', adapter, reference);
  }

  /** The organization whose subscription the payment service calls by this name. */
  organizationOfSubscription(tx: Tx, adapter: string, reference: string): Promise<OrganizationId | null> {
    return this.organizationOf(tx, 'adapter_reference', adapter, reference);
  }

  /** @returns false when the event was dealt with before; while another transaction deals with it, this one waits */
  async note(tx: Tx, adapter: string, eventId: string): Promise<boolean> {
    const noted = await tx.query<object[]>(
      'INSERT INTO payment_events (adapter, event_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING event_id',
      [adapter, eventId],
    );
    return noted.length > 0;
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
