import { Redis, type RedisOptions } from 'ioredis';
import { redisSentinels } from '#config';

const SENTINEL_ANSWERS_MS = 2000;

/** A client of the Redis at `REDIS_URL`: of one server, or of the one that its sentinels call the master. */
export function openRedis(url: string, options: RedisOptions): Redis {
  const sentinels = redisSentinels(url);
  return sentinels === null
    ? new Redis(url, options)
    : // one that hangs, as the master beside it may do, is passed over
      new Redis({ ...sentinels, sentinelCommandTimeout: SENTINEL_ANSWERS_MS, ...options });
}
