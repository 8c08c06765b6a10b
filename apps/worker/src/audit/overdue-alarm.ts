import type { Logger } from 'pino';
import { OverdueStore } from '#engine-store';
import type { Database } from '#entities';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 5000;
const OVERDUE_AFTER_SECONDS = 55;
const AT_ONCE = 500;

/** Tells, within a minute, of what should be closed and is not. Removing it goes on, whatever is told. */
export function overdueAlarm(database: Database, log: Logger): RepeatedTask {
  const overdue = new OverdueStore();
  const look = async (stopping: AbortSignal): Promise<void> => {
    for (let count = AT_ONCE; count === AT_ONCE && !stopping.aborted;) {
      count = await database.transaction((tx) => overdue.recordOverdue(tx, OVERDUE_AFTER_SECONDS, AT_ONCE));
      if (count > 0) log.warn({ count }, 'Rules that should be gone are still in the cloud');
    }
  };
  return new RepeatedTask('record overdue revocations', INTERVAL_MS, look, log);
}
