import { type Database, SYSTEM_ACTOR, type Tx } from '#entities';
import {
  type Attempt,
  type DueDelivery,
  type FeedItem,
  type FeedRecord,
  type LeasedWebhook,
  type TenantStores,
  webhookLabel,
} from '#tenant-store';
import { retryInMs } from './retry-schedule';
import type { Answer, WebhookReceiver } from './webhook-sender';

const RECORDS_BATCH_SIZE = 50;
const GONE = 410;
const EXPORTED: Answer = {
  code: null,
  error: 'its record was exported from the audit trail',
  retryAfterMs: null,
};

/**
 * Sends to one webhook while it is leased: one record after the other, in the order of the chain. A record that fails is set
 * aside for further attempts. The later ones wait until it has failed three times, which takes a minute; then they pass it.
 */
export class WebhookTurn {
  private cursor = this.webhook.cursor;

  /** @param signals ending: no further record is sent; stopping: the one that is being sent is given up, and sent again later */
  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
    private readonly webhook: LeasedWebhook,
    private readonly receiver: WebhookReceiver,
    private readonly signals: { readonly ending: AbortSignal; readonly stopping: AbortSignal },
  ) {}

  /** Sends until nothing is due, the turn ends, or the lease is lost. */
  async run(): Promise<void> {
    const { webhook } = this;
    const { webhookDeliveries: store } = this.stores;
    const { autocommit } = this.database;
    for (let isLeft = true; isLeft && !this.isOver;) {
      const due = await store.due(autocommit, webhook.id);
      if (due) isLeft = (await this.attempt(due, await this.recordAt(due))) !== null;
      else isLeft = !(await store.isHeld(autocommit, webhook.id)) && (await this.sendNew());
    }
  }

  private get isOver(): boolean {
    return this.signals.ending.aborted || this.signals.stopping.aborted;
  }

  private recordAt({ position }: DueDelivery): Promise<FeedRecord | null> {
    return this.stores.auditFeed.at(this.database.autocommit, this.webhook.organizationId, position);
  }

  /** Sends new records up to the first that fails. @returns whether something may be left to do */
  private async sendNew(): Promise<boolean> {
    const { webhook, database } = this;
    const { auditFeed: feed, webhookDeliveries: store } = this.stores;
    const { autocommit } = database;
    const items = await feed.after(autocommit, webhook.organizationId, this.cursor, RECORDS_BATCH_SIZE);
    for (const item of items) {
      if (this.isOver) break;
      if (this.isWanted(item)) {
        const { position, record } = item;
        const first = { attempts: 0, isRedelivery: false };
        const delivery = { position, recordId: record.id, eventType: record.eventType, ...first };
        const outcome = await this.attempt(delivery, record);
        if (outcome === null) return false;
        this.cursor = position;
        if (outcome !== 'DELIVERED') return true;
      }
      this.cursor = item.position;
    }
    return (await store.pass(autocommit, webhook, this.cursor)) && items.length === RECORDS_BATCH_SIZE;
  }

  /** A test concerns the webhook itself, whatever it asks for. */
  private isWanted(item: FeedItem): item is FeedItem & { readonly record: FeedRecord } {
    if (!item.record) return false;
    const { eventType, resourceId } = item.record;
    const { eventTypes, id } = this.webhook;
    if (eventType === 'WEBHOOK_TESTED' && resourceId === id) return true;
    return eventTypes.length === 0 || eventTypes.includes(eventType);
  }

  /** @returns what it became; null: the turn is over, because the lease is lost, the webhook disabled or the worker stopping */
  private async attempt(due: DueDelivery, record: FeedRecord | null): Promise<Attempt['status'] | null> {
    const answer = record ? await this.receiver.send(record, this.signals.stopping) : EXPORTED;
    if (this.signals.stopping.aborted) return null;
    const { code, error, retryAfterMs } = answer;
    const isFinal = error === null || due.isRedelivery || code === GONE || !record;
    const retry = isFinal ? null : retryInMs(due.attempts + 1, Math.random(), retryAfterMs);
    const status = error === null ? 'DELIVERED' : retry === null ? 'FAILED' : 'PENDING';
    return this.database.transaction(async (tx) => {
      const attempt = { ...due, status, retryInMs: retry, responseCode: code, error } as const;
      const settled = await this.stores.webhookDeliveries.settle(tx, this.webhook, attempt);
      if (!settled) return null;
      if (code !== GONE && !(status === 'FAILED' && settled.isGivenUp)) return status;
      await this.disable(tx, code === GONE ? 'it answered 410' : `for five days ${error}`);
      return null;
    });
  }

  private async disable(tx: Tx, reason: string): Promise<void> {
    const { id, organizationId } = this.webhook;
    await this.stores.webhooks.disable(tx, organizationId, id);
    await this.stores.audit.write(tx, organizationId, {
      ...SYSTEM_ACTOR,
      eventType: 'WEBHOOK_DISABLED',
      resourceType: 'WEBHOOK',
      resourceId: id,
      resourceName: webhookLabel(this.webhook),
      result: 'FAILURE',
      errorMessage: reason,
    });
  }
}
