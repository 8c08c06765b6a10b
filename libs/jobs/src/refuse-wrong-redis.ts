import { setDefaultBackendFactory } from 'bullmq';
import { certificateProblem, SettingsError } from '#config';
import { openRedis } from './open-redis';
import { QueueProbe } from './queue-probe';

const ANSWER_TIMEOUT_MS = 2000;
/** Temporary errors of a suitable Redis: start-up, failover, too many clients, no memory or disk. Old ones wrap those of scripts. */
const RETRYABLE =
  /^(LOADING|MASTERDOWN|BUSY|TRYAGAIN|ERR max number of clients)|\b(READONLY|OOM|MISCONF|NOREPLICAS)\b/;
/** ioredis tells of a sentinel that knows no such master, or wants another password. */
const UNUSABLE_SENTINEL = /because (ERR No such master|NOAUTH|WRONGPASS)/;

const IN_CLUSTER_MODE = new SettingsError([
  "REDIS_URL must lead to a Redis without cluster mode: the queue's scripts use several keys, which a cluster refuses. Without REDIS_URL, the queue is in PostgreSQL",
]);

/**
 * Checks the queue's Redis once at start. An unreachable one does not prevent the start: rules are revoked without a
 * queue, and the connection is retried.
 * @throws SettingsError when the server is not a Redis, is in cluster mode, or refuses this process: only the operator can
 *   fix that
 */
export async function refuseWrongRedis(url: string): Promise<void> {
  const client = openRedis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
  });
  const errors: Error[] = [];
  client.on('error', (error: Error) => errors.push(error));
  client.on('sentinelError', (error: Error) => errors.push(error));
  try {
    await client.connect();
    await client.ping();
    // without the right to ask, the probe finds out
    const cluster = await client.info('cluster').catch(() => '');
    if (cluster.includes('cluster_enabled:1')) throw IN_CLUSTER_MODE;
    setDefaultBackendFactory();
    await new QueueProbe(client).prove();
    return;
  } catch (error) {
    errors.push(error as Error);
  } finally {
    client.disconnect();
  }
  for (const error of errors) {
    const { name, message } = error;
    if (error instanceof SettingsError) throw error;
    const certificate = certificateProblem(error);
    if (certificate !== null)
      throw new SettingsError([`REDIS_URL must lead to a Redis that is trusted: ${certificate}`]);
    if (/^(CROSSSLOT|MOVED)/.test(message)) throw IN_CLUSTER_MODE;
    if (name === 'ParserError')
      throw new SettingsError(['REDIS_URL must lead to a Redis: what answers there is none']);
    if (UNUSABLE_SENTINEL.test(message))
      throw new SettingsError([`REDIS_URL must name a master and sentinels that know it: ${message}`]);
    if (name === 'ReplyError' && !RETRYABLE.test(message)) {
      throw new SettingsError([
        `REDIS_URL must lead to a Redis that lets this service in: it answers ${message}`,
      ]);
    }
  }
}
