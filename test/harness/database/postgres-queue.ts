import { Database } from '#entities';
import { connectQueue, type QueueConnection } from '#jobs';

/** The queue in this database, as the processes connect to it. */
export function postgresQueue(
  url: string,
  onError: (error: Error) => void = () => undefined,
): QueueConnection {
  const database = new Database({ url, applicationName: 'test-queue', poolSize: 1 });
  return connectQueue({ redisUrl: null, openPool: (config) => database.openPool(config) }, onError);
}
