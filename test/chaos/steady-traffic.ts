import { Agent, request } from 'node:http';
import type { Organization } from '../builders/accounts/organization';

export interface Failure {
  readonly what: string;
  readonly why: string;
}

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** A request, once it was answered or failed. */
export interface Sent {
  readonly what: string;
  /** ms since 1970 */
  readonly at: number;
  readonly tookMs: number;
  /** null: it failed */
  readonly answer: HttpAnswer | null;
}

/** Maximum number of connections, used in turn. */
const CONNECTIONS = 8;

export interface TrafficOptions {
  /** of so many requests one starts a session, one stops it, the others read; default 25 */
  readonly sessionInterval?: number;
  /** how long a session lasts; default 1500 */
  readonly stopAfterMs?: number;
  readonly onSent?: (sent: Sent) => void;
}

/** Sends requests of an organization's admin at a constant rate, on keep-alive connections, without retries. */
export class SteadyTraffic {
  readonly failures: Failure[] = [];
  requests = 0;
  private sessions = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  private readonly pending = new Set<Promise<unknown>>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly port: number,
    private readonly org: Organization,
    private readonly options: TrafficOptions = {},
  ) {}

  begin(perSecond: number): void {
    let turn = 0;
    this.timer = setInterval(() => {
      turn += 1;
      const position = turn % (this.options.sessionInterval ?? 25);
      if (position === 0) this.track(this.session());
      // this position belongs to the stop
      else if (position !== 1) this.track(this.requestAndRecord('GET', '/sessions?size=1'));
    }, 1000 / perSecond);
  }

  /** Sends no new request; waits for the pending ones. */
  async end(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    while (this.pending.size > 0) await Promise.all(this.pending);
    this.agent.destroy();
  }

  private track(work: Promise<unknown>): void {
    this.pending.add(work);
    void work.finally(() => this.pending.delete(work));
  }

  private async session(): Promise<void> {
    this.sessions += 1;
    const answer = await this.requestAndRecord('POST', '/sessions', this.newSession(this.sessions));
    if (answer?.status !== 200) return;
    const { id } = JSON.parse(answer.body) as { id: string };
    await new Promise((resolve) => setTimeout(resolve, this.options.stopAfterMs ?? 1500));
    await this.requestAndRecord('POST', `/sessions/${id}/stop`);
  }

  /** Of an address of its own, on the resources in turn. */
  private newSession(n: number): object {
    const { resourceIds } = this.org;
    return {
      ipv4Address: `5.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
      resourceIds: [resourceIds[n % resourceIds.length]],
    };
  }

  private async requestAndRecord(method: string, path: string, body?: object): Promise<HttpAnswer | null> {
    this.requests += 1;
    const what = `${method} ${path}`;
    const at = Date.now();
    let answer: HttpAnswer | null = null;
    try {
      answer = await this.send(method, path, body);
      if (answer.status >= 400) this.failures.push({ what, why: `${answer.status} ${answer.body}` });
    } catch (error) {
      this.failures.push({ what, why: String(error) });
    }
    this.options.onSent?.({ what, at, tookMs: Date.now() - at, answer });
    return answer;
  }

  private send(method: string, path: string, body?: object): Promise<HttpAnswer> {
    const { identity } = this.org.admin;
    if (!identity || !('token' in identity)) throw new Error('An administrator has a token');
    const { token } = identity;
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          agent: this.agent,
          method,
          path: `/api/v1${path}`,
          headers: {
            Authorization: `Bearer ${token}`,
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
