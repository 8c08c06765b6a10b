import { Client, Pool, type ClientConfig, type PoolConfig } from 'pg';
import { type BackoffPolicy, backoffMs } from '#rules';
import { isConnectionAtFault, isUnavailable } from './database-faults';

/** Settings of the session by name. Start-up options would not do: poolers drop them, and `?options=` in the URL replaces them. */
interface Session {
  readonly session?: Readonly<Record<string, string | number>>;
}

export interface DatabasePoolConfig extends PoolConfig, Session {
  /** false: a statement takes as long as it takes, for migrations; default true */
  readonly hasTimeouts?: boolean | undefined;
  /** the pauses after failed attempts to connect, in which connections are refused at once; left out: none */
  readonly connectBackoff?: BackoffPolicy;
}

/**
 * The server ends a statement before this process gives up, which costs the connection; and the transaction of a process that has
 * stopped, before others have waited too long for its locks.
 */
const SERVER_TIMEOUTS = { statement_timeout: 15_000, idle_in_transaction_session_timeout: 5000 };
const QUERY_TIMEOUT_MS = 20_000;
/** A server that does not answer is out of reach. */
const CONNECT_TIMEOUT_MS = 5000;
/** Networks forget connections that are silent for four minutes or more, and drop what is sent on them afterwards. */
const KEEP_ALIVE_AFTER_MS = 60_000;

type Callback = (error: Error | null, result?: unknown) => void;

/** The open connections of this process by server: those of every pool, and those that listen. */
const OPEN = new Map<string, Set<DatabaseClient>>();

/** Spares a starved server attempts to connect, each of which costs it a process and a key derivation. */
class ConnectPauses {
  private failures = 0;
  private until = -Infinity;

  constructor(private readonly policy: BackoffPolicy) {}

  /** @throws Error also during the pause after an attempt that failed */
  async attempt(connect: () => Promise<void>): Promise<void> {
    if (performance.now() < this.until)
      throw new Error('Connection terminated: the last attempt failed, and the next one is not due');
    try {
      await connect();
      this.failures = 0;
    } catch (error) {
      // attempts that failed together count once
      if (performance.now() >= this.until) this.failures += 1;
      const pauseMs = backoffMs(this.policy, this.failures, 0.5 + Math.random() / 2);
      this.until = Math.max(this.until, performance.now() + pauseMs);
      throw error;
    }
  }
}

interface DatabaseClientConfig extends ClientConfig, Session {
  readonly pauses?: ConnectPauses;
  /** true: it waits too short a time for its missing answer to prove that others are dead */
  readonly isImpatient?: boolean;
}

/**
 * A connection to a PostgreSQL that accepts writes. It ends itself when a statement fails by anything but the answer of a
 * healthy, writable server, and drops those of this process to the same server that nothing runs on: they are as likely
 * dead. pg only reports a statement that is not answered in time, and sends the next one after that answer. A pool destroys a
 * connection that has ended, wherever it is released.
 */
export class DatabaseClient extends Client {
  private readonly preparation: string;
  private running = 0;
  private hasFailed = false;
  private readonly pauses: ConnectPauses | undefined;
  private readonly isImpatient: boolean;
  /** those to the same server, with this one while it is open */
  private readonly siblings: Set<DatabaseClient>;

  constructor({ session = {}, pauses, isImpatient = false, ...config }: DatabaseClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    this.pauses = pauses;
    this.isImpatient = isImpatient;
    const server = `${this.host}:${this.port}`;
    this.siblings = OPEN.get(server) ?? new Set();
    OPEN.set(server, this.siblings);
    this.on('end', () => this.siblings.delete(this));
    const settings = Object.entries(session).map(
      ([name, value]) => `set_config('${name}', ${this.escapeLiteral(String(value))}, false)`,
    );
    const writes = `current_setting('transaction_read_only') = 'off' AS writes`;
    this.preparation = `SELECT ${[...settings, writes].join(', ')}`;
    // without a listener the error of an unused connection ends the process; the next statement reports it
    this.on('error', () => undefined);
    this.watchStatements();
  }

  /** @throws Error also when the server accepts no writes */
  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | void {
    const open = (): Promise<void> => this.open(() => super.connect());
    const connected = this.pauses ? this.pauses.attempt(open) : open();
    if (!callback) return connected.then(() => this);
    // outside of the promise, which would take an error that the callback throws for its own
    void connected.then(
      () => process.nextTick(callback, null),
      (error: unknown) => process.nextTick(callback, error),
    );
  }

  private async open(connect: () => Promise<unknown>): Promise<void> {
    try {
      await connect();
    } catch (error) {
      if (isUnavailable(error)) this.tryOne();
      throw error;
    }
    await this.prepare();
    this.siblings.add(this);
  }

  /** The siblings may be dead, or work although the server is starved: one of them shows it, and drops the others if it is dead. */
  private tryOne(): void {
    const silent = [...this.siblings].find(({ isSilent }) => isSilent);
    void silent?.query('SELECT 1').catch(() => undefined);
  }

  /**
   * Applies the session's settings.
   * @throws Error when the connection fails or the server accepts no writes; the connection is then ended
   */
  async prepare(): Promise<void> {
    try {
      const { rows } = await this.query<{ writes: boolean }>(this.preparation);
      if (rows[0]?.writes !== true)
        throw Object.assign(new Error('The database accepts no writes'), { code: '25006' });
    } catch (error) {
      void this.end();
      throw error;
    }
  }

  /** Whether nothing runs on it, so that it may be dead unnoticed. */
  get isSilent(): boolean {
    return !this.hasFailed && this.running === 0 && this.getTransactionStatus() === 'I';
  }

  /** Breaks it: its pool, or who listens on it, lets it go at once. */
  drop(): void {
    this.emit('error', new Error('Connection terminated: another one to the same server failed'));
    this.connection.stream.destroy();
  }

  private watchStatements(): void {
    const send = this.query.bind(this) as (...given: unknown[]) => Promise<unknown>;
    const watched = (...given: unknown[]): unknown => {
      this.running += 1;
      const callback = given.at(-1);
      if (typeof callback === 'function') {
        return send(...given.slice(0, -1), ((error, result) => {
          this.answered(error);
          (callback as Callback)(error, result);
        }) satisfies Callback);
      }
      const answer = send(...given);
      void answer.then(
        () => this.answered(null),
        (error: unknown) => this.answered(error),
      );
      return answer;
    };
    this.query = watched as Client['query'];
  }

  private answered(error: unknown): void {
    this.running -= 1;
    if (!error || this.hasFailed || !isConnectionAtFault(error)) return;
    this.hasFailed = true;
    void this.end();
    if (!isUnavailable(error)) return;
    if (this.isImpatient) return this.tryOne();
    for (const sibling of this.siblings) if (sibling.isSilent) sibling.drop();
  }
}

/** A pool of such connections. */
export class DatabasePool extends Pool {
  constructor({ hasTimeouts = true, session, connectBackoff, ...config }: DatabasePoolConfig) {
    super({
      ...(hasTimeouts ? { query_timeout: QUERY_TIMEOUT_MS } : {}),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      ...config,
      Client: DatabaseClient as unknown as new () => Client,
      session: { ...(hasTimeouts ? SERVER_TIMEOUTS : {}), ...session },
      ...(connectBackoff && { pauses: new ConnectPauses(connectBackoff) }),
    } as PoolConfig);
  }
}
