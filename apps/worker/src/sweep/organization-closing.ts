import type { Logger } from 'pino';
import { type Database, SYSTEM_ACTOR } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { deleteInBatches } from './delete-in-batches';

const CLOSING_INTERVAL_MS = 2000;
const FORGETTING_INTERVAL_MS = 60 * 60 * 1000;
const BATCH_SIZE = 20;

/** Closes deleted organizations when their last rule is gone. */
export function organizationClosing(
  database: Database,
  { organizationClosing: store, audit }: TenantStores,
  log: Logger,
): RepeatedTask {
  const close = (): Promise<void> =>
    database.transaction(async (tx) => {
      for (const { id, name } of await store.close(tx, BATCH_SIZE)) {
        await audit.write(tx, id, {
          ...SYSTEM_ACTOR,
          eventType: 'ORGANIZATION_CLOSED',
          resourceType: 'ORGANIZATION',
          resourceId: id,
          resourceName: name,
        });
        log.info({ organization: id }, 'A deleted organization has no rule left: its secrets were destroyed');
      }
    });
  return new RepeatedTask('close deleted organizations', CLOSING_INTERVAL_MS, close, log);
}

/** Deletes what is left of closed organizations after their history went, at start-up and every hour. */
export function organizationForgetting(
  database: Database,
  { organizationClosing: store }: TenantStores,
  log: Logger,
): RepeatedTask {
  return new RepeatedTask(
    'delete organizations without history',
    FORGETTING_INTERVAL_MS,
    (stopping) => deleteInBatches((limit) => database.transaction((tx) => store.forget(tx, limit)), stopping),
    log,
  );
}
