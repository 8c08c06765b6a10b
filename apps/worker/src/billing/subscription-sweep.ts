import { SYSTEM_ACTOR, type Tx } from '#entities';
import type { EndedPeriod, TenantStores } from '#tenant-store';
import type { RepeatedTask, TaskParts } from '../repeated-task';
import { batchedTask } from '../batched-task';

const INTERVAL_MS = 1000;
const BATCH_SIZE = 100;

/** Moves subscriptions to their next status within seconds of the end of their period or grace, by the database's clock. */
export function subscriptionSweep({ database, stores, log }: TaskParts): RepeatedTask {
  const sweep = async (limit: number): Promise<number> => {
    const count = await database.transaction(async (tx) => {
      const ended = await stores.subscriptionSweep.listEnded(tx, limit);
      for (const subscription of ended) await moveOn(tx, stores, subscription);
      return ended.length;
    });
    if (count > 0) log.info({ count }, 'Subscriptions were moved on');
    return count;
  };
  return batchedTask('move on ended subscriptions', INTERVAL_MS, sweep, log, BATCH_SIZE);
}

async function moveOn(
  tx: Tx,
  { subscriptionMoves, audit }: TenantStores,
  { id, organizationId, to }: EndedPeriod,
): Promise<void> {
  const moved =
    to === 'PAST_DUE'
      ? await subscriptionMoves.fallDue(tx, organizationId, id)
      : await subscriptionMoves.expire(tx, organizationId, id);
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
