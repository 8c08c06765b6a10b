import type { Logger } from 'pino';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 5000;
const BATCH_SIZE = 500;

/** Records sessions and API keys that end soon. Mail and webhooks tell of it. */
export function endingNotices(database: Database, { endings }: TenantStores, log: Logger): RepeatedTask {
  const record = async (): Promise<number | null> => {
    const sessions = await database.transaction((tx) => endings.recordSessions(tx, BATCH_SIZE));
    const keys = await database.transaction((tx) => endings.recordKeys(tx, BATCH_SIZE));
    return Math.max(sessions, keys) === BATCH_SIZE ? 0 : null;
  };
  return new RepeatedTask('record what ends soon', INTERVAL_MS, record, log);
}
