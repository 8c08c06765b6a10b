import { Client } from 'pg';

/** Told what arrives. */
export interface NotificationListener {
  told(payload: string): void;
  /** some may have been missed: the connection broke, or is there again */
  gap(): void;
}

const RETRY_DELAY_MS = 1000;
/** A connection that died without a word is noticed by then, and the time its answer takes. */
const PROBE_INTERVAL_MS = 10_000;
const ANSWER_TIMEOUT_MS = 5000;

/** One connection that listens on one of PostgreSQL's channels, for everybody in this process. It comes back by itself. */
export class NotificationFeed {
  private client: Client | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  /**
   * @param channel a plain name
   * @param onLost told why the connection broke
   */
  constructor(
    private readonly url: string,
    private readonly channel: string,
    private readonly listener: NotificationListener,
    private readonly onLost: (error: Error) => void,
  ) {}

  /** Whether every notification arrives now. */
  get isListening(): boolean {
    return this.client !== null;
  }

  /** Returns at once: the connection follows. */
  start(): void {
    void this.connect();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    const { client } = this;
    this.client = null;
    await client?.end();
  }

  private async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.url,
      application_name: 'drawbridge-agents',
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client, new Error('The connection ended')));
    client.on('notification', ({ payload }) => this.listener.told(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${this.channel}`);
    } catch (error) {
      this.onLost(error as Error);
      this.planConnect();
      return this.end(client);
    }
    if (this.closed) return this.end(client);
    this.client = client;
    this.listener.gap();
    this.planProbe(client);
  }

  private lost(client: Client, error: Error): void {
    if (this.client !== client) return;
    this.client = null;
    this.onLost(error);
    void this.end(client);
    this.listener.gap();
    this.planConnect();
  }

  private planConnect(): void {
    this.plan(RETRY_DELAY_MS, () => void this.connect());
  }

  private planProbe(client: Client): void {
    this.plan(PROBE_INTERVAL_MS, () => void this.probe(client));
  }

  private async probe(client: Client): Promise<void> {
    try {
      await client.query('SELECT 1');
      if (this.client === client) this.planProbe(client);
    } catch (error) {
      this.lost(client, error as Error);
    }
  }

  private plan(ms: number, work: () => void): void {
    if (this.closed) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(work, ms).unref();
  }

  /** What a broken connection says when it is let go is of no use: why it broke was told. */
  private async end(client: Client): Promise<void> {
    await client.end().catch(() => undefined);
  }
}
