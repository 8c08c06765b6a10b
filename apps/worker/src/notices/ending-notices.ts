import type { Logger } from 'pino';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 5000;
const BATCH_SIZE = 500;

/** Records sessions, API keys and static IP rules that end soon. Mail and webhooks tell of it. */
export function endingNotices(database: Database, { endings }: TenantStores, log: Logger): RepeatedTask {
  const record = async (): Promise<number | null> => {
    const sessions = await database.transaction((tx) => endings.recordSessions(tx, BATCH_SIZE));
    const keys = await database.transaction((tx) => endings.recordLasting(tx, BATCH_SIZE, 'API_KEY'));
    const rules = await database.transaction((tx) => endings.recordLasting(tx, BATCH_SIZE, 'STATIC_IP_RULE'));
    return Math.max(sessions, keys, rules) === BATCH_SIZE ? 0 : null;
  };
  return new RepeatedTask('record what ends soon', INTERVAL_MS, record, log);
}
