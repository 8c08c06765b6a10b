import { WriteProbe, type Database } from '#entities';
import type { RepeatedTask } from '../repeated-task';

const ANSWER_TIMEOUT_MS = 2000;
/** A sweep begins every second at the latest; one that waits for a lock gives up after fifteen. */
const SWEPT_WITHIN_MS = 20_000;

/**
 * Whether this worker closes what is due. That takes a database that accepts writes, and the sweep; a lost queue only slows it down, and
 * a cloud that fails is told of by the overdue rules.
 */
export class WorkerReadiness {
  private readonly writes: WriteProbe;

  constructor(
    database: Database,
    private readonly sweep: RepeatedTask,
  ) {
    this.writes = new WriteProbe(database);
  }

  /** @returns why it does not; null: it does */
  async problem(): Promise<string | null> {
    if (!(await this.databaseAcceptsWrites())) return 'the database does not answer, or accepts no writes';
    return this.sweep.sinceLastSuccessMs > SWEPT_WITHIN_MS ? 'the sweep does not come to its end' : null;
  }

  private async databaseAcceptsWrites(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ANSWER_TIMEOUT_MS);
    });
    // a server that refuses is the very thing this is about
    const answer = this.writes.check().then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
