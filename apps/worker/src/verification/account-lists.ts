import { driverErrorOf, type CloudAccount } from '#drivers';
import type { DueAccountList } from '#tenant-store';
import { RETRYABLE_KINDS } from '#rules';
import type { TaskParts } from '../repeated-task';

const BATCH_SIZE = 5;
/** Longer than the list of 5,000 accounts takes. */
const LEASE_SECONDS = 300;
const A_DAY_SECONDS = 86_400;
const RETRY_SECONDS = 600;

/**
 * Asks providers for the accounts of a credential: on request, and once a day from then on. One batch of credentials,
 * concurrently.
 */
export async function listAccounts(parts: TaskParts): Promise<void> {
  const { database, stores } = parts;
  const due = await stores.accountLists.take(database.autocommit, BATCH_SIZE, LEASE_SECONDS);
  await Promise.all(due.map((one) => list(parts, one)));
}

async function list(
  { database, stores: { accountLists: store }, clouds, log }: TaskParts,
  due: DueAccountList,
): Promise<void> {
  try {
    let listed: readonly CloudAccount[] = [];
    const failure = await driverErrorOf(async () => {
      const driver = await clouds.credentialDriver(due.provider);
      listed = (await driver.listAccounts?.(await clouds.credential(due.id))) ?? [];
    });
    await database.transaction(async (tx) => {
      if (failure === null) return store.settle(tx, due, listed);
      const againIn = RETRYABLE_KINDS.has(failure.kind) ? RETRY_SECONDS : A_DAY_SECONDS;
      await store.noteAnswer(tx, due, failure.message, againIn);
    });
  } catch (error) {
    log.error({ err: error, credentialId: due.id }, 'The accounts of a credential could not be listed');
  }
}
