import { LedgerPartitions } from '#entities';
import { RepeatedTask, type TaskParts } from '../repeated-task';
import { batchedTask } from '../batched-task';

const INTERVAL_MS = 60 * 60 * 1000;
/** delay after a run that found a table locked */
const RETRY_DELAY_MS = 60_000;
const MONTHS_AHEAD = 2;
const UNWRITTEN_INTERVAL_MS = 5000;
const BATCH_SIZE = 500;

/** Creates the ledger's partitions for the coming months and drops those past the retention period. */
export function ledgerUpkeep({ database, log }: TaskParts, retentionMonths: number): RepeatedTask {
  const partitions = new LedgerPartitions(database);
  const keep = async (): Promise<number | null> => {
    const created = await partitions.createMissing(MONTHS_AHEAD);
    const { dropped, outcome } = await partitions.dropExpired(retentionMonths);
    if (dropped.length > 0) log.info({ dropped }, 'Months of the ledger past their retention were dropped');
    return created === 'later' || outcome === 'later' ? RETRY_DELAY_MS : null;
  };
  return new RepeatedTask('keep the partitions of the ledger', INTERVAL_MS, keep, log);
}

/** Retries rule events that could not be written into the ledger when they were observed. */
export function unwrittenRuleEvents({ database, log }: TaskParts): RepeatedTask {
  const partitions = new LedgerPartitions(database);
  const write = async (limit: number): Promise<number> => {
    const count = await partitions.writeUnwritten(limit);
    if (count > 0) log.warn({ count }, 'Rule events were written into the ledger late');
    return count;
  };
  return batchedTask('write kept rule events', UNWRITTEN_INTERVAL_MS, write, log, BATCH_SIZE);
}
