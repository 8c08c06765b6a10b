import { freePort } from './free-port';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { until } from './until';

/** Whether this machine has a Redis to test with. Where it has not, the tests say so instead of passing in silence. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** A Redis of the test's own, in memory, on a free port. */
export class RedisServer {
  private constructor(
    private child: ChildProcess,
    private readonly port: number,
  ) {}

  static async start(): Promise<RedisServer> {
    const port = await freePort();
    const server = new RedisServer(launch(port), port);
    await server.answers();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** What it answers to a command. */
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

  /** The same address again, with nothing in it. */
  async startAgain(): Promise<void> {
    this.child = launch(this.port);
    await this.answers();
  }

  private answers(): Promise<boolean> {
    return until(`Redis answers on port ${this.port}`, () => accepts(this.port));
  }
}

const launch = (port: number): ChildProcess =>
  spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
