import { Injectable, type INestApplication, type OnApplicationShutdown } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { DeploymentHealth } from '#connections';
import { Histogram, MetricsServer, Registry } from '#metrics';
import type { Readiness } from './readiness';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Serves request durations by route and status, the deployment's backlog, and the probes, on a separate port. */
@Injectable()
export class RequestMetrics implements OnApplicationShutdown {
  private readonly registry = new Registry();
  private readonly seconds = new Histogram({
    name: 'drawbridge_http_request_seconds',
    help: 'Time from the arrival of a request until its response was sent',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  private server: MetricsServer | null = null;

  constructor(private readonly health: DeploymentHealth) {}

  /** Measures all requests. Call it before other middleware is added. */
  measure(app: INestApplication): void {
    app.use((request: Request, response: Response, next: NextFunction) => {
      const done = this.seconds.startTimer({ method: request.method });
      response.on('finish', () => done({ route: routeOf(request), status: response.statusCode }));
      next();
    });
  }

  /** @throws Error when the port is taken */
  async serve(port: number, host: string, readiness: Readiness): Promise<void> {
    this.health.watch(this.registry, 'api');
    this.server = await MetricsServer.listen(
      { port, host },
      { registry: this.registry, readiness: () => readiness.summary() },
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}

/** The route pattern, not the path: ids would create one time series each. */
function routeOf({ route }: Request): string {
  const pattern: unknown = (route as { path?: unknown } | undefined)?.path;
  return typeof pattern === 'string' ? pattern : 'none';
}
