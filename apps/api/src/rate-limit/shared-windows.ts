import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { FixedWindows } from './fixed-windows';
import { countOf, type Count, type RequestWindows } from './request-windows';

const ANSWER_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_PAUSE_MS = 2000;
/** how long nobody asks a Redis that did not answer: each request would wait for it */
const LEFT_ALONE_MS = 1000;

/** One atomic step: the first count of a window sets its end. A key that lost its end gets a new one. */
const COUNT = `
local hits = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { hits, left }`;

const GIVE_BACK = `
if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
return 0`;

/** What is asked of Redis. */
export interface SharedCounter {
  /** @returns the hits of the window and the milliseconds until it ends */
  count(key: string, ttlMs: number): Promise<readonly [hits: number, leftMs: number]>;
  giveBack(key: string): Promise<void>;
  close(): void;
}

/**
 * Windows in Redis, shared by all processes of a deployment. While it is away each process counts for itself: a limit
 * that is too generous for a while is better than a request that fails.
 */
export class SharedWindows implements RequestWindows, OnApplicationShutdown {
  private readonly logger = new Logger('RateLimit');
  private away = false;
  private askAgainAt = 0;

  constructor(
    private readonly counter: SharedCounter,
    private readonly own = new FixedWindows(),
    private readonly now: () => number = Date.now,
  ) {}

  /** @param deployment keeps apart the counts of deployments that share a Redis */
  static connect(url: string, deployment: string): SharedWindows {
    return new SharedWindows(redisCounter(url, `drawbridge:${deployment}:rate:`));
  }

  async increment(key: string, ttlMs: number, limit: number): Promise<Count> {
    const shared = await this.ask(() => this.counter.count(key, ttlMs));
    return shared ? countOf(...shared, limit) : this.own.increment(key, ttlMs, limit);
  }

  async giveBack(key: string): Promise<void> {
    const done = await this.ask(() => this.counter.giveBack(key).then(() => true));
    if (!done) await this.own.giveBack(key);
  }

  onApplicationShutdown(): void {
    this.counter.close();
  }

  /** @returns null while Redis is away */
  private async ask<T>(question: () => Promise<T>): Promise<T | null> {
    if (this.now() < this.askAgainAt) return null;
    try {
      const answer = await question();
      this.say(false, 'Redis is back: requests are counted together again');
      return answer;
    } catch (error) {
      this.askAgainAt = this.now() + LEFT_ALONE_MS;
      const reason = error instanceof Error ? error.message : 'unknown';
      this.say(true, `Redis is out of reach (${reason}): each process counts requests for itself`);
      return null;
    }
  }

  /** Once for each change, not once for each request. */
  private say(away: boolean, words: string): void {
    if (away === this.away) return;
    this.away = away;
    this.logger.warn(words);
  }
}

function redisCounter(url: string, prefix: string): SharedCounter {
  const client = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    // a lost connection refuses at once instead of keeping requests waiting
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, MAX_PAUSE_MS),
  });
  // what the connection says is told by the requests that miss it
  client.on('error', () => undefined);
  return {
    count: async (key, ttlMs) => {
      const [hits, leftMs] = (await client.eval(COUNT, 1, prefix + key, ttlMs)) as [number, number];
      return [hits, leftMs];
    },
    giveBack: async (key) => void (await client.eval(GIVE_BACK, 1, prefix + key)),
    close: () => client.disconnect(),
  };
}
