import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { joinSockets } from './join-sockets';
import { LoopbackPort } from './loopback-port';

const POLL_INTERVAL_MS = 250;
const READY_PATH = '/api/v1/health/ready';

interface Backend {
  readonly port: number;
  ready: boolean;
}

/**
 * A load balancer for several API processes: forwards each connection to the next one that reports ready, and to
 * another one when the connection is refused. It never repeats a request.
 */
export class LoadBalancer extends LoopbackPort {
  private readonly backends = new Map<number, Backend>();
  private turn = 0;
  private looking: NodeJS.Timeout | null = null;

  private constructor() {
    super(createServer({ pauseOnConnect: true }));
    this.server.on('connection', (client) => this.serve(client));
  }

  static start(ports: readonly number[]): Promise<LoadBalancer> {
    const balancer = new LoadBalancer();
    for (const port of ports) balancer.add(port);
    balancer.look();
    return balancer.listen();
  }

  /** Adds a process that is ready. */
  add(port: number): void {
    this.backends.set(port, { port, ready: true });
  }

  /** Removes a process that has exited. */
  remove(port: number): void {
    this.backends.delete(port);
  }

  override stop(): Promise<void> {
    if (this.looking) clearTimeout(this.looking);
    this.backends.clear();
    return super.stop();
  }

  private look(): void {
    for (const backend of this.backends.values()) {
      const asked = request({ port: backend.port, host: '127.0.0.1', path: READY_PATH, agent: false });
      asked.on('response', (response) => {
        backend.ready = response.statusCode === 200;
        response.resume();
      });
      asked.on('error', () => (backend.ready = false));
      asked.end();
    }
    this.looking = setTimeout(() => this.look(), POLL_INTERVAL_MS);
  }

  private serve(client: Socket): void {
    this.turn += 1;
    const all = [...this.backends.values()];
    const inTurn = all.map((_, index) => all[(this.turn + index) % all.length]!);
    this.carry(client, [...inTurn.filter(({ ready }) => ready), ...inTurn.filter(({ ready }) => !ready)]);
  }

  private carry(client: Socket, [backend, ...others]: readonly Backend[]): void {
    if (!backend) {
      client.destroy();
      return;
    }
    const server = connect(backend.port, '127.0.0.1');
    const refused = (): void => {
      backend.ready = false;
      this.carry(client, others);
    };
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      joinSockets(client, server);
    });
  }
}
