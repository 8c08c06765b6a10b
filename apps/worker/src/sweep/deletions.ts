import { deleteOldHealthEvents, deleteOldIdempotencyKeys, type HealthEventPosition } from '#tenant-store';
import { RepeatedTask, type TaskParts } from '../repeated-task';
import { batchedTask } from '../batched-task';

const HOUR_MS = 60 * 60 * 1000;
const SESSIONS_BATCH_SIZE = 250;

/** Deletes expired Idempotency-Keys. */
export const idempotencyKeyDeletion = ({ database, log }: TaskParts): RepeatedTask =>
  batchedTask(
    'delete old Idempotency-Keys',
    30_000,
    (limit) => deleteOldIdempotencyKeys(database.autocommit, limit),
    log,
  );

/** Deletes expired tokens, challenges and failure counters, at start-up and every hour. */
export const spentTokenDeletion = ({ database, stores, log }: TaskParts): RepeatedTask =>
  batchedTask(
    'delete spent tokens',
    HOUR_MS,
    (limit) => stores.spentTokens.deleteSpent(database.autocommit, limit),
    log,
  );

/** Deletes what is left of closed organizations after their history went, at start-up and every hour. */
export const organizationForgetting = ({ database, stores, log }: TaskParts): RepeatedTask =>
  batchedTask(
    'delete organizations without history',
    HOUR_MS,
    (limit) => database.transaction((tx) => stores.organizationClosing.forget(tx, limit)),
    log,
  );

/** Deletes health events past their retention, at start-up and every hour. */
export function healthEventDeletion({ database, log }: TaskParts, retentionDays: number): RepeatedTask {
  // events that are kept are skipped, not read again by each batch
  let position: HealthEventPosition | null = null;
  const deleteBatch = async (limit: number): Promise<number> => {
    const { examined, last } = await deleteOldHealthEvents(
      database.autocommit,
      retentionDays,
      position,
      limit,
    );
    position = examined < limit ? null : last;
    return examined;
  };
  return batchedTask('delete old health events', HOUR_MS, deleteBatch, log);
}

/** Deletes ended sessions past their retention, at start-up and every hour. */
export function sessionDeletion({ database, stores, log }: TaskParts, retentionDays: number): RepeatedTask {
  const store = stores.sessionRetention;
  const deleteOld = async (stopping: AbortSignal): Promise<void> => {
    for (const organization of await store.organizations(database.autocommit, retentionDays)) {
      if (stopping.aborted) return;
      const deleted = await store.deleteOld(
        database,
        organization,
        retentionDays,
        SESSIONS_BATCH_SIZE,
        stopping,
      );
      if (deleted > 0) log.info({ organization, deleted }, 'Sessions past their retention were deleted');
    }
  };
  return new RepeatedTask('delete old sessions', HOUR_MS, deleteOld, log);
}
