import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '#entities';
import { movingSessions } from '#tenant-store';

const INTERVAL_MS = 200;

/**
 * Requests that wait for a session to change. One query a tick asks for all of them together, and none while nobody
 * waits.
 */
@Injectable()
export class SessionWaits implements OnModuleDestroy {
  private readonly logger = new Logger('SessionWaits');
  private readonly waiting = new Map<string, Set<() => void>>();
  private looking = false;
  private stopped = false;

  constructor(private readonly database: Database) {}

  /**
   * Returns when the session is neither PENDING nor EXPIRING, after so many seconds, when the caller is gone, or when
   * the process stops: at once, whichever comes first.
   */
  async settled(sessionId: string, seconds: number, gone: AbortSignal): Promise<void> {
    if (this.stopped || gone.aborted) return;
    await new Promise<void>((resolve) => {
      const letGo = (): void => {
        clearTimeout(timer);
        gone.removeEventListener('abort', letGo);
        this.remove(sessionId, letGo);
        resolve();
      };
      const timer = setTimeout(letGo, seconds * 1000);
      gone.addEventListener('abort', letGo);
      this.add(sessionId, letGo);
    });
  }

  /** The server closes when its last request is answered: nobody waits any longer. */
  onModuleDestroy(): void {
    this.stopped = true;
    for (const sessionId of this.waiting.keys()) this.release(sessionId);
  }

  private add(sessionId: string, letGo: () => void): void {
    const known = this.waiting.get(sessionId);
    if (known) known.add(letGo);
    else this.waiting.set(sessionId, new Set([letGo]));
    if (this.looking) return;
    this.looking = true;
    this.lookLater();
  }

  private remove(sessionId: string, letGo: () => void): void {
    const known = this.waiting.get(sessionId);
    known?.delete(letGo);
    if (known?.size === 0) this.waiting.delete(sessionId);
  }

  private release(sessionId: string): void {
    for (const letGo of this.waiting.get(sessionId) ?? []) letGo();
  }

  private lookLater(): void {
    setTimeout(() => void this.look(), INTERVAL_MS).unref();
  }

  private async look(): Promise<void> {
    const asked = [...this.waiting.keys()];
    if (asked.length === 0) {
      this.looking = false;
      return;
    }
    try {
      const moving = new Set(await movingSessions(this.database.autocommit, asked));
      for (const sessionId of asked) if (!moving.has(sessionId)) this.release(sessionId);
    } catch (error) {
      this.logger.warn({ msg: 'Waiting sessions could not be looked at; the next look follows', err: error });
    }
    this.lookLater();
  }
}
