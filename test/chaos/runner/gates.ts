import { Client } from 'pg';
import { until } from '../../harness/until';

/** Where a transaction can be held: before its commit. */
export type Point = 'session-inserted' | 'session-ended' | 'intent' | 'applied' | 'removed';

/** Key of the advisory lock; used by gates only. */
const GATE = 466_002;

const trigger = (point: Point, event: string, table: string, when: string): string => `
  CREATE CONSTRAINT TRIGGER chaos_gate_${point.replace('-', '_')} AFTER ${event} ON ${table}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW ${when && `WHEN (${when})`} EXECUTE FUNCTION chaos_gate('${point}');`;

/** Deferred triggers: they fire at the commit, after all statements of the transaction. */
const INSTALL = `
  CREATE TABLE chaos_gates (point text PRIMARY KEY);
  CREATE FUNCTION chaos_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $gate$
  BEGIN
    IF EXISTS (SELECT FROM public.chaos_gates WHERE point = TG_ARGV[0]) THEN
      PERFORM pg_advisory_xact_lock_shared(${GATE});
    END IF;
    RETURN NULL;
  END $gate$;
  ${trigger('session-inserted', 'INSERT', 'sessions', '')}
  ${trigger('session-ended', 'UPDATE', 'sessions', `NEW.status = 'EXPIRING' AND OLD.status <> NEW.status`)}
  ${trigger('intent', 'UPDATE', 'rules', `NEW.state = 'unknown' AND OLD.state = 'absent'`)}
  ${trigger('applied', 'UPDATE', 'resource_ips', `NEW.status = 'APPLIED' AND OLD.status <> NEW.status`)}
  ${trigger('removed', 'UPDATE', 'resource_ips', `NEW.status = 'REMOVED' AND OLD.status <> NEW.status`)}`;

const CAUGHT = `
  SELECT a.pid, a.client_port AS "clientPort" FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.objid = ${GATE} AND NOT l.granted LIMIT 1`;

/** A transaction that is held before its commit. */
export interface Caught {
  /** client port of its connection, as the server sees it */
  readonly clientPort: number;
  /** Lets it commit. Resolves after the commit. */
  pass(): Promise<void>;
  /** Terminates its connection: it rolls back. */
  abort(): Promise<void>;
}

/** Holds transactions of the product before their commit, without a hook in the product. */
export class Gates {
  constructor(private readonly databaseUrl: string) {}

  install(): Promise<void> {
    return this.connected(async (client) => void (await client.query(INSTALL)));
  }

  /**
   * Waits for a transaction at the point and holds it. Other transactions at the point wait meanwhile.
   * @param decide must call pass() or abort()
   */
  at<T>(point: Point, withinMs: number, decide: (caught: Caught) => Promise<T>): Promise<T> {
    return this.connected(async (client) => {
      await client.query('SELECT pg_advisory_lock($1)', [GATE]);
      try {
        await client.query('INSERT INTO chaos_gates VALUES ($1) ON CONFLICT DO NOTHING', [point]);
        const { pid, clientPort } = await until(
          `a transaction comes to ${point}`,
          async () => (await client.query<{ pid: number; clientPort: number }>(CAUGHT)).rows[0],
          withinMs,
        );
        await client.query('DELETE FROM chaos_gates');
        return await decide({
          clientPort,
          pass: async () => {
            await client.query('SELECT pg_advisory_unlock($1)', [GATE]);
            await this.isOver(client, pid);
          },
          abort: async () => {
            await client.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
          },
        });
      } finally {
        await client.query('DELETE FROM chaos_gates');
      }
    });
  }

  /** Waits until the connection is idle or closed. */
  private isOver(client: Client, pid: number): Promise<unknown> {
    return until(`the transaction of ${pid} is over`, async () => {
      const { rows } = await client.query<{ state: string }>(
        'SELECT state FROM pg_stat_activity WHERE pid = $1',
        [pid],
      );
      return rows[0]?.state !== 'active';
    });
  }

  private async connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: this.databaseUrl, application_name: 'chaos-gates' });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
}
