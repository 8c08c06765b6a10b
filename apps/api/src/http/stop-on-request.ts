import type { NestExpressApplication } from '@nestjs/platform-express';

const LATEST_MS = 10_000;
const IDLE_CHECK_MS = 50;

/**
 * Stops the process on SIGTERM, on SIGINT, and when the launcher that started it is gone: no new connection, requests
 * under way finish, after ten seconds what is left is cut.
 */
export function stopOnRequest(app: NestExpressApplication): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), LATEST_MS).unref();
    // a kept-alive connection that falls idle later would hold the server open until its time-out
    setInterval(() => app.getHttpServer().closeIdleConnections(), IDLE_CHECK_MS).unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`The API stopped badly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
}
