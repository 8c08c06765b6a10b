import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { openRedis } from '#jobs';
import { FixedWindows } from './fixed-windows';
import { countOf, type Count, type RequestWindows } from './request-windows';

const ANSWER_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RECONNECT_DELAY_MS = 2000;
/** Pause after a failed call, so that not every request waits for an unavailable Redis. */
const RETRY_INTERVAL_MS = 1000;

/** Atomic: the first hit of a window sets its expiry. A key without an expiry gets a new one. */
const COUNT = `
local hits = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { hits, left }`;

const DECREMENT = `
if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
return 0`;

/** The operations on Redis. */
export interface SharedCounter {
  /** @returns the hits of the window and the milliseconds until it ends */
  count(key: string, ttlMs: number): Promise<readonly [hits: number, leftMs: number]>;
  decrement(key: string): Promise<void>;
  close(): void;
}

/**
 * Windows in Redis, shared by all processes of a deployment. While Redis is unavailable each process counts for itself: a
 * temporarily higher limit is better than failing requests.
 */
export class SharedWindows implements RequestWindows, OnApplicationShutdown {
  private readonly logger = new Logger('RateLimit');
  private isUnavailable = false;
  private retryAt = 0;

  constructor(
    private readonly counter: SharedCounter,
    private readonly fallback = new FixedWindows(),
    private readonly now: () => number = Date.now,
  ) {}

  /** @param deployment separates the counts of deployments that share a Redis */
  static connect(url: string, deployment: string): SharedWindows {
    return new SharedWindows(redisCounter(url, `drawbridge:${deployment}:rate:`));
  }

  async increment(key: string, ttlMs: number, limit: number): Promise<Count> {
    const shared = await this.tryRedis(() => this.counter.count(key, ttlMs));
    return shared ? countOf(...shared, limit) : this.fallback.increment(key, ttlMs, limit);
  }

  async decrement(key: string): Promise<void> {
    const done = await this.tryRedis(() => this.counter.decrement(key).then(() => true));
    if (!done) await this.fallback.decrement(key);
  }

  onApplicationShutdown(): void {
    this.counter.close();
  }

  /** @returns null while Redis is unavailable */
  private async tryRedis<T>(call: () => Promise<T>): Promise<T | null> {
    if (this.now() < this.retryAt) return null;
    try {
      const result = await call();
      this.logTransition(false, 'Redis is back: requests are counted together again');
      return result;
    } catch (error) {
      this.retryAt = this.now() + RETRY_INTERVAL_MS;
      const reason = error instanceof Error ? error.message : 'unknown';
      this.logTransition(true, `Redis is out of reach (${reason}): each process counts requests for itself`);
      return null;
    }
  }

  /** Logs changes only, not every request. */
  private logTransition(isUnavailable: boolean, message: string): void {
    if (isUnavailable === this.isUnavailable) return;
    this.isUnavailable = isUnavailable;
    this.logger.warn(message);
  }
}

function redisCounter(url: string, prefix: string): SharedCounter {
  const client = openRedis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    // a half-open connection is replaced
    socketTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    // fail immediately while disconnected instead of queueing commands
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RECONNECT_DELAY_MS),
  });
  // failing commands report connection errors
  client.on('error', () => undefined);
  return {
    count: async (key, ttlMs) => {
      const [hits, leftMs] = (await client.eval(COUNT, 1, prefix + key, ttlMs)) as [number, number];
      return [hits, leftMs];
    },
    decrement: async (key) => void (await client.eval(DECREMENT, 1, prefix + key)),
    close: () => client.disconnect(),
  };
}
