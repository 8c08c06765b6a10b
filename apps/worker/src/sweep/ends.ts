import { SYSTEM_ACTOR } from '#entities';
import { endedEntry, endOverdueRequests } from '#tenant-store';
import { RepeatedTask, type TaskParts } from '../repeated-task';
import { batchedTask } from '../batched-task';

const REQUESTS_INTERVAL_MS = 1000;
const CLOSING_INTERVAL_MS = 2000;
const CLOSING_BATCH_SIZE = 20;

/** Ends access requests that were not decided, or not used, in time. */
export function accessRequestEnds({ database, stores, log }: TaskParts): RepeatedTask {
  const end = (limit: number): Promise<number> =>
    database.transaction(async (tx) => {
      const ended = await endOverdueRequests(tx, limit);
      for (const request of ended)
        await stores.audit.write(tx, request.organizationId, endedEntry(SYSTEM_ACTOR, request));
      return ended.length;
    });
  return batchedTask('end overdue access requests', REQUESTS_INTERVAL_MS, end, log);
}

/** Closes deleted organizations when their last rule is gone. */
export function organizationClosing({ database, stores, log }: TaskParts): RepeatedTask {
  const close = (): Promise<void> =>
    database.transaction(async (tx) => {
      for (const { id, name } of await stores.organizationClosing.close(tx, CLOSING_BATCH_SIZE)) {
        await stores.audit.write(tx, id, {
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
