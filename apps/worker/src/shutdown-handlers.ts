import type { INestApplicationContext } from '@nestjs/common';

/** Stops this worker as a failed one: its supervisor starts it again. */
export function endWorker(): void {
  process.exitCode = 1;
  process.kill(process.pid, 'SIGTERM');
}

/** A process has ten seconds from SIGTERM to its end. */
const SHUTDOWN_TIMEOUT_MS = 9000;

/**
 * Stops the process on SIGTERM, on SIGINT, and when the launcher that started it has exited: running work is finished or
 * handed over. The process ends in time even when the database or the queue does not answer.
 */
export function installShutdownHandlers(worker: INestApplicationContext): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref();
    worker.close().then(
      () => process.exit(),
      (error: unknown) => {
        process.stderr.write(`The worker stopped badly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
}
