import { rmSync } from 'node:fs';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../apps/launcher/src/embedded-postgres';
import { migrate, onDisk } from '../chaos/runner/own-postgres';

const FLUSHES = 100;

/** Prefix of each entry in the server's log: application, transaction id (0 without a write), database. */
const LOG_PREFIX = '%a|%x|%d|';

export interface LoggedLine {
  readonly application: string;
  readonly transaction: string;
  readonly database: string;
  /** including continuation lines */
  text: string;
}

/** A durable PostgreSQL for the benchmarks, with a migrated template database. */
export class BenchPostgres {
  private lines: LoggedLine[] | null = null;

  private constructor(
    private readonly folder: string,
    private readonly server: EmbeddedPostgres,
  ) {}

  static async start(): Promise<BenchPostgres> {
    const folder = await mkdtemp(join(onDisk(), 'drawbridge-bench-'));
    // the server may run as a different user
    await chmod(folder, 0o755);
    let bench: BenchPostgres | null = null;
    const server = new EmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      flags: ['max_connections=200', `log_line_prefix=${LOG_PREFIX}`],
      onLog: (line) => bench?.take(line),
    });
    bench = new BenchPostgres(folder, server);
    process.once('exit', bench.abandon);
    try {
      const { superuserUrl } = await server.start();
      await migrate(await server.createDatabase('template_drawbridge'));
      process.env['TEST_POSTGRES_URL'] = superuserUrl;
    } catch (error) {
      await bench.stop();
      throw error;
    }
    return bench;
  }

  /** Collects the server's log from now on. @returns the list, which grows */
  keepLog(): readonly LoggedLine[] {
    this.lines = [];
    return this.lines;
  }

  dropLog(): void {
    this.lines = null;
  }

  /** Durations of writing and syncing 8 kB, milliseconds: the lower bound of every commit. */
  async flushTimes(): Promise<number[]> {
    const file = await open(join(this.folder, 'flush'), 'w');
    const times: number[] = [];
    for (let index = 0; index < FLUSHES; index += 1) {
      const began = performance.now();
      await file.write(Buffer.alloc(8192, index), 0, 8192, index * 8192);
      await file.datasync();
      times.push(performance.now() - began);
    }
    await file.close();
    return times;
  }

  async stop(): Promise<void> {
    process.off('exit', this.abandon);
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The server has its own process group: it must be ended explicitly when this process is interrupted. */
  private readonly abandon = (): void => {
    void this.server.kill();
    rmSync(this.folder, { recursive: true, force: true });
  };

  private take(line: string): void {
    if (!this.lines) return;
    const last = this.lines.at(-1);
    if (line.startsWith('\t') && last) {
      last.text += `\n${line.slice(1)}`;
      return;
    }
    const [application = '', transaction = '', database = '', ...text] = line.split('|');
    this.lines.push({ application, transaction, database, text: text.join('|') });
  }
}
