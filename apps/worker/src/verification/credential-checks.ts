import { DriverRegistry, driverErrorOf } from '#drivers';
import type { DueCredential } from '#tenant-store';
import { backoffMs, RETRYABLE_KINDS, type BackoffPolicy } from '#rules';
import type { TaskParts } from '../repeated-task';

const BATCH_SIZE = 10;
/** Longer than a check takes; after a crash another worker takes the credential when the lease has expired. */
const LEASE_SECONDS = 60;
const MIN_DELAY_MS = 1000;
/** Between attempts while a provider does not answer. */
const BACKOFF: BackoffPolicy = { baseMs: 2000, capMs: 600_000 };

/** Checks new and rotated credentials, and all others once a day. One batch of due ones, concurrently. */
export async function checkCredentials(parts: TaskParts): Promise<void> {
  const { database, stores } = parts;
  const due = await stores.verification.takeCredentials(
    database.autocommit,
    DriverRegistry.providers,
    BATCH_SIZE,
    LEASE_SECONDS,
  );
  await Promise.all(due.map((credential) => check(parts, credential)));
}

async function check(
  { database, stores: { verification: store }, clouds, log }: TaskParts,
  due: DueCredential,
): Promise<void> {
  try {
    const failure = await driverErrorOf(async () => {
      // a provider without a driver has no secrets to check
      if (!DriverRegistry.isDriven(due.provider)) return;
      const driver = await clouds.credentialDriver(due.provider);
      await driver.checkCredential(await clouds.credential(due.id));
    });
    if (failure && RETRYABLE_KINDS.has(failure.kind)) {
      const wait = failure.retryAfterMs ?? backoffMs(BACKOFF, due.attempts + 1, Math.random());
      const inMs = Math.max(MIN_DELAY_MS, wait);
      await store.postponeCredential(database.autocommit, due, inMs);
      return;
    }
    await database.transaction((tx) => store.settleCredential(tx, due, failure?.message ?? null));
  } catch (error) {
    log.error({ err: error, credentialId: due.id }, 'A credential could not be checked');
  }
}
