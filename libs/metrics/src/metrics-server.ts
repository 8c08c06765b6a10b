import { createServer, type Server, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, type Registry } from 'prom-client';

export interface MetricsSource {
  readonly registry: Registry;
  /** why the process cannot do its work now; null: it can. Never rejects */
  readonly problem: () => Promise<string | null>;
}

/**
 * A process's own port for operators and probes, apart from the one clients use: `/metrics` (Prometheus text),
 * `/health` (it is alive), `/health/ready` (503 while it cannot work).
 */
export class MetricsServer {
  private constructor(private readonly server: Server) {}

  /** @param place port 0 takes a free one. @throws Error when the port is taken */
  static async listen(place: { port: number; host: string }, source: MetricsSource): Promise<MetricsServer> {
    collectDefaultMetrics({ register: source.registry });
    const server = createServer((request, response) => {
      answer(request.url ?? '/', response, source).catch((error: unknown) => {
        text(response, 500, error instanceof Error ? error.message : 'failed');
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(place, resolve);
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
  { registry, problem }: MetricsSource,
): Promise<void> {
  const [path] = url.split('?');
  if (path === '/metrics') {
    response.setHeader('Content-Type', registry.contentType);
    response.end(await registry.metrics());
  } else if (path === '/health') {
    text(response, 200, 'UP');
  } else if (path === '/health/ready') {
    const found = await problem();
    text(response, found === null ? 200 : 503, found === null ? 'UP' : `DOWN: ${found}`);
  } else {
    text(response, 404, 'There is /metrics, /health and /health/ready');
  }
}

function text(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
}
