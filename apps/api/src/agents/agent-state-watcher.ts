import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AGENT_STATES_CHANNEL } from '#engine-store';
import { NotificationFeed, type NotificationListener } from '#entities';
import { ApiSettings } from '../api.settings';

/** Polling interval while notifications are unavailable. */
const POLL_INTERVAL_MS = 1000;

/**
 * Waits of agents for changes of their states. One database connection of the process listens on behalf of all waiting
 * requests; the requests hold none.
 */
@Injectable()
export class AgentStateWatcher implements NotificationListener, OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('AgentStateWatcher');
  /** of open requests, by host key */
  private readonly waits = new Map<string, Set<Wait>>();
  private readonly feed: NotificationFeed;
  private isStopping = false;

  constructor(settings: ApiSettings) {
    this.feed = new NotificationFeed(settings.DATABASE_URL, AGENT_STATES_CHANNEL, this, (error) =>
      this.logger.warn({
        msg: 'Notifications for agents are unavailable; polling until the database connection is restored',
        err: error,
      }),
    );
  }

  /**
   * Reads the state of a host, again after each change and at the end of the wait, until there is news or the wait is over.
   * A host has one wait: it ends an earlier one, whose client may be gone without a word.
   * @param disconnected ends the wait
   */
  async news<State>(
    hostKey: string,
    waitMs: number,
    disconnected: AbortSignal,
    read: () => Promise<State>,
    isNews: (state: State) => boolean,
  ): Promise<State> {
    // before the first read, so that it misses no change
    const wait = this.begin(hostKey, performance.now() + waitMs);
    const end = (): void => wait.end();
    disconnected.addEventListener('abort', end);
    // a state may be large: none is kept in memory during the wait
    const look = async (): Promise<State | null> => {
      const state = await read();
      return isNews(state) || wait.isOver || disconnected.aborted ? state : null;
    };
    try {
      for (;;) {
        const news = await look();
        if (news !== null) return news;
        this.endEarlier(hostKey, wait);
        await wait.change(this.feed.isListening ? Infinity : POLL_INTERVAL_MS);
      }
    } finally {
      disconnected.removeEventListener('abort', end);
      this.remove(hostKey, wait);
    }
  }

  notified(hostKey: string): void {
    for (const wait of this.waits.get(hostKey) ?? []) wait.notify();
  }

  gap(): void {
    for (const hostKey of this.waits.keys()) this.notified(hostKey);
  }

  onModuleInit(): void {
    this.feed.start();
  }

  /** Ends all waits: the server closes only after the last request is answered. */
  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    for (const ofHost of this.waits.values()) for (const wait of ofHost) wait.end();
    await this.feed.close();
  }

  private begin(hostKey: string, until: number): Wait {
    const wait = new Wait(until);
    if (this.isStopping) wait.end();
    const ofHost = this.waits.get(hostKey);
    if (ofHost) ofHost.add(wait);
    else this.waits.set(hostKey, new Set([wait]));
    return wait;
  }

  /** In the order they began: a slow first read must not end a wait that began during it. */
  private endEarlier(hostKey: string, wait: Wait): void {
    for (const other of this.waits.get(hostKey)!) {
      if (other === wait) return;
      other.end();
    }
  }

  private remove(hostKey: string, wait: Wait): void {
    const ofHost = this.waits.get(hostKey)!;
    ofHost.delete(wait);
    if (ofHost.size === 0) this.waits.delete(hostKey);
  }
}

class Wait {
  private isNotified = false;
  private isEnded = false;
  private wake = (): void => undefined;

  constructor(private readonly until: number) {}

  get isOver(): boolean {
    return this.isEnded || performance.now() >= this.until;
  }

  notify(): void {
    this.isNotified = true;
    this.wake();
  }

  end(): void {
    this.isEnded = true;
    this.notify();
  }

  /** Returns on a change since the wait began or this returned last, at its end, or after this long. */
  async change(mostMs: number): Promise<void> {
    if (!this.isNotified) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(mostMs, this.until - performance.now()));
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.isNotified = false;
  }
}
