import { Logger, type OnModuleDestroy, Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { selectUnsettled, selectUndecided } from '#tenant-store';

const POLL_INTERVAL_MS = 200;

/** Long polls. One query per interval covers all waiting requests; without waiting requests there is none. */
abstract class SettlementWaiter implements OnModuleDestroy {
  private readonly logger = new Logger('SettlementWaiter');
  /** by id */
  private readonly waiters = new Map<string, Set<() => void>>();
  private polling = false;
  private stopped = false;

  /** @param unsettled of these ids, those that are still waited for */
  protected constructor(private readonly unsettled: (ids: readonly string[]) => Promise<string[]>) {}

  /**
   * Returns as soon as it is settled, the timeout expires, the client disconnects, or the process stops.
   */
  async waitUntilSettled(id: string, timeoutSeconds: number, disconnected: AbortSignal): Promise<void> {
    if (this.stopped || disconnected.aborted) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        disconnected.removeEventListener('abort', finish);
        this.remove(id, finish);
        resolve();
      };
      const timer = setTimeout(finish, timeoutSeconds * 1000);
      disconnected.addEventListener('abort', finish);
      this.add(id, finish);
    });
  }

  /** Ends all waits: the server closes only after the last request is answered. */
  onModuleDestroy(): void {
    this.stopped = true;
    for (const id of this.waiters.keys()) this.finishAll(id);
  }

  private add(id: string, finish: () => void): void {
    const existing = this.waiters.get(id);
    if (existing) existing.add(finish);
    else this.waiters.set(id, new Set([finish]));
    if (this.polling) return;
    this.polling = true;
    this.schedulePoll();
  }

  private remove(id: string, finish: () => void): void {
    const existing = this.waiters.get(id);
    existing?.delete(finish);
    if (existing?.size === 0) this.waiters.delete(id);
  }

  private finishAll(id: string): void {
    for (const finish of this.waiters.get(id) ?? []) finish();
  }

  private schedulePoll(): void {
    setTimeout(() => void this.poll(), POLL_INTERVAL_MS).unref();
  }

  private async poll(): Promise<void> {
    const ids = [...this.waiters.keys()];
    if (ids.length === 0) {
      this.polling = false;
      return;
    }
    try {
      const unsettled = new Set(await this.unsettled(ids));
      for (const id of ids) if (!unsettled.has(id)) this.finishAll(id);
    } catch (error) {
      this.logger.warn({ msg: 'Cannot read what requests wait for; retrying', err: error });
    }
    this.schedulePoll();
  }
}

/** Long polls on sessions that are neither open nor closed yet. */
@Injectable()
export class SessionSettlementWaiter extends SettlementWaiter {
  constructor(database: Database) {
    super((ids) => selectUnsettled(database.autocommit, ids));
  }
}

/** Long polls on access requests that wait for a decision. */
@Injectable()
export class AccessRequestWaiter extends SettlementWaiter {
  constructor(database: Database) {
    super((ids) => selectUndecided(database.autocommit, ids));
  }
}
