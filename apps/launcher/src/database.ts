import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgres } from './embedded-postgres';
import type { LogFile } from './log-file';

export interface RunDatabase {
  /** @returns the URL of the database @throws Error when it does not come up */
  start(): Promise<string>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** A database somebody else runs. */
export const givenDatabase = (url: string): RunDatabase => ({
  start: () => Promise.resolve(url),
  stop: () => Promise.resolve(),
  kill: () => Promise.resolve(),
});

const RESTARTS = 5;
const RESTART_INTERVAL_MS = 500;

/** A PostgreSQL server of the run's own, started again at its port when it ends unasked. */
export class EmbeddedDatabase implements RunDatabase {
  private readonly server: EmbeddedPostgres;
  private port = 0;
  private isStopping = false;

  /** @param onLost called when it has ended and cannot be started again */
  constructor(
    dataDir: string,
    log: LogFile,
    private readonly say: (line: string) => void,
    private readonly onLost: (reason: string) => void,
  ) {
    this.server = new EmbeddedPostgres({
      dataDir: join(dataDir, 'postgres'),
      onLog: (line) => log.write(`${line}\n`),
      onNotice: say,
      onUnexpectedExit: (reason) => void this.startAgain(reason),
    });
  }

  async start(): Promise<string> {
    this.port = (await this.server.start()).port;
    return this.server.createDatabase('drawbridge');
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.server.stop();
  }

  async kill(): Promise<void> {
    this.isStopping = true;
    await this.server.kill();
  }

  private async startAgain(reason: string): Promise<void> {
    this.say(`${reason}\nIt is started again.`);
    for (let attempt = 1; attempt <= RESTARTS; attempt++) {
      await delay(RESTART_INTERVAL_MS);
      // a stop meanwhile must stay one: starting would take it back
      if (this.isStopping) return;
      try {
        if ((await this.server.start()).port === this.port) return this.say('PostgreSQL is back.');
        return this.onLost(`Port ${this.port} of PostgreSQL was taken meanwhile.`);
      } catch (error) {
        this.say(error instanceof Error ? error.message : String(error));
      }
    }
    this.onLost('PostgreSQL cannot be started again.');
  }
}
