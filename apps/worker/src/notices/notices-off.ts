import type { Logger } from 'pino';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 60 * 60 * 1000;

/** Without a mail server: once one is set, mails report what happens from then on. */
export function noticesOff(database: Database, { notices: store }: TenantStores, log: Logger): RepeatedTask {
  return new RepeatedTask(
    'forget what mail has reported',
    INTERVAL_MS,
    () => store.forget(database.autocommit),
    log,
  );
}
