import { RepeatedTask, type TaskParts } from '../repeated-task';

const ENDING_INTERVAL_MS = 5000;
const BATCH_SIZE = 500;
const FORGET_INTERVAL_MS = 60 * 60 * 1000;

/** Records sessions, API keys and static IP rules that end soon. Mail and webhooks tell of it. */
export function endingNotices({ database, stores: { endings }, log }: TaskParts): RepeatedTask {
  const record = async (): Promise<number | null> => {
    const sessions = await database.transaction((tx) => endings.recordSessions(tx, BATCH_SIZE));
    const keys = await database.transaction((tx) => endings.recordLasting(tx, BATCH_SIZE, 'API_KEY'));
    const rules = await database.transaction((tx) => endings.recordLasting(tx, BATCH_SIZE, 'STATIC_IP_RULE'));
    return Math.max(sessions, keys, rules) === BATCH_SIZE ? 0 : null;
  };
  return new RepeatedTask('record what ends soon', ENDING_INTERVAL_MS, record, log);
}

/** Without a mail server: once one is set, mails report what happens from then on. */
export function noticesOff({ database, stores, log }: TaskParts): RepeatedTask {
  const forget = (): Promise<void> => stores.notices.forget(database.autocommit);
  return new RepeatedTask('forget what mail has reported', FORGET_INTERVAL_MS, forget, log);
}
