import { DatabaseError } from 'pg';

const LOST_CONNECTION_CODES: ReadonlySet<string> = new Set([
  // network
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ECONNABORTED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  // PostgreSQL or a pooler: shutdown, crash, start-up, database dropped, idle for too long, read-only after a failover
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '25P03',
  '25006',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '08P01',
]);

/** Too many connections, lock and statement timeout: the connections that there are work. */
const BUSY_CODES: ReadonlySet<string> = new Set(['53300', '55P03', '57014']);

const TIMEOUT_CODES: ReadonlySet<string> = new Set(['57014']);

/** A named statement that the connection has lost, has already, or knows in an outdated form. */
const STALE_STATEMENT_CODES: ReadonlySet<string> = new Set(['26000', '42P05', '0A000']);

// pg and its pool give these no code; the last two are TypeORM's, when a transaction loses its connection between two statements
const LOST_CONNECTION_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Cannot use a pool after calling end|Client has encountered a connection error|Client was closed|Database connection provided by a query runner was already released|Query runner already released)/;

/** Serialization failure, deadlock. */
const CONFLICT_CODES: ReadonlySet<string> = new Set(['40001', '40P01']);

/** PostgreSQL cannot store U+0000 in a text. */
const REFUSED_TEXT_CODES: ReadonlySet<string> = new Set(['22021', '22P05']);

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** The error and those it wraps: `driverError`, the errors of an AggregateError, `cause`. */
function* layers(error: unknown, depth = 0): Generator<Error> {
  if (!(error instanceof Error) || depth > 4) return;
  yield error;
  if ('driverError' in error) yield* layers(error.driverError, depth + 1);
  if (error instanceof AggregateError) for (const inner of error.errors) yield* layers(inner, depth + 1);
  yield* layers(error.cause, depth + 1);
}

const hasCode = (error: unknown, codes: ReadonlySet<string>): boolean =>
  [...layers(error)].some((layer) => codes.has(codeOf(layer) ?? ''));

/** Whether the database or the network to it is unavailable, so that a retry may help. */
export const isUnavailable = (error: unknown): boolean =>
  hasCode(error, LOST_CONNECTION_CODES) ||
  hasCode(error, BUSY_CODES) ||
  [...layers(error)].some(({ message }) => LOST_CONNECTION_MESSAGES.test(message));

/** Whether a statement's error is none that a healthy, writable server answers: the next one may fail in the same way. */
export const isConnectionAtFault = (error: unknown): boolean =>
  !(error instanceof DatabaseError) ||
  hasCode(error, LOST_CONNECTION_CODES) ||
  hasCode(error, STALE_STATEMENT_CODES);

/** Whether a statement took longer than it may. */
export const isTimeout = (error: unknown): boolean => hasCode(error, TIMEOUT_CODES);

/** Whether the transaction lost against a concurrent one: it was rolled back, and may be run again. */
export const isConflict = (error: unknown): boolean => hasCode(error, CONFLICT_CODES);

/** Whether the client sent a character that PostgreSQL cannot store. */
export const isTextRefused = (error: unknown): boolean => hasCode(error, REFUSED_TEXT_CODES);
