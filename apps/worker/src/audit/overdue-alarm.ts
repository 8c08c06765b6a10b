import type { Logger } from 'pino';
import { OverdueStore } from '#engine-store';
import type { Database } from '#entities';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 1000;
export const OVERDUE_AFTER_SECONDS = 55;
const BATCH_SIZE = 500;

/** Reports overdue rules within a minute. The attempts to remove them continue independently. */
export function overdueAlarm(database: Database, log: Logger): RepeatedTask {
  const overdue = new OverdueStore();
  const record = async (stopping: AbortSignal): Promise<void> => {
    for (let count = BATCH_SIZE; count === BATCH_SIZE && !stopping.aborted;) {
      count = await database.transaction((tx) =>
        overdue.recordOverdue(tx, OVERDUE_AFTER_SECONDS, BATCH_SIZE),
      );
      if (count > 0) log.warn({ count }, 'Rules that should be gone are still in the cloud');
    }
  };
  return new RepeatedTask('record overdue revocations', INTERVAL_MS, record, log);
}
