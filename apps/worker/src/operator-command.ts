import { Database, type DatabaseSettings } from '#entities';
import { commandDatabaseUrl } from './embedded-database-url';

/** An error the operator has to correct: printed without a stack. */
export class OperatorError extends Error {}

/**
 * Connects an operator's command to the database for as long as it works.
 * @throws OperatorError when there is none, or it cannot be reached
 */
export async function withDatabase(
  settings: Omit<DatabaseSettings, 'url'>,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const url = commandDatabaseUrl(process.env);
  if (url === null) {
    throw new OperatorError(
      'There is no database: start the service with npm start, or set DATABASE_URL to the address of its PostgreSQL database.',
    );
  }
  const database = new Database({ ...settings, url });
  try {
    await database.connect();
  } catch (error) {
    throw new OperatorError(`The database cannot be reached (is it running?): ${(error as Error).message}`);
  }
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
