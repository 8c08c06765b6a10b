import type { Logger } from 'pino';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 5000;
const BATCH_SIZE = 500;

/** Retries audit records of revocations that could not be written when the revocation was committed. */
export function unwrittenRecords(
  database: Database,
  { unwrittenAudit: store }: TenantStores,
  log: Logger,
): RepeatedTask {
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
  return new RepeatedTask('write kept audit records', INTERVAL_MS, write, log);
}
