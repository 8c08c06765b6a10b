/** The part of pino's logger that is used here. */
interface JsonLog {
  readonly error: (line: object) => void;
  readonly warn: (line: object) => void;
}

/**
 * A logger for Nest during start-up, so that every line is JSON from the first one on. Drops Nest's progress messages.
 */
export class NestLog {
  constructor(private readonly target: JsonLog) {}

  log(): void {}

  warn(message: unknown, ...rest: unknown[]): void {
    this.target.warn(lineOf(message, rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.target.error(lineOf(message, rest));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.error(message, ...rest);
  }
}

/** Nest passes the context last. */
function lineOf(message: unknown, rest: readonly unknown[]): object {
  const context = rest.at(-1);
  const line = typeof message === 'object' && message !== null ? message : { msg: String(message) };
  return { ...(typeof context === 'string' && { context }), ...line };
}
