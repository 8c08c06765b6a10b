import type { Logger } from 'pino';
import type { Database } from '#entities';
import { deleteOldIdempotencyKeys } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { deleteInBatches } from './delete-in-batches';

const INTERVAL_MS = 30_000;

/** Deletes expired Idempotency-Keys. */
export const idempotencyKeyDeletion = (database: Database, log: Logger): RepeatedTask =>
  new RepeatedTask(
    'delete old Idempotency-Keys',
    INTERVAL_MS,
    (stopping) => deleteInBatches((limit) => deleteOldIdempotencyKeys(database.autocommit, limit), stopping),
    log,
  );
