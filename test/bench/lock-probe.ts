import { Client } from 'pg';
import type { Drawbridge } from '../harness/product/drawbridge';

/** Milliseconds. */
export interface Longest {
  /** for a lock that another transaction held or requested, as the server reports it */
  readonly waits: number;
  readonly writes: number;
  readonly reads: number;
}

const APPLICATION = 'lock-probe';

/** Writes and reads the audit trail all the time, as the API does, and watches how long it waits for locks. */
export class LockProbe {
  private constructor(
    private readonly clients: readonly [writer: Client, reader: Client, watcher: Client],
    private readonly organizationId: string,
  ) {}

  static async start(drawbridge: Drawbridge, organizationId: string): Promise<LockProbe> {
    const connect = async (application_name: string): Promise<Client> => {
      const client = new Client({ connectionString: drawbridge.ownerUrl, application_name });
      await client.connect();
      return client;
    };
    const clients = [
      await connect(APPLICATION),
      await connect(APPLICATION),
      await connect('lock-watch'),
    ] as const;
    return new LockProbe([...clients], organizationId);
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.end()));
  }

  /** @returns the longest of each while `work` ran */
  async beside(work: () => Promise<unknown>): Promise<Longest> {
    const [writer, reader, watcher] = this.clients;
    const over = new AbortController();
    const repeat = async (one: () => Promise<number>): Promise<number> => {
      let longest = 0;
      while (!over.signal.aborted) longest = Math.max(longest, await one());
      return longest;
    };
    const timed = (run: () => Promise<unknown>) => async (): Promise<number> => {
      const began = performance.now();
      await run();
      return performance.now() - began;
    };
    const writes = repeat(
      timed(() =>
        writer.query(
          `BEGIN; INSERT INTO audit_records (organization_id, event_type, actor_type)
             VALUES ('${this.organizationId}', 'ROLE_UPDATED', 'SYSTEM'); ROLLBACK`,
        ),
      ),
    );
    const reads = repeat(
      timed(() =>
        reader.query(
          `SELECT count(*) FROM (SELECT FROM audit_records WHERE organization_id = '${this.organizationId}'
             ORDER BY timestamp DESC LIMIT 20) page; SELECT FROM sessions LIMIT 1`,
        ),
      ),
    );
    const waits = repeat(async () => {
      const { rows } = await watcher.query<{ ms: number }>(
        `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart) * 1000), 0)::float8 AS ms
         FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.application_name = '${APPLICATION}'`,
      );
      return rows[0]!.ms;
    });
    try {
      await work();
    } finally {
      over.abort();
    }
    return { waits: await waits, writes: await writes, reads: await reads };
  }
}
