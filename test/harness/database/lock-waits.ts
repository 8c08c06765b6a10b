import type { Database } from '#entities';
import { until } from '../until';

/** Until a statement of the database waits for a lock. */
export const untilBlocked = (database: Pick<Database, 'autocommit'>): Promise<boolean> =>
  until('a statement waits for a lock', async () => {
    const waiting = await database.autocommit.query<unknown[]>(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
