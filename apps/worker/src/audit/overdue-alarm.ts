import type { Logger } from 'pino';
import { recordOverdue } from '#engine';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 1000;
const BATCH_SIZE = 500;
/** Rules named in one line of the log. */
const MAX_NAMED = 20;

/** Reports overdue rules within a minute. The attempts to remove them continue independently. */
export function overdueAlarm(database: Database, stores: EngineStore, log: Logger): RepeatedTask {
  const record = async (stopping: AbortSignal): Promise<void> => {
    for (let count = BATCH_SIZE; count === BATCH_SIZE && !stopping.aborted;) {
      const recorded = await database.transaction(async (tx) => {
        const ids = await recordOverdue(tx, stores, BATCH_SIZE);
        if (ids.length === 0) return null;
        const { rows } = await stores.backlog.overdueRules(tx, { page: 0, size: MAX_NAMED }, ids);
        return { count: ids.length, rules: rows };
      });
      count = recorded?.count ?? 0;
      if (recorded) log.warn(recorded, 'Rules that should be gone are still in the cloud');
    }
  };
  return new RepeatedTask('record overdue revocations', INTERVAL_MS, record, log);
}
