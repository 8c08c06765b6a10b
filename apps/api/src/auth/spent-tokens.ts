import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database, SpentTokenStore } from '#entities';

const HOUR_MS = 60 * 60 * 1000;

/** Deletes tokens, challenges and failure counts that have run out: at the start and every hour. */
@Injectable()
export class SpentTokens implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('SpentTokens');
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly store: SpentTokenStore,
  ) {}

  onApplicationBootstrap(): void {
    const sweep = (): void => void (this.sweeping = this.sweep());
    this.timer = setInterval(sweep, HOUR_MS).unref();
    sweep();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.sweeping;
  }

  private async sweep(): Promise<void> {
    try {
      await this.store.deleteSpent(this.database.autocommit);
    } catch (error) {
      // the next one takes them along
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn({ msg: 'What has run out could not be deleted', reason });
    }
  }
}
