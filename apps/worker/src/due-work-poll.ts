import type { Logger } from 'pino';
import { REPORT_OVERDUE_AFTER_SECONDS, type Sweeper } from '#engine';
import type { Database } from '#entities';
import type { DueWork, TenantStores } from '#tenant-store';
import { RepeatedTask } from './repeated-task';
import { VERIFY_INTERVAL_MINUTES } from './verification/resource-checks';

const INTERVAL_MS = 2000;

/** What the sweeping worker has to do for all, besides the sweep: one statement finds it. The others do not ask. */
export class DueWorkPoll {
  readonly task: RepeatedTask;
  private found: DueWork | null = null;

  constructor(
    database: Database,
    { dueWork }: TenantStores,
    private readonly sweeper: Pick<Sweeper, 'isSweeping'>,
    log: Logger,
  ) {
    const find = async (): Promise<void> => {
      this.found = await dueWork.find(
        database.autocommit,
        REPORT_OVERDUE_AFTER_SECONDS,
        VERIFY_INTERVAL_MINUTES,
      );
    };
    this.task = new RepeatedTask('look for due work', INTERVAL_MS, find, log).onlyWhile(
      () => sweeper.isSweeping,
    );
  }

  /** The task runs only where and when there is such work. */
  gate(task: RepeatedTask, kind: keyof DueWork): RepeatedTask {
    return task.onlyWhile(() => this.sweeper.isSweeping && this.found?.[kind] === true);
  }
}
