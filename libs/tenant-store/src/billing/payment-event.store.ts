import { asOrganizationId, type OrganizationId } from '#rules';
import { type Tx, touches } from '#entities';

/** Look-ups of payment services and payment pages, whose references identify the organization. */
export class PaymentEventStore {
  /** The organization whose subscription has this checkout. */
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
