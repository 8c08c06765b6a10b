import type { Logger } from 'pino';
import { deleteOldIdempotencyKeys, type Database } from '#entities';
import { RepeatedTask } from '../repeated-task';

const EVERY_MS = 10_000;
const AT_ONCE = 500;

/** Keeps the table of Idempotency-Keys to those that still stand for an answer: a few rows at a time. */
export const idempotencyKeyDeletion = (database: Database, log: Logger): RepeatedTask =>
  new RepeatedTask(
    'delete old Idempotency-Keys',
    EVERY_MS,
    async () => {
      await deleteOldIdempotencyKeys(database.autocommit, AT_ONCE);
    },
    log,
  );
