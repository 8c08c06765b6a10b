import type { Logger } from 'pino';
import { type Database, MonthlyPartitions } from '#entities';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 60 * 60 * 1000;
/** delay after a run that found a table locked */
const RETRY_DELAY_MS = 5000;
const MONTHS_AHEAD = 3;

/** Creates the partitions of audit records for the coming months. */
export function auditPartitionUpkeep(database: Database, log: Logger): RepeatedTask {
  const partitions = new MonthlyPartitions(database, 'audit_records');
  const keep = async (): Promise<number | null> =>
    (await partitions.createMissing(MONTHS_AHEAD)) === 'later' ? RETRY_DELAY_MS : null;
  return new RepeatedTask('keep the partitions of audit records', INTERVAL_MS, keep, log);
}
