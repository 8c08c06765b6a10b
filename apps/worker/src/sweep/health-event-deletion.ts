import type { Logger } from 'pino';
import type { Database } from '#entities';
import { deleteOldHealthEvents, type HealthEventPosition } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { deleteInBatches } from './delete-in-batches';

const INTERVAL_MS = 60 * 60 * 1000;

/** Deletes health events past their retention, at start-up and every hour. */
export function healthEventDeletion(database: Database, retentionDays: number, log: Logger): RepeatedTask {
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
  return new RepeatedTask(
    'delete old health events',
    INTERVAL_MS,
    (stopping) => deleteInBatches(deleteBatch, stopping),
    log,
  );
}
