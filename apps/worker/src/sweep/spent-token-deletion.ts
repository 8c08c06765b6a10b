import type { Logger } from 'pino';
import { SpentTokenStore, type Database } from '#entities';
import { RepeatedTask } from '../repeated-task';

const EVERY_MS = 60 * 60 * 1000;

/** Deletes tokens, challenges and failure counts that have run out: at the start and every hour. */
export function spentTokenDeletion(database: Database, log: Logger): RepeatedTask {
  const store = new SpentTokenStore();
  const tidy = async (): Promise<void> => void (await store.deleteSpent(database.autocommit));
  return new RepeatedTask('delete spent tokens', EVERY_MS, tidy, log);
}
