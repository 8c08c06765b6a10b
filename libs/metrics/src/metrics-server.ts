import { createServer, type Server, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, type Registry } from 'prom-client';

/** What a process can do now. */
export interface Readiness {
  /** DEGRADED: it works, with the problem */
  readonly status: 'UP' | 'DEGRADED' | 'DOWN';
  /** null while it is UP */
  readonly problem: string | null;
}

export interface MetricsSource {
  readonly registry: Registry;
  readonly readiness: () => Promise<Readiness>;
}

/**
 * A process's port for metrics and probes, separate from the clients' port: `/metrics` (Prometheus text), `/health`
 * (alive), `/health/ready` (503 while DOWN).
 */
export class MetricsServer {
  private constructor(private readonly server: Server) {}

  /** @param endpoint port 0 selects a free one. @throws Error when the port is taken */
  static async listen(
    endpoint: { port: number; host: string },
    source: MetricsSource,
  ): Promise<MetricsServer> {
    collectDefaultMetrics({ register: source.registry });
    const server = createServer((request, response) => {
      answer(request.url ?? '/', response, source).catch((error: unknown) => {
        text(response, 500, error instanceof Error ? error.message : 'failed');
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(endpoint, resolve);
    });
    return new MetricsServer(server);
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

async function answer(
  url: string,
  response: ServerResponse,
  { registry, readiness }: MetricsSource,
): Promise<void> {
  const [path] = url.split('?');
  if (path === '/metrics') {
    response.setHeader('Content-Type', registry.contentType);
    response.end(await registry.metrics());
  } else if (path === '/health') {
    text(response, 200, 'UP');
  } else if (path === '/health/ready') {
    const { status, problem } = await readiness();
    text(response, status === 'DOWN' ? 503 : 200, problem === null ? status : `${status}: ${problem}`);
  } else {
    text(response, 404, 'There is /metrics, /health and /health/ready');
  }
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${body}\n`);
}
