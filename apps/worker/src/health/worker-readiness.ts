import type { Database } from '#entities';
import type { RepeatedTask } from '../repeated-task';

const ANSWER_WITHIN_MS = 2000;
/** A sweep begins every second at the latest; one that waits for a lock gives up after fifteen. */
const SWEPT_WITHIN_MS = 20_000;

/**
 * Whether this worker closes what is due. That takes the database and the sweep; a lost queue only slows it down, and
 * a cloud that fails is told of by the overdue rules.
 */
export class WorkerReadiness {
  constructor(
    private readonly database: Database,
    private readonly sweep: RepeatedTask,
  ) {}

  /** @returns why it does not; null: it does */
  async problem(): Promise<string | null> {
    if (!(await this.databaseAnswers())) return 'the database does not answer';
    return this.sweep.sinceLastSuccessMs > SWEPT_WITHIN_MS ? 'the sweep does not come to its end' : null;
  }

  private async databaseAnswers(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ANSWER_WITHIN_MS);
    });
    // a server that refuses is the very thing this is about
    const answer = this.database.ping().then(
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
