import { definedFields, type OrganizationId } from '#rules';
import {
  type ListDefinition,
  type Slice,
  type Sliced,
  type TenantStore,
  type Tx,
  type WebhookDeliveryEntity,
  WebhookEntity,
  choiceFilter,
  countOf,
  first,
  readTimedPage,
  touches,
} from '#entities';
import { ListedStore } from '../listed-store';
import { feedEnd } from '../audit/audit.store';

/** URL, secret, former secret and what authorizes at the receiver, each sealed. */
type SealedWebhook = Readonly<WebhookEntity['sealedData']>;

export type WebhookRow = Readonly<
  Omit<
    WebhookEntity,
    'organizationId' | 'sealedData' | 'formerSecretUntil' | 'cursor' | 'leasedUntil' | 'eventTypes'
  >
> & { readonly eventTypes: WebhookEntity['eventTypes']; readonly hasAuthorization: boolean };

export type LockedWebhook = WebhookRow & { readonly sealedData: SealedWebhook };

export type DeliveryRow = Readonly<Omit<WebhookDeliveryEntity, 'organizationId' | 'webhookId' | 'position'>>;

export type NewWebhook = Pick<
  WebhookRow,
  'id' | 'name' | 'format' | 'shownUrl' | 'eventTypes' | 'createdByEmail'
> & {
  readonly sealedData: SealedWebhook;
};

/** undefined: unchanged */
export type WebhookChanges = {
  readonly [Name in 'name' | 'shownUrl' | 'eventTypes' | 'sealedData']?: LockedWebhook[Name] | undefined;
};

/** What records call it: its URL says where to, also after it is named otherwise. */
export const webhookLabel = ({ name, shownUrl }: Pick<WebhookEntity, 'name' | 'shownUrl'>): string =>
  name === null ? shownUrl : `${name} (${shownUrl})`;

const SELECT = `SELECT w.id, w.name, w.format, w.shown_url AS "shownUrl",
    jsonb_exists(w.sealed_data, 'authorization') AS "hasAuthorization", w.event_types AS "eventTypes", w.is_enabled AS "isEnabled",
    w.failing_since AS "failingSince", w.last_error AS "lastError", w.created_by_email AS "createdByEmail",
    w.created_at AS "createdAt", w.updated_at AS "updatedAt"
  FROM webhooks w WHERE w.organization_id = $1`;

export const WEBHOOK_LIST: ListDefinition = {
  list: SELECT,
  id: 'w.id',
  search: ['w.name', 'w.shown_url'],
  sort: { name: 'coalesce(w.name, w.shown_url)', createdAt: 'w.created_at' },
  order: 'createdAt',
  filters: {
    state: choiceFilter(
      `CASE WHEN NOT w.is_enabled THEN 'DISABLED' WHEN w.failing_since IS NULL THEN 'ENABLED' ELSE 'FAILING' END`,
      ['ENABLED', 'DISABLED', 'FAILING'],
    ),
  },
};

/** An organization's webhooks. Workers send to them: `WebhookDeliveryStore`. */
export class WebhookStore extends ListedStore<WebhookRow> implements TenantStore<WebhookStore> {
  protected readonly definition = WEBHOOK_LIST;

  /** Reads and locks it until the commit, with what is sealed. */
  override findLocked(tx: Tx, organization: OrganizationId, id: string): Promise<LockedWebhook | null> {
    const select = SELECT.replace('SELECT', 'SELECT w.sealed_data AS "sealedData",');
    return first(tx, `${select} AND w.id = $2 FOR NO KEY UPDATE`, [organization, id]);
  }

  /** Call `UserStore.lock` first: it serializes creations. */
  count(tx: Tx, organization: OrganizationId): Promise<number> {
    return countOf(tx, 'webhooks WHERE organization_id = $1', [organization]);
  }

  /** It gets what is sealed from now on. */
  async create(tx: Tx, organization: OrganizationId, webhook: NewWebhook): Promise<void> {
    const { id, format, shownUrl, sealedData, eventTypes, createdByEmail, name } = webhook;
    const sealed = JSON.stringify(sealedData);
    await tx.query(
      `INSERT INTO webhooks (id, organization_id, format, shown_url, sealed_data, event_types, created_by_email, name, cursor)
       VALUES ($2, $1, $3, $4, $5, $6, $7, $8, ${feedEnd('$1')})`,
      [organization, id, format, shownUrl, sealed, eventTypes, createdByEmail, name],
    );
  }

  /** @param isRotated the former secret in `sealedData` signs for another day */
  async update(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    changes: WebhookChanges,
    isRotated = false,
  ): Promise<void> {
    await this.write(tx, organization, id, {
      ...definedFields(changes),
      ...(isRotated && { formerSecretUntil: () => `now() + interval '24 hours'` }),
    });
  }

  /** Ends the lease of a worker that sends to it, whose outcomes are no longer written: what it was sending is sent again. */
  private async write(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    changes: Parameters<typeof tx.update<WebhookEntity>>[2],
  ): Promise<void> {
    const written = { ...changes, leasedUntil: () => 'clock_timestamp()' };
    await tx.update(WebhookEntity, { organizationId: organization, id }, written);
  }

  /** It gets what is sealed from now on: not what happened while it was disabled. */
  async enable(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query(
      `UPDATE webhooks SET is_enabled = true, cursor = ${feedEnd('$1')}, failing_since = NULL, last_error = NULL,
         updated_at = now() WHERE organization_id = $1 AND id = $2`,
      [organization, id],
    );
  }

  /** Gives up what waits for another attempt. It can be redelivered when the webhook is enabled again. */
  async disable(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await this.write(tx, organization, id, { isEnabled: false });
    await tx.query(
      `UPDATE webhook_deliveries SET status = 'FAILED', due_at = NULL
       WHERE organization_id = $1 AND webhook_id = $2 AND due_at IS NOT NULL`,
      [organization, id],
    );
  }

  delete(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(tx, 'DELETE FROM webhooks WHERE organization_id = $1 AND id = $2 RETURNING id', [
      organization,
      id,
    ]);
  }

  /** Newest first. */
  deliveries(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    statuses: readonly DeliveryRow['status'][] | null,
    slice: Slice,
  ): Promise<Sliced<DeliveryRow>> {
    const list = {
      keys: [
        `SELECT d.created_at AS at, d.position AS tie FROM webhook_deliveries d
         WHERE d.organization_id = $1 AND d.webhook_id = $2 AND d.created_at >= $3::timestamptz AND d.created_at < $4::timestamptz
           AND ($5::text[] IS NULL OR d.status = ANY ($5))`,
      ],
      rows: `SELECT d.id, d.record_id AS "recordId", d.event_type AS "eventType", d.status, d.attempts, d.due_at AS "dueAt",
          d.response_code AS "responseCode", d.error, d.sent_at AS "sentAt", d.created_at AS "createdAt"
        FROM page JOIN webhook_deliveries d ON d.webhook_id = $2 AND d.position = page.tie`,
      given: [organization, id, '-infinity', 'infinity', statuses] as const,
    };
    return readTimedPage(tx, list, slice);
  }

  /** Sends it at once, once more; one that waits keeps its further attempts. @returns false when the webhook has no such one */
  redeliver(tx: Tx, organization: OrganizationId, id: string, deliveryId: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE webhook_deliveries SET status = CASE status WHEN 'PENDING' THEN status ELSE 'REDELIVERING' END, due_at = now()
       WHERE organization_id = $1 AND webhook_id = $2 AND id = $3 RETURNING id`,
      [organization, id, deliveryId],
    );
  }
}
