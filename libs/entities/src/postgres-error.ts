import { QueryFailedError } from 'typeorm';

/** A field of a PostgreSQL error, whether TypeORM wrapped it or not. */
export function postgresErrorField(error: unknown, field: 'code' | 'constraint' | 'detail'): string | null {
  const source: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (typeof source !== 'object' || source === null) return null;
  const value = (source as Record<string, unknown>)[field];
  return typeof value === 'string' ? value : null;
}
