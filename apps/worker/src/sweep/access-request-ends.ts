import type { Logger } from 'pino';
import { type Database, SYSTEM_ACTOR } from '#entities';
import { endedEntry, endOverdueRequests, type TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { deleteInBatches } from './delete-in-batches';

const INTERVAL_MS = 1000;

/** Ends access requests that were not decided, or not used, in time. */
export function accessRequestEnds(database: Database, { audit }: TenantStores, log: Logger): RepeatedTask {
  const end = (limit: number): Promise<number> =>
    database.transaction(async (tx) => {
      const ended = await endOverdueRequests(tx, limit);
      for (const request of ended)
        await audit.write(tx, request.organizationId, endedEntry(SYSTEM_ACTOR, request));
      return ended.length;
    });
  return new RepeatedTask(
    'end overdue access requests',
    INTERVAL_MS,
    (stopping) => deleteInBatches(end, stopping),
    log,
  );
}
