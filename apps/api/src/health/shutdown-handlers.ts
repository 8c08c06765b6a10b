import type { ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Readiness } from './readiness';

/** Below the usual 10 seconds between SIGTERM and SIGKILL. */
const SHUTDOWN_TIMEOUT_MS = 9000;
const IDLE_CHECK_INTERVAL_MS = 50;

/**
 * Stops the process on SIGTERM, on SIGINT, and when the launcher that started it exits. On SIGTERM it first reports not
 * ready and keeps serving requests for `drainMs`, until load balancers stop sending them. Then it closes the server and
 * waits for running requests. After 9 seconds in total, the process exits with code 1.
 * @param drainMs the time load balancers need to notice
 */
export function installShutdownHandlers(app: NestExpressApplication, drainMs: number): void {
  const connections = new KeepAliveConnections(app);
  let stopping = false;
  const stop = (afterMs: number): void => {
    if (stopping) return;
    stopping = true;
    app.get(Readiness).startDraining();
    connections.closeAfterResponse();
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref();
    setTimeout(() => {
      // connections that become idle later would keep the server open until their keep-alive timeout
      setInterval(() => app.getHttpServer().closeIdleConnections(), IDLE_CHECK_INTERVAL_MS).unref();
      app.close().then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`The API stopped badly: ${String(error)}\n`);
          process.exit(1);
        },
      );
    }, afterMs);
  };
  process.on('SIGTERM', () => stop(drainMs));
  process.on('SIGINT', () => stop(0));
  process.on('disconnect', () => stop(0));
}

/** Closes keep-alive connections with their next response, so that no request is lost between two responses. */
class KeepAliveConnections {
  private readonly unanswered = new Set<ServerResponse>();
  private closing = false;

  constructor(app: NestExpressApplication) {
    app.getHttpServer().prependListener('request', (_request: unknown, response: ServerResponse) => {
      if (this.closing) response.shouldKeepAlive = false;
      this.unanswered.add(response);
      response.once('close', () => this.unanswered.delete(response));
    });
  }

  closeAfterResponse(): void {
    this.closing = true;
    for (const response of this.unanswered) response.shouldKeepAlive = false;
  }
}
