import { Redis } from 'ioredis';
import { SettingsError } from '#config';

const ANSWER_TIMEOUT_MS = 2000;
/** What a Redis says that is the right one and comes to itself: it starts, fails over, or is full of clients. */
const PASSING = /^(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|BUSY|TRYAGAIN|ERR max number of clients)/;

/**
 * Asks the Redis of the queue once, at start. One that does not answer keeps nobody from starting: rules are closed
 * without a queue, and it comes back by itself.
 * @throws SettingsError when what answers is no Redis, or refuses this process: that only its operator can put right
 */
export async function refuseWrongRedis(url: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
  });
  const heard: Error[] = [];
  client.on('error', (error: Error) => heard.push(error));
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    heard.push(error as Error);
  } finally {
    client.disconnect();
  }
  for (const { name, message } of heard) {
    if (name === 'ParserError')
      throw new SettingsError(['REDIS_URL must lead to a Redis: what answers there is none']);
    if (name === 'ReplyError' && !PASSING.test(message)) {
      throw new SettingsError([
        `REDIS_URL must lead to a Redis that lets this service in: it answers ${message}`,
      ]);
    }
  }
}
