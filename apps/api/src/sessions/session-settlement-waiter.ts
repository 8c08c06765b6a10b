import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '#entities';
import { unsettledSessions } from '#tenant-store';

const POLL_INTERVAL_MS = 200;

/** Long polls on sessions. One query per interval covers all waiting requests; without waiting requests there is none. */
@Injectable()
export class SessionSettlementWaiter implements OnModuleDestroy {
  private readonly logger = new Logger('SessionSettlementWaiter');
  /** by session id */
  private readonly waiters = new Map<string, Set<() => void>>();
  private polling = false;
  private stopped = false;

  constructor(private readonly database: Database) {}

  /**
   * Returns as soon as the session is neither PENDING nor EXPIRING, the timeout expires, the client disconnects, or the
   * process stops.
   */
  async waitUntilSettled(
    sessionId: string,
    timeoutSeconds: number,
    disconnected: AbortSignal,
  ): Promise<void> {
    if (this.stopped || disconnected.aborted) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        disconnected.removeEventListener('abort', finish);
        this.remove(sessionId, finish);
        resolve();
      };
      const timer = setTimeout(finish, timeoutSeconds * 1000);
      disconnected.addEventListener('abort', finish);
      this.add(sessionId, finish);
    });
  }

  /** Ends all waits: the server closes only after the last request is answered. */
  onModuleDestroy(): void {
    this.stopped = true;
    for (const sessionId of this.waiters.keys()) this.finishAll(sessionId);
  }

  private add(sessionId: string, finish: () => void): void {
    const existing = this.waiters.get(sessionId);
    if (existing) existing.add(finish);
    else this.waiters.set(sessionId, new Set([finish]));
    if (this.polling) return;
    this.polling = true;
    this.schedulePoll();
  }

  private remove(sessionId: string, finish: () => void): void {
    const existing = this.waiters.get(sessionId);
    existing?.delete(finish);
    if (existing?.size === 0) this.waiters.delete(sessionId);
  }

  private finishAll(sessionId: string): void {
    for (const finish of this.waiters.get(sessionId) ?? []) finish();
  }

  private schedulePoll(): void {
    setTimeout(() => void this.poll(), POLL_INTERVAL_MS).unref();
  }

  private async poll(): Promise<void> {
    const sessionIds = [...this.waiters.keys()];
    if (sessionIds.length === 0) {
      this.polling = false;
      return;
    }
    try {
      const unsettled = new Set(await unsettledSessions(this.database.autocommit, sessionIds));
      for (const sessionId of sessionIds) if (!unsettled.has(sessionId)) this.finishAll(sessionId);
    } catch (error) {
      this.logger.warn({ msg: 'Cannot read the sessions that requests wait for; retrying', err: error });
    }
    this.schedulePoll();
  }
}
