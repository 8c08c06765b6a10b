import { recordOverdue } from '#engine';
import { MonthlyPartitions } from '#entities';
import { RepeatedTask, type TaskParts } from '../repeated-task';
import { batchedTask } from '../batched-task';

const HOUR_MS = 60 * 60 * 1000;
/** delay after a run that found a table locked */
const RETRY_DELAY_MS = 5000;
const MONTHS_AHEAD = 3;
const UNWRITTEN_INTERVAL_MS = 5000;
const OVERDUE_INTERVAL_MS = 1000;
const BATCH_SIZE = 500;
/** Rules named in one line of the log. */
const MAX_NAMED = 20;

/** Creates the partitions of audit records for the coming months. */
export function auditPartitionUpkeep({ database, log }: TaskParts): RepeatedTask {
  const partitions = new MonthlyPartitions(database, 'audit_records');
  const keep = async (): Promise<number | null> =>
    (await partitions.createMissing(MONTHS_AHEAD)) === 'later' ? RETRY_DELAY_MS : null;
  return new RepeatedTask('keep the partitions of audit records', HOUR_MS, keep, log);
}

/** Retries audit records of revocations that could not be written when the revocation was committed. */
export function unwrittenRecords({ database, stores, log }: TaskParts): RepeatedTask {
  const store = stores.unwrittenAudit;
  const write = async (stopping: AbortSignal): Promise<void> => {
    for (const organization of await store.organizations(database.autocommit)) {
      if (stopping.aborted) return;
      try {
        const count = await database.transaction((tx) => store.write(tx, organization, BATCH_SIZE));
        log.warn({ count, organization }, 'Audit records of revocations were written late');
      } catch (error) {
        log.error({ err: error, organization }, 'Audit records of revocations cannot be written');
      }
    }
  };
  return new RepeatedTask('write kept audit records', UNWRITTEN_INTERVAL_MS, write, log);
}

/** Reports overdue rules within a minute. The attempts to remove them continue independently. */
export function overdueAlarm({ database, engine, log }: TaskParts): RepeatedTask {
  const record = async (limit: number): Promise<number> => {
    const recorded = await database.transaction(async (tx) => {
      const ids = await recordOverdue(tx, engine, limit);
      if (ids.length === 0) return null;
      const { rows } = await engine.backlog.overdueRules(tx, { page: 0, size: MAX_NAMED }, ids);
      return { count: ids.length, rules: rows };
    });
    if (recorded) log.warn(recorded, 'Rules that should be gone are still in the cloud');
    return recorded?.count ?? 0;
  };
  return batchedTask('record overdue revocations', OVERDUE_INTERVAL_MS, record, log, BATCH_SIZE);
}
