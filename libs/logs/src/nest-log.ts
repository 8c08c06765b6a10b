/** The part of pino's logger that is used here. */
type JsonLog = Readonly<Record<'error' | 'warn' | 'info' | 'debug' | 'trace', (line: object) => void>>;

/** Nest's logger: every line is JSON, with the context that Nest passes last. */
export class NestLog {
  constructor(private readonly target: JsonLog) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.target.info(lineOf(message, rest));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.target.warn(lineOf(message, rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.target.error(lineOf(message, rest));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.error(message, ...rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.target.debug(lineOf(message, rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.target.trace(lineOf(message, rest));
  }
}

/** For the start-up: without Nest's progress messages. */
export class StartupLog extends NestLog {
  override log(): void {}
}

function lineOf(message: unknown, rest: readonly unknown[]): object {
  const context = rest.at(-1);
  return { ...(typeof context === 'string' && { context }), ...fieldsOf(message) };
}

/** Of an error only its message: other fields may hold what was sent. */
function fieldsOf(message: unknown): object {
  if (message instanceof Error) return { msg: message.message };
  return typeof message === 'object' && message !== null ? message : { msg: String(message) };
}
