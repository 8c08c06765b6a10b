import type { Logger } from 'pino';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 60 * 60 * 1000;
const BATCH_SIZE = 250;

/** Deletes ended sessions past their retention, at start-up and every hour. */
export function sessionDeletion(
  database: Database,
  { sessionRetention: store }: TenantStores,
  retentionDays: number,
  log: Logger,
): RepeatedTask {
  const deleteOld = async (stopping: AbortSignal): Promise<void> => {
    for (const organization of await store.organizations(database.autocommit, retentionDays)) {
      if (stopping.aborted) return;
      const deleted = await store.deleteOld(database, organization, retentionDays, BATCH_SIZE, stopping);
      if (deleted > 0) log.info({ organization, deleted }, 'Sessions past their retention were deleted');
    }
  };
  return new RepeatedTask('delete old sessions', INTERVAL_MS, deleteOld, log);
}
