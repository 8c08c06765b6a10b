import type { Logger } from 'pino';
import { DriverRegistry, driverErrorOf } from '#drivers';
import type { CloudAccess } from '#engine';
import type { Database } from '#entities';
import type { DueCredential, VerificationStore } from '#tenant-store';
import { backoffMs, RETRYABLE_KINDS, type BackoffPolicy } from '#rules';

const BATCH_SIZE = 10;
/** Longer than a check takes; after a crash another worker takes the credential when the lease has expired. */
const LEASE_SECONDS = 60;
const MIN_DELAY_MS = 1000;
/** Between attempts while a provider does not answer. */
const BACKOFF: BackoffPolicy = { baseMs: 2000, capMs: 600_000 };

/** Checks new and rotated credentials, and all others once a day. */
export class CredentialChecks {
  constructor(
    private readonly database: Database,
    private readonly store: VerificationStore,
    private readonly clouds: CloudAccess,
    private readonly log: Logger,
  ) {}

  /** Checks one batch of due credentials, concurrently. */
  async run(): Promise<void> {
    const due = await this.store.takeCredentials(
      this.database.autocommit,
      DriverRegistry.providers,
      BATCH_SIZE,
      LEASE_SECONDS,
    );
    await Promise.all(due.map((credential) => this.check(credential)));
  }

  private async check(due: DueCredential): Promise<void> {
    try {
      const failure = await driverErrorOf(async () => {
        // a provider without a driver has no secrets to check
        if (!DriverRegistry.isDriven(due.provider)) return;
        const driver = await this.clouds.credentialDriver(due.provider);
        await driver.checkCredential(await this.clouds.credential(due.id));
      });
      if (failure && RETRYABLE_KINDS.has(failure.kind)) {
        const wait = failure.retryAfterMs ?? backoffMs(BACKOFF, due.attempts + 1, Math.random());
        const inMs = Math.max(MIN_DELAY_MS, wait);
        await this.store.postponeCredential(this.database.autocommit, due, inMs);
        return;
      }
      await this.database.transaction((tx) => this.store.settleCredential(tx, due, failure?.message ?? null));
    } catch (error) {
      this.log.error({ err: error, credentialId: due.id }, 'A credential could not be checked');
    }
  }
}
