import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AGENT_STATES_CHANNEL } from '#engine-store';
import { NotificationFeed, type NotificationListener } from '#entities';
import { ApiSettings } from '../api.settings';

/** While nobody can tell of changes, they are looked for. */
const POLL_INTERVAL_MS = 1000;

/** Somebody who waits for a change, from the moment before what is there now is read. */
export interface StateWatch {
  /** Returns on a change since the watch began or this last returned, when `gone` aborts, or after so many ms. */
  changed(withinMs: number, gone: AbortSignal): Promise<void>;
  end(): void;
}

/**
 * Agents that wait for their state to change. One database connection of this process listens for all of them; who waits
 * holds none.
 */
@Injectable()
export class AgentWaits implements NotificationListener, OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('AgentWaits');
  private readonly watches = new Map<string, Set<Watch>>();
  private readonly feed: NotificationFeed;
  private stopped = false;

  constructor(settings: ApiSettings) {
    this.feed = new NotificationFeed(settings.DATABASE_URL, AGENT_STATES_CHANNEL, this, (error) =>
      this.logger.warn({
        msg: 'Changes for agents are looked for until the database tells again',
        err: error,
      }),
    );
  }

  /** The process stops: nobody is to wait any longer. */
  get isStopping(): boolean {
    return this.stopped;
  }

  watch(hostKey: string): StateWatch {
    const watch = new Watch();
    const known = this.watches.get(hostKey);
    if (known) known.add(watch);
    else this.watches.set(hostKey, new Set([watch]));
    return {
      changed: (withinMs, gone) => this.changed(watch, withinMs, gone),
      end: () => this.forget(hostKey, watch),
    };
  }

  told(hostKey: string): void {
    for (const watch of this.watches.get(hostKey) ?? []) watch.tell();
  }

  gap(): void {
    for (const hostKey of this.watches.keys()) this.told(hostKey);
  }

  onModuleInit(): void {
    this.feed.start();
  }

  /** The server closes when its last request is answered. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    this.gap();
    await this.feed.close();
  }

  private async changed(watch: Watch, withinMs: number, gone: AbortSignal): Promise<void> {
    if (this.stopped) return;
    await watch.wait(this.feed.isListening ? withinMs : Math.min(withinMs, POLL_INTERVAL_MS), gone);
  }

  private forget(hostKey: string, watch: Watch): void {
    const known = this.watches.get(hostKey);
    known?.delete(watch);
    if (known?.size === 0) this.watches.delete(hostKey);
  }
}

class Watch {
  private wasTold = false;
  private letGo = (): void => undefined;

  tell(): void {
    this.wasTold = true;
    this.letGo();
  }

  async wait(withinMs: number, gone: AbortSignal): Promise<void> {
    if (!this.wasTold && !gone.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => this.letGo(), withinMs);
        this.letGo = () => {
          clearTimeout(timer);
          gone.removeEventListener('abort', this.letGo);
          resolve();
        };
        gone.addEventListener('abort', this.letGo);
      });
    }
    this.wasTold = false;
  }
}
