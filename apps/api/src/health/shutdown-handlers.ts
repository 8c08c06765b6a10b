import type { ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { stopOnSignals } from '#connections';
import { Readiness } from './readiness';

const IDLE_CHECK_INTERVAL_MS = 50;

/**
 * Stops the process on a signal. On SIGTERM it first reports not ready and keeps serving requests for `drainMs`, until load
 * balancers stop sending them. Then it closes the server and waits for running requests.
 * @param drainMs the time load balancers need to notice
 */
export function installShutdownHandlers(app: NestExpressApplication, drainMs: number): void {
  const connections = new KeepAliveConnections(app);
  stopOnSignals('API', {
    drainMs,
    begin: () => {
      app.get(Readiness).startDraining();
      connections.closeAfterResponse();
    },
    close: () => {
      // connections that become idle later would keep the server open until their keep-alive timeout
      setInterval(() => app.getHttpServer().closeIdleConnections(), IDLE_CHECK_INTERVAL_MS).unref();
      return app.close();
    },
  });
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
