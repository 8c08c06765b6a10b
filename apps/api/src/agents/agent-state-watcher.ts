import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AGENT_STATES_CHANNEL } from '#engine-store';
import { NotificationFeed, type NotificationListener } from '#entities';
import { ApiSettings } from '../api.settings';

/** Polling interval while notifications are unavailable. */
const POLL_INTERVAL_MS = 1000;

/** Detects changes of one host's state. Create it before reading the state, so that no change is missed. */
export interface StateWatch {
  /** a change was notified since creation or the last return of `changed`, or may have been missed */
  readonly isNotified: boolean;
  /** Returns on a change since creation or the last return, when `disconnected` aborts, or after the timeout. */
  changed(timeoutMs: number, disconnected: AbortSignal): Promise<void>;
  end(): void;
}

/**
 * Long polls of agents for state changes. One database connection of the process listens on behalf of all waiting
 * requests; the requests hold none.
 */
@Injectable()
export class AgentStateWatcher implements NotificationListener, OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('AgentStateWatcher');
  private readonly watches = new Map<string, Set<Watch>>();
  private readonly feed: NotificationFeed;
  private stopped = false;

  constructor(settings: ApiSettings) {
    this.feed = new NotificationFeed(settings.DATABASE_URL, AGENT_STATES_CHANNEL, this, (error) =>
      this.logger.warn({
        msg: 'Notifications for agents are unavailable; polling until the database connection is restored',
        err: error,
      }),
    );
  }

  /** The process is stopping: requests must be answered now. */
  get isStopping(): boolean {
    return this.stopped;
  }

  /** Every change is notified. Otherwise waits end after `POLL_INTERVAL_MS`. */
  get isListening(): boolean {
    return this.feed.isListening && !this.stopped;
  }

  watch(hostKey: string): StateWatch {
    const watch = new Watch();
    const existing = this.watches.get(hostKey);
    if (existing) existing.add(watch);
    else this.watches.set(hostKey, new Set([watch]));
    return {
      get isNotified() {
        return watch.isNotified;
      },
      changed: (timeoutMs, disconnected) => this.changed(watch, timeoutMs, disconnected),
      end: () => this.remove(hostKey, watch),
    };
  }

  notified(hostKey: string): void {
    for (const watch of this.watches.get(hostKey) ?? []) watch.notify();
  }

  gap(): void {
    for (const hostKey of this.watches.keys()) this.notified(hostKey);
  }

  onModuleInit(): void {
    this.feed.start();
  }

  /** Ends all waits: the server closes only after the last request is answered. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    this.gap();
    await this.feed.close();
  }

  private changed(watch: Watch, timeoutMs: number, disconnected: AbortSignal): Promise<void> {
    if (this.stopped) return Promise.resolve();
    const waitMs = this.feed.isListening ? timeoutMs : Math.min(timeoutMs, POLL_INTERVAL_MS);
    return watch.wait(waitMs, disconnected);
  }

  private remove(hostKey: string, watch: Watch): void {
    const existing = this.watches.get(hostKey);
    existing?.delete(watch);
    if (existing?.size === 0) this.watches.delete(hostKey);
  }
}

const NOBODY_WAITS = (): void => undefined;

class Watch {
  /** a notification arrived since the last `wait` returned */
  isNotified = false;
  private finish = NOBODY_WAITS;

  notify(): void {
    this.isNotified = true;
    this.finish();
  }

  async wait(timeoutMs: number, disconnected: AbortSignal): Promise<void> {
    if (!this.isNotified && !disconnected.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => finish(), timeoutMs);
        const finish = (): void => {
          clearTimeout(timer);
          disconnected.removeEventListener('abort', finish);
          // a watch that outlives the request must not keep it in memory
          this.finish = NOBODY_WAITS;
          resolve();
        };
        this.finish = finish;
        disconnected.addEventListener('abort', finish);
      });
    }
    this.isNotified = false;
  }
}
