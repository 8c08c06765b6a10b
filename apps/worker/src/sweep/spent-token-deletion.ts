import type { Logger } from 'pino';
import type { Database } from '#entities';
import { SpentTokenStore } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { deleteInBatches } from './delete-in-batches';

const INTERVAL_MS = 60 * 60 * 1000;

/** Deletes tokens, challenges and failure counts that have run out: at the start and every hour. */
export function spentTokenDeletion(database: Database, log: Logger): RepeatedTask {
  const store = new SpentTokenStore();
  const tidy = (stopping: AbortSignal): Promise<number | null> =>
    deleteInBatches((limit) => store.deleteSpent(database.autocommit, limit), stopping);
  return new RepeatedTask('delete spent tokens', INTERVAL_MS, tidy, log);
}
