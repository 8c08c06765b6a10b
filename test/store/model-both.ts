import type { Database, Tx } from '#entities';
import { Tables } from '../simulation/model/tables';

const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  targets: ['lease_until', 'last_write_at', 'reconcile_due_at', 'in_flight_until', 'compared_at'],
  rules: [
    'due_at',
    'in_flight_until',
    'lost_at',
    'target_missing_since',
    'unwanted_since',
    'overdue_at',
    'possible_since',
    'present_since',
    'observed_at',
    'removal_sent_at',
  ],
  rule_holders: ['released_at'],
  unmanaged_rules: ['possible_since', 'present_since'],
  sweeper_lease: ['lease_until', 'others_seen_at'],
  sessions: ['started_at', 'expires_at', 'lease_until', 'ended_at'],
  write_budgets: ['full_at'],
  resource_ips: ['created_at', 'pending_since', 'applied_at', 'released_at', 'removed_at'],
};

/** One history on the model and the database: the model's clock is the database's, shifted in every transaction. */
export class Both {
  now = 0;
  private shiftedTo: { now: number; database: number } | null = null;
  readonly tables = new Tables(() => this.now);
  /** the database's ids, by the model's */
  readonly ids = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /** A time that the last transaction read, on this history's clock, ms. */
  moment(read: string): number {
    const { now, database } = this.shiftedTo!;
    return Date.parse(read) - database + now;
  }

  /** Runs it at this history's current time. */
  async real<Answer>(work: (tx: Tx) => Promise<Answer>): Promise<Answer> {
    let reached = this.shiftedTo;
    const answer = await this.database.transaction(async (tx) => {
      const [clock] = await tx.query<{ ms: number }[]>(
        'SELECT extract(epoch FROM now())::float8 * 1000 AS ms',
      );
      const passed = reached ? clock!.ms - reached.database : 0;
      const asked = reached ? this.now - reached.now : 0;
      for (const [table, columns] of Object.entries(MOMENTS)) {
        const moved = columns.map((column) => `${column} = ${column} + make_interval(secs => $1)`).join(', ');
        await tx.query(`UPDATE ${table} SET ${moved}`, [(passed - asked) / 1000]);
      }
      reached = { now: this.now, database: clock!.ms };
      return work(tx);
    });
    this.shiftedTo = reached;
    return answer;
  }
}
