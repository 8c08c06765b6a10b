import { WriteProbe, type Database } from '#entities';
import type { RepeatedTask } from '../repeated-task';

const ANSWER_TIMEOUT_MS = 2000;
/** A sweep starts at least once a second; one that waits for a lock times out after 15 s. */
const SWEEP_TIMEOUT_MS = 20_000;

/**
 * Whether this worker can revoke what is due. That needs a database that accepts writes, and the sweep. A lost queue only
 * slows it down, and a failing cloud shows up in the overdue rules.
 */
export class WorkerReadiness {
  private readonly writes: WriteProbe;

  constructor(
    database: Database,
    private readonly sweep: RepeatedTask,
  ) {
    this.writes = new WriteProbe(database);
  }

  /** @returns why the worker is not ready; null: it is ready */
  async problem(): Promise<string | null> {
    if (!(await this.databaseAcceptsWrites())) return 'the database does not answer, or accepts no writes';
    return this.sweep.sinceLastSuccessMs > SWEEP_TIMEOUT_MS ? 'the sweep does not come to its end' : null;
  }

  private async databaseAcceptsWrites(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ANSWER_TIMEOUT_MS);
    });
    // a rejected write counts as not ready
    const answer = this.writes.check().then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answer, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
