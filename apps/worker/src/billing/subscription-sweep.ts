import { SYSTEM_ACTOR, type Tx } from '#entities';
import type { EndedPeriod, TenantStores } from '#tenant-store';
import { RepeatedTask, type TaskParts } from '../repeated-task';

const INTERVAL_MS = 1000;
const BATCH_SIZE = 100;

/** Moves subscriptions to their next status within seconds of the end of their period or grace, by the database's clock. */
export function subscriptionSweep({ database, stores, log }: TaskParts): RepeatedTask {
  const ends = new SubscriptionEnds(stores);
  const sweep = async (stopping: AbortSignal): Promise<void> => {
    for (let count = BATCH_SIZE; count === BATCH_SIZE && !stopping.aborted;) {
      count = await database.transaction((tx) => ends.moveOn(tx, BATCH_SIZE));
      if (count > 0) log.info({ count }, 'Subscriptions were moved on');
    }
  };
  return new RepeatedTask('move on ended subscriptions', INTERVAL_MS, sweep, log);
}

class SubscriptionEnds {
  constructor(private readonly stores: TenantStores) {}

  /** @returns how many were moved */
  async moveOn(tx: Tx, limit: number): Promise<number> {
    const ended = await this.stores.subscriptionSweep.ended(tx, limit);
    for (const subscription of ended) await this.moveOne(tx, subscription);
    return ended.length;
  }

  private async moveOne(tx: Tx, { id, organizationId, to }: EndedPeriod): Promise<void> {
    const moved =
      to === 'PAST_DUE'
        ? await this.stores.subscriptionMoves.fallDue(tx, organizationId, id)
        : await this.stores.subscriptionMoves.expire(tx, organizationId, id);
    if (!moved) throw new Error(`Subscription ${id} cannot become ${to}`);
    await this.stores.audit.write(tx, organizationId, {
      ...SYSTEM_ACTOR,
      eventType: to === 'PAST_DUE' ? 'SUBSCRIPTION_PAST_DUE' : 'SUBSCRIPTION_EXPIRED',
      resourceType: 'SUBSCRIPTION',
      resourceId: id,
      resourceName: null,
      details: { currentPeriodEnd: moved.currentPeriodEnd, gracePeriodEnd: moved.gracePeriodEnd },
    });
  }
}
