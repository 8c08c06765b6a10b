import type { Logger } from 'pino';
import type { Database } from '#entities';
import { chooseFairly, type SlotShare } from '#rules';
import type { LeasedWebhook, ReadyWebhook, TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import type { WebhookReceiver } from './webhook-sender';
import { WebhookTurn } from './webhook-turn';

const INTERVAL_MS = 1000;
/** Webhooks that are sent to at once. */
const SLOTS = 24;
const READY_LIMIT = 500;
/** After it others get the slot. The attempt that is being made then goes on for ten seconds at most. */
const TURN_MS = 5000;
/** Longer than a turn and its last attempt: after a crash another worker sends when it has run out. */
const LEASE_SECONDS = 30;

/**
 * Sends audit records to webhooks, each in turns. An organization gets half of the slots at most, and so do all receivers
 * together that failed the last time: those that hang do not keep others waiting.
 */
export class WebhookDelivery {
  readonly task = new RepeatedTask('send to webhooks', INTERVAL_MS, () => this.fill(), this.log);
  private readonly running = new Map<string, { readonly share: SlotShare; readonly done: Promise<void> }>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
    private readonly receiverOf: (webhook: LeasedWebhook) => WebhookReceiver,
    private readonly log: Logger,
  ) {}

  /** Gives up what is being sent; it is sent again. Call it when the task has stopped. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  /** Starts turns in the free slots. @returns 0: others may be ready */
  private async fill(): Promise<number | null> {
    const { database, running } = this;
    const { webhookDeliveries: store } = this.stores;
    const ready = await store.ready(database.autocommit, READY_LIMIT);
    const waiting = ready
      .filter(({ id }) => !running.has(id))
      .map((one) => ({ id: one.id, ...shareOf(one) }));
    const used = [...running.values()].map(({ share }) => share);
    const chosen = new Map(chooseFairly(waiting, used, SLOTS).map((one) => [one.id, one]));
    if (chosen.size === 0) return null;
    for (const webhook of await store.lease(database.autocommit, [...chosen.keys()], LEASE_SECONDS)) {
      const done = this.serve(webhook).finally(() => running.delete(webhook.id));
      running.set(webhook.id, { share: chosen.get(webhook.id)!, done });
    }
    return 0;
  }

  private async serve(webhook: LeasedWebhook): Promise<void> {
    const { database, stores } = this;
    try {
      const receiver = this.receiverOf(webhook);
      const signals = { ending: AbortSignal.timeout(TURN_MS), stopping: this.stopping.signal };
      await new WebhookTurn(database, stores, webhook, receiver, signals).run();
      await stores.webhookDeliveries.release(database.autocommit, webhook);
    } catch (error) {
      const { id: webhookId, organizationId } = webhook;
      this.log.error(
        { err: error, webhookId, organizationId },
        'A webhook cannot be sent to; it is tried again',
      );
    }
  }
}

const shareOf = ({ organizationId, isFailing }: ReadyWebhook): SlotShare => ({
  provider: 'webhooks',
  organizations: [organizationId],
  closing: false,
  deferrable: isFailing,
});
