import { EXIT_CONFIGURATION, SettingsError } from '#config';
import { isUnavailable, UnusableDatabase } from '#entities';

type Program = 'API' | 'worker';

/** Below the usual 10 seconds between SIGTERM and SIGKILL. */
const SHUTDOWN_TIMEOUT_MS = 9000;

interface Stop {
  /** SIGTERM: how long the process works on, once `begin` was called */
  readonly drainMs?: number;
  readonly begin?: () => void;
  /** finishes running work or hands it over */
  readonly close: () => Promise<void>;
}

/**
 * Stops the process on SIGTERM, on SIGINT, and when the launcher that started it has exited. It ends in time even when the
 * database or the queue does not answer.
 */
export function stopOnSignals(program: Program, { drainMs = 0, begin, close }: Stop): void {
  let stopping = false;
  const stop = (afterMs: number): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref();
    begin?.();
    setTimeout(() => {
      close().then(
        () => process.exit(),
        (error: unknown) => {
          process.stderr.write(`The ${program} stopped badly: ${String(error)}\n`);
          process.exit(1);
        },
      );
    }, afterMs);
  };
  process.on('SIGTERM', () => stop(drainMs));
  process.on('SIGINT', () => stop(0));
  process.on('disconnect', () => stop(0));
}

/** Ends a process that could not start, with the reason in one line. */
export function endUnstarted(program: Program, error: unknown): never {
  process.stderr.write(`The ${program} cannot start. ${reasonOf(error)}\n`);
  const isPermanent =
    error instanceof SettingsError || (error instanceof UnusableDatabase && error.isPermanent);
  process.exit(isPermanent ? EXIT_CONFIGURATION : 1);
}

function reasonOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof UnusableDatabase) return error.message;
  if (!(error instanceof Error)) return 'Unknown reason';
  if ('code' in error && error.code === 'EADDRNOTAVAIL') {
    return `This machine does not have the address ${'address' in error ? String(error.address) : ''}: correct HOST or METRICS_HOST.`;
  }
  if ('code' in error && error.code === 'EADDRINUSE') {
    const port = 'port' in error ? String(error.port) : '';
    const variable = port === process.env['METRICS_PORT'] ? 'METRICS_PORT' : 'PORT';
    return `Another program listens on port ${port}: set ${variable} to a free one.`;
  }
  if (isUnavailable(error)) return 'PostgreSQL cannot be reached at DATABASE_URL.';
  return error.stack ?? error.message;
}
