import type { Logger } from 'pino';
import {
  SYSTEM_ACTOR,
  type AuditStore,
  type Database,
  type EndedPeriod,
  type SubscriptionMoveStore,
  type SubscriptionSweepStore,
  type Tx,
} from '#entities';

const EVERY_MS = 60_000;
const AT_ONCE = 100;

export interface SubscriptionStores {
  readonly sweep: SubscriptionSweepStore;
  readonly moves: SubscriptionMoveStore;
  readonly audit: AuditStore;
}

/** Once a minute, on the database's clock: moves on subscriptions whose period or grace is over. */
export class SubscriptionSweeper {
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly stores: SubscriptionStores,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.sweeping = this.sweepAndPlanNext();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.sweeping;
  }

  private async sweepAndPlanNext(): Promise<void> {
    try {
      while (!this.stopped && (await this.moveOn()) === AT_ONCE);
    } catch (error) {
      this.log.error({ err: error }, 'A sweep of the subscriptions failed; the next one follows');
    }
    if (!this.stopped) this.timer = setTimeout(() => this.start(), EVERY_MS);
  }

  /** @returns how many were moved on */
  private async moveOn(): Promise<number> {
    const count = await this.database.transaction(async (tx) => {
      const ended = await this.stores.sweep.ended(tx, AT_ONCE);
      for (const subscription of ended) await this.moveOne(tx, subscription);
      return ended.length;
    });
    if (count > 0) this.log.info({ count }, 'Subscriptions were moved on');
    return count;
  }

  private async moveOne(tx: Tx, { id, organizationId, to }: EndedPeriod): Promise<void> {
    const { moves, audit } = this.stores;
    const moved =
      to === 'PAST_DUE'
        ? await moves.fallDue(tx, organizationId, id)
        : await moves.expire(tx, organizationId, id);
    if (!moved) throw new Error(`Subscription ${id} cannot become ${to}`);
    await audit.write(tx, organizationId, {
      ...SYSTEM_ACTOR,
      eventType: to === 'PAST_DUE' ? 'SUBSCRIPTION_PAST_DUE' : 'SUBSCRIPTION_EXPIRED',
      resourceType: 'SUBSCRIPTION',
      resourceId: id,
      resourceName: null,
      details: { currentPeriodEnd: moved.currentPeriodEnd, gracePeriodEnd: moved.gracePeriodEnd },
    });
  }
}
