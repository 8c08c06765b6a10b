import { Agent, request } from 'node:http';

export interface Failure {
  readonly what: string;
  readonly why: string;
}

interface Asked {
  readonly status: number;
  readonly body: string;
}

/** Most connections of the client, each used in turn. */
const CONNECTIONS = 8;
const STOP_AFTER_MS = 1500;
const SESSION_INTERVAL = 25;

/**
 * Clients of the API: so many requests a second, on connections that are kept, none repeated. One in 25 starts a
 * session, one stops it again, the others read.
 */
export class SteadyTraffic {
  readonly failures: Failure[] = [];
  requests = 0;
  private sessions = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  private readonly underWay = new Set<Promise<unknown>>();
  private timer: NodeJS.Timeout | null = null;

  /** @param newSession the body of a start, for the n-th session */
  constructor(
    private readonly port: number,
    private readonly token: string,
    private readonly newSession: (n: number) => object,
  ) {}

  begin(perSecond: number): void {
    let turn = 0;
    this.timer = setInterval(() => {
      turn += 1;
      const place = turn % SESSION_INTERVAL;
      if (place === 0) this.track(this.session());
      // its turn is taken by the stop that follows a start
      else if (place !== 1) this.track(this.ask('GET', '/sessions?size=1'));
    }, 1000 / perSecond);
  }

  /** No new request; waits for those under way. */
  async end(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    while (this.underWay.size > 0) await Promise.all(this.underWay);
    this.agent.destroy();
  }

  private track(work: Promise<unknown>): void {
    this.underWay.add(work);
    void work.finally(() => this.underWay.delete(work));
  }

  private async session(): Promise<void> {
    this.sessions += 1;
    const answer = await this.ask('POST', '/sessions', this.newSession(this.sessions));
    if (answer?.status !== 200) return;
    const { id } = JSON.parse(answer.body) as { id: string };
    await new Promise((resolve) => setTimeout(resolve, STOP_AFTER_MS));
    await this.ask('POST', `/sessions/${id}/stop`);
  }

  private async ask(method: string, path: string, body?: object): Promise<Asked | null> {
    this.requests += 1;
    try {
      const answer = await this.send(method, path, body);
      if (answer.status >= 400)
        this.failures.push({ what: `${method} ${path}`, why: `${answer.status} ${answer.body}` });
      return answer;
    } catch (error) {
      this.failures.push({ what: `${method} ${path}`, why: String(error) });
      return null;
    }
  }

  private send(method: string, path: string, body?: object): Promise<Asked> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          agent: this.agent,
          method,
          path: `/api/v1${path}`,
          headers: {
            Authorization: `Bearer ${this.token}`,
            ...(body ? { 'Content-Type': 'application/json' } : {}),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject);
          response.once('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        },
      );
      sent.once('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }
}
