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

/** A database that this run does not manage. */
export const givenDatabase = (url: string): RunDatabase => ({
  start: () => Promise.resolve(url),
  stop: () => Promise.resolve(),
  kill: () => Promise.resolve(),
});

const MAX_RESTART_ATTEMPTS = 5;
const RESTART_INTERVAL_MS = 500;

/** The run's own PostgreSQL server, restarted on its port when it exits unexpectedly. */
export class EmbeddedDatabase implements RunDatabase {
  private readonly server: EmbeddedPostgres;
  private port = 0;
  private isStopping = false;

  /** @param onLost called when it has exited and cannot be restarted */
  constructor(
    dataDir: string,
    log: LogFile,
    private readonly print: (line: string) => void,
    private readonly onLost: (reason: string) => void,
  ) {
    this.server = new EmbeddedPostgres({
      dataDir: join(dataDir, 'postgres'),
      onLog: (line) => log.write(`${line}\n`),
      onNotice: print,
      onUnexpectedExit: (reason) => void this.restart(reason),
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

  private async restart(reason: string): Promise<void> {
    this.print(`${reason}\nIt is started again.`);
    for (let attempt = 1; attempt <= MAX_RESTART_ATTEMPTS; attempt++) {
      await delay(RESTART_INTERVAL_MS);
      // a stop in the meantime wins: start() would undo it
      if (this.isStopping) return;
      try {
        if ((await this.server.start()).port === this.port) return this.print('PostgreSQL is back.');
        return this.onLost(`Port ${this.port} of PostgreSQL was taken meanwhile.`);
      } catch (error) {
        this.print(error instanceof Error ? error.message : String(error));
      }
    }
    this.onLost('PostgreSQL cannot be started again.');
  }
}
