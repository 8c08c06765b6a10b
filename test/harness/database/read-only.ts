import type { Drawbridge } from '../product/drawbridge';

/** Whether new connections accept writes. Those that are open stay as they are: see `endConnections`. */
export const setReadOnly = (drawbridge: Pick<Drawbridge, 'query'>, is: boolean): Promise<unknown> =>
  drawbridge.query(
    `BEGIN READ WRITE;
     DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${is}', current_database()); END $$;
     COMMIT`,
  );

/** Ends every connection to the database but this one. */
export const endConnections = (drawbridge: Pick<Drawbridge, 'query'>): Promise<unknown> =>
  drawbridge.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
