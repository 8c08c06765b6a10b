import type { INestApplicationContext } from '@nestjs/common';

/** Of the ten seconds a process has from SIGTERM to its end. */
const MAX_DELAY_MS = 9000;

/**
 * Stops the process on SIGTERM, on SIGINT, and when the launcher that started it is gone: work under way ends or is
 * handed over. It ends in time even when the database or the queue does not answer any more.
 */
export function stopOnRequest(worker: INestApplicationContext): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), MAX_DELAY_MS).unref();
    worker.close().then(
      () => process.exit(0),
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
