import type { Transactions } from './database';

const MIN_INTERVAL_MS = 1000;

/**
 * Checks that the database accepts writes, by writing: a standby and a read-only database answer every SELECT. Writes at
 * most once a second.
 */
export class WriteProbe {
  private last: Promise<void> | null = null;
  private lastAt = 0;

  constructor(private readonly database: Pick<Transactions, 'autocommit'>) {}

  /** @throws Error when the database does not answer, or does not accept writes */
  check(): Promise<void> {
    const now = performance.now();
    if (this.last === null || now - this.lastAt >= MIN_INTERVAL_MS) {
      this.last = this.write();
      this.lastAt = now;
    }
    return this.last;
  }

  private async write(): Promise<void> {
    await this.database.autocommit.query(
      `INSERT INTO write_probe (id, written_at) VALUES (1, now())
       ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at`,
    );
  }
}
