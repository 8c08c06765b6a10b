import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../network/free-port';
import { RedisServer } from './redis';
import { until } from '../until';

const COUNT = 3;
const PASSWORD = 'of-sentinels';
const portOf = (server: RedisServer): string => new URL(server.url).port;

/** Two Redis servers, and three sentinels that make one of them the master. */
export class RedisWithSentinels {
  private readonly sentinels: ChildProcess[] = [];
  private readonly ports: number[] = [];

  private constructor(
    private readonly folder: string,
    private readonly servers: readonly RedisServer[],
  ) {}

  static async start(): Promise<RedisWithSentinels> {
    const servers = [await RedisServer.start(), await RedisServer.start()];
    const cluster = new RedisWithSentinels(mkdtempSync(join(tmpdir(), 'drawbridge-sentinels-')), servers);
    await servers[1]!.command('REPLICAOF', '127.0.0.1', portOf(servers[0]!));
    for (let index = 0; index < COUNT; index += 1) await cluster.addSentinel(portOf(servers[0]!));
    await cluster.untilWhole();
    return cluster;
  }

  get url(): string {
    return `redis+sentinel://${this.ports.map((port) => `127.0.0.1:${port}`).join()}/doors?sentinelPassword=${PASSWORD}`;
  }

  /** The server that the sentinels name. */
  async master(): Promise<RedisServer> {
    const [, port] = (await this.ask('GET-MASTER-ADDR-BY-NAME')) as [string, string];
    return this.servers.find((server) => portOf(server) === port)!;
  }

  /** Waits until every sentinel knows the others, and a replica that can take over. */
  async untilWhole(): Promise<void> {
    await until('Redis can fail over', async () => {
      const master = await this.master();
      const linked = /slave0:.*state=online/.test(String(await master.command('INFO', 'replication')));
      return linked && String(await this.ask('CKQUORUM')).startsWith(`OK ${COUNT} usable`);
    });
  }

  stop(): void {
    for (const sentinel of this.sentinels) sentinel.kill('SIGKILL');
    for (const server of this.servers) server.signal('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }

  private async addSentinel(master: string): Promise<void> {
    const port = await freePort();
    const file = join(this.folder, `${port}.conf`);
    writeFileSync(
      file,
      `port ${port}
bind 127.0.0.1
dir ${this.folder}
sentinel monitor doors 127.0.0.1 ${master} 2
sentinel down-after-milliseconds doors 2000
sentinel failover-timeout doors 5000
requirepass ${PASSWORD}
sentinel sentinel-pass ${PASSWORD}
`,
    );
    this.ports.push(port);
    this.sentinels.push(spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' }));
  }

  private async ask(question: string): Promise<unknown> {
    const sentinel = new Redis(this.ports[0]!, '127.0.0.1', { password: PASSWORD });
    try {
      return await sentinel.call('SENTINEL', question, 'doors');
    } finally {
      sentinel.disconnect();
    }
  }
}
