import type { Logger } from 'pino';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { deleteInBatches } from './delete-in-batches';

const INTERVAL_MS = 60 * 60 * 1000;

/** Deletes expired tokens, challenges and failure counters, at start-up and every hour. */
export function spentTokenDeletion(
  database: Database,
  { spentTokens: store }: TenantStores,
  log: Logger,
): RepeatedTask {
  const deleteSpent = (stopping: AbortSignal): Promise<number | null> =>
    deleteInBatches((limit) => store.deleteSpent(database.autocommit, limit), stopping);
  return new RepeatedTask('delete spent tokens', INTERVAL_MS, deleteSpent, log);
}
