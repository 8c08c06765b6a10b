import { REPORT_OVERDUE_AFTER_SECONDS, type Sweeper } from '#engine';
import type { DueWork } from '#tenant-store';
import { RepeatedTask, type TaskParts } from './repeated-task';
import { VERIFY_INTERVAL_MINUTES } from './verification/resource-checks';

const INTERVAL_MS = 2000;

/** What the sweeping worker has to do for all, besides the sweep: one statement finds it. The others do not ask. */
export class DueWorkPoll {
  readonly task: RepeatedTask;
  private found: DueWork | null = null;
  private readonly sweeper: Sweeper;

  constructor({ database, stores, sweeper, log }: TaskParts) {
    this.sweeper = sweeper;
    const find = async (): Promise<void> => {
      this.found = await stores.dueWork.find(
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
