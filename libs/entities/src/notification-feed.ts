import { DatabaseClient } from './database-pool';

export interface NotificationListener {
  notified(payload: string): void;
  /** notifications may have been missed: the connection was lost or restored */
  gap(): void;
}

const RETRY_DELAY_MS = 1000;
/** Detects a dead connection within this interval plus ANSWER_TIMEOUT_MS. */
const PROBE_INTERVAL_MS = 10_000;
const ANSWER_TIMEOUT_MS = 5000;

/** One connection per process that listens on a PostgreSQL channel. Reconnects automatically. */
export class NotificationFeed {
  private client: DatabaseClient | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  /**
   * @param channel an identifier that needs no quotes
   * @param onLost called with the reason when the connection fails
   */
  constructor(
    private readonly url: string,
    private readonly channel: string,
    private readonly listener: NotificationListener,
    private readonly onLost: (error: Error) => void,
  ) {}

  /** Whether notifications are being received. */
  get isListening(): boolean {
    return this.client !== null;
  }

  /** Returns immediately and connects in the background. */
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
    const client = new DatabaseClient({
      connectionString: this.url,
      application_name: 'drawbridge-agents',
      query_timeout: ANSWER_TIMEOUT_MS,
      isImpatient: true,
      keepAlive: true,
    });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client, new Error('The connection ended')));
    client.on('notification', ({ payload }) => this.listener.notified(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${this.channel}`);
    } catch (error) {
      this.onLost(error as Error);
      this.scheduleConnect();
      return this.end(client);
    }
    if (this.closed) return this.end(client);
    this.client = client;
    this.listener.gap();
    this.scheduleProbe(client);
  }

  private lost(client: DatabaseClient, error: Error): void {
    if (this.client !== client) return;
    this.client = null;
    this.onLost(error);
    void this.end(client);
    this.listener.gap();
    this.scheduleConnect();
  }

  private scheduleConnect(): void {
    this.schedule(RETRY_DELAY_MS * (1 + Math.random()), () => void this.connect());
  }

  private scheduleProbe(client: DatabaseClient): void {
    this.schedule(PROBE_INTERVAL_MS, () => void this.probe(client));
  }

  private async probe(client: DatabaseClient): Promise<void> {
    try {
      await client.prepare();
      if (this.client === client) this.scheduleProbe(client);
    } catch (error) {
      this.lost(client, error as Error);
    }
  }

  private schedule(ms: number, work: () => void): void {
    if (this.closed) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(work, ms).unref();
  }

  /** Ignores errors: the reason of a lost connection has been reported. */
  private async end(client: DatabaseClient): Promise<void> {
    await client.end().catch(() => undefined);
  }
}
