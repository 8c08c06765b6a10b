const PASSING_CODES: ReadonlySet<string> = new Set([
  // network
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  // PostgreSQL: shutdown, crash, start-up, too many connections, read-only after a failover, statement timeout
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
  '57014',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  // serialization failure, deadlock: it lost against others, also when tried again
  '40001',
  '40P01',
]);

// pg gives these no code; the last two are TypeORM's, when a transaction loses its connection between two statements
const LOST_CONNECTION_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Database connection provided by a query runner was already released|Query runner already released)/;

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

/** Whether the database or the network to it is unavailable or too busy, so that a retry may help. */
export function isUnavailable(error: unknown): boolean {
  for (const layer of layers(error)) {
    const code = codeOf(layer);
    if (code !== null && PASSING_CODES.has(code)) return true;
    if (LOST_CONNECTION_MESSAGES.test(layer.message)) return true;
  }
  return false;
}

/** Whether the client sent a character that PostgreSQL cannot store. */
export function isTextRefused(error: unknown): boolean {
  for (const layer of layers(error)) {
    const code = codeOf(layer);
    if (code !== null && REFUSED_TEXT_CODES.has(code)) return true;
  }
  return false;
}
