import type { Logger } from 'pino';
import type { Database } from '#entities';
import { SessionRetentionStore } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 60 * 60 * 1000;
/** delay after a run that found an organization's lists in use */
const RETRY_DELAY_MS = 60_000;
const BATCH_SIZE = 250;

/** Deletes ended sessions past their retention, at start-up and every hour. */
export function sessionDeletion(database: Database, retentionDays: number, log: Logger): RepeatedTask {
  const store = new SessionRetentionStore();
  const deleteOld = async (stopping: AbortSignal): Promise<number | null> => {
    let isComplete = true;
    for (const organization of await store.organizations(database.autocommit, retentionDays)) {
      if (stopping.aborted) return null;
      const outcome = await store.deleteOld(database, organization, retentionDays, BATCH_SIZE, stopping);
      if (outcome.deleted > 0)
        log.info({ organization, ...outcome }, 'Sessions past their retention were deleted');
      isComplete &&= !outcome.isBusy;
    }
    return isComplete ? null : RETRY_DELAY_MS;
  };
  return new RepeatedTask('delete old sessions', INTERVAL_MS, deleteOld, log);
}
