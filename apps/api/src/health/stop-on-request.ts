import type { ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Readiness } from './readiness';

/** Of the ten seconds a process has from SIGTERM to its end. */
const MAX_DELAY_MS = 9000;
const IDLE_CHECK_MS = 50;

/**
 * Stops the process on SIGTERM, on SIGINT, and when the launcher that started it is gone. On SIGTERM it says first that
 * it is not ready, and takes requests a little longer: until no load balancer sends any. Then no new connection comes
 * about, requests under way finish; after nine seconds in all, what is left is cut.
 * @param leaveMs how long load balancers take to look elsewhere
 */
export function stopOnRequest(app: NestExpressApplication, leaveMs: number): void {
  const connections = new LastingConnections(app);
  let stopping = false;
  const stop = (afterMs: number): void => {
    if (stopping) return;
    stopping = true;
    app.get(Readiness).leave();
    connections.endWithTheirRequest();
    setTimeout(() => process.exit(1), MAX_DELAY_MS).unref();
    setTimeout(() => {
      // a kept-alive connection that falls idle later would hold the server open until its time-out
      setInterval(() => app.getHttpServer().closeIdleConnections(), IDLE_CHECK_MS).unref();
      app.close().then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`The API stopped badly: ${String(error)}\n`);
          process.exit(1);
        },
      );
    }, afterMs);
  };
  process.on('SIGTERM', () => stop(leaveMs));
  process.on('SIGINT', () => stop(0));
  process.on('disconnect', () => stop(0));
}

/** Connections that clients keep for their next request: told to end, each with an answer, not between two. */
class LastingConnections {
  private readonly unanswered = new Set<ServerResponse>();
  private ending = false;

  constructor(app: NestExpressApplication) {
    app.getHttpServer().prependListener('request', (_request: unknown, response: ServerResponse) => {
      if (this.ending) response.shouldKeepAlive = false;
      this.unanswered.add(response);
      response.once('close', () => this.unanswered.delete(response));
    });
  }

  endWithTheirRequest(): void {
    this.ending = true;
    for (const response of this.unanswered) response.shouldKeepAlive = false;
  }
}
