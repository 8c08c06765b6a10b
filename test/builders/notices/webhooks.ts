import type { Schemas } from '#client';
import type { Answer } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import type { Organization } from '../accounts/organization';

export type Webhook = Schemas['CreatedWebhookDto'];
export type Delivery = Schemas['WebhookDeliveryDto'];

export const webhook = (org: Organization, url: string, more: object = {}): Promise<Webhook> =>
  org.admin.created<Webhook>('/webhooks', { url, ...more });

/** Newest first. */
export const deliveriesOf = ({ admin }: Organization, { id }: Pick<Webhook, 'id'>): Promise<Delivery[]> =>
  admin.read<Delivery[]>(`/webhooks/${id}/deliveries`);

/** A delivery as a worker leaves it. @returns its id */
export async function delivered(
  { drawbridge, organizationId }: Organization,
  webhookId: string,
): Promise<string> {
  const [made] = await drawbridge.query<{ id: string }>(
    `INSERT INTO webhook_deliveries (organization_id, webhook_id, position, record_id, event_type, status, attempts, sent_at)
     VALUES ($1, $2, 1, gen_random_uuid(), 'SESSION_STARTED', 'DELIVERED', 1, now()) RETURNING id`,
    [organizationId, webhookId],
  );
  return made!.id;
}

/** Does every operation that changes a webhook. */
export async function throughWebhooks(
  org: Organization,
  did: (operation: string, action: Promise<Answer<{ id: string }>>) => Promise<{ id: string }>,
): Promise<void> {
  const { admin } = org;
  const { id } = await did('POST /webhooks', admin.post('/webhooks', { url: 'http://127.0.0.1:9/' }));
  const path = `/webhooks/${id}`;
  const deliveryId = await delivered(org, id);
  await did('PATCH /webhooks/{id}', admin.patch(path, { url: 'http://127.0.0.1:9/hook?key=1' }));
  await did('POST /webhooks/{id}/rotate-secret', admin.post(`${path}/rotate-secret`));
  await did('POST /webhooks/{id}/test', admin.post(`${path}/test`));
  const again = admin.post<{ id: string }>(`${path}/deliveries/${deliveryId}/redeliver`);
  await did('POST /webhooks/{id}/deliveries/{deliveryId}/redeliver', again);
  await did('DELETE /webhooks/{id}', admin.delete(path));
}

/** Writes records without a meaning, each one transaction, named 0, 1 … */
export async function records(org: Organization, count: number): Promise<void> {
  for (let name = 0; name < count; name += 1)
    await org.drawbridge.query(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name)
       VALUES ($1, 'ROLE_UPDATED', 'SYSTEM', $2)`,
      [org.organizationId, String(name)],
    );
}

/** Makes the next attempts due. */
export const attemptsDue = (drawbridge: Drawbridge, { id }: Pick<Webhook, 'id'>): Promise<object[]> =>
  drawbridge.query(
    'UPDATE webhook_deliveries SET due_at = now() WHERE webhook_id = $1 AND due_at IS NOT NULL',
    [id],
  );

/** Waits until a delivery, by default the newest one, is as it should be. */
export const delivery = (
  org: Organization,
  webhookOf: Pick<Webhook, 'id'>,
  is: (one: Delivery) => boolean,
): Promise<Delivery> =>
  until('a delivery is as it should be', async () => (await deliveriesOf(org, webhookOf)).find(is));
