import type { Logger } from 'pino';
import type { Database } from '#entities';
import { NoticeStore } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 60 * 60 * 1000;

/** Without a mail server: whoever sets one later is told what happens from then on. */
export function noticesOff(database: Database, log: Logger): RepeatedTask {
  const store = new NoticeStore();
  return new RepeatedTask(
    'forget what mail has told',
    INTERVAL_MS,
    () => store.forget(database.autocommit),
    log,
  );
}
