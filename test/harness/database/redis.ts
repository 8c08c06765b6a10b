import { accepts, freePort } from '../network/free-port';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { neededInCi } from '../needed-in-ci';
import { until } from '../until';

/** Whether redis-server is installed. Without it, the tests report that they were skipped. */
export const hasRedis = neededInCi('redis-server', spawnSync('redis-server', ['--version']).status === 0);

/** A separate in-memory Redis on a free port. */
export class RedisServer {
  private constructor(
    private child: ChildProcess,
    private readonly port: number,
    private readonly folder: string,
  ) {}

  /**
   * @param folder that `SAVE` writes to and a restart reads from
   * @param options of the server besides
   */
  static async start(folder = tmpdir(), ...options: string[]): Promise<RedisServer> {
    const port = await freePort();
    const server = new RedisServer(launch(port, folder, options), port, folder);
    await server.answers();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Sends a command. @returns the reply */
  async command(name: string, ...words: string[]): Promise<unknown> {
    const client = new Redis(this.url);
    try {
      return await client.call(name, ...words);
    } finally {
      client.disconnect();
    }
  }

  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The next start is without data. */
  forgetSaved(): void {
    rmSync(join(this.folder, savedAs(this.port)));
  }

  /** Starts it at the same address with what was last saved; empty unless a test saved. */
  async startAgain(): Promise<void> {
    this.child = launch(this.port, this.folder);
    await this.answers();
  }

  private answers(): Promise<boolean> {
    return until(`Redis answers on port ${this.port}`, () => accepts(this.port));
  }
}

const savedAs = (port: number): string => `drawbridge-${port}.rdb`;

const launch = (port: number, folder: string, more: readonly string[] = []): ChildProcess => {
  const options = `--port ${port} --bind 127.0.0.1 --appendonly no --dbfilename ${savedAs(port)}`;
  const given = [...options.split(' '), '--save', '', '--dir', folder, ...more];
  return spawn('redis-server', given, { stdio: 'ignore' });
};
