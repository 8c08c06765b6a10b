import type { Logger } from 'pino';
import type { Database } from '#entities';
import { UnwrittenAuditStore } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 5000;
const AT_ONCE = 500;

/** Writes the records of closings that the audit trail did not take when they were done. */
export function unwrittenRecords(database: Database, log: Logger): RepeatedTask {
  const store = new UnwrittenAuditStore();
  const write = async (stopping: AbortSignal): Promise<void> => {
    for (const organization of await store.organizations(database.autocommit)) {
      if (stopping.aborted) return;
      try {
        const count = await database.transaction((tx) => store.write(tx, organization, AT_ONCE));
        log.warn({ count, organization }, 'Records of closings were written into the audit trail late');
      } catch (error) {
        log.error({ err: error, organization }, 'The audit trail does not take the records of closings');
      }
    }
  };
  return new RepeatedTask('write kept audit records', INTERVAL_MS, write, log);
}
