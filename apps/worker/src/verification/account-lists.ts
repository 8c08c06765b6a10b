import type { Logger } from 'pino';
import { driverErrorOf, type CloudAccount } from '#drivers';
import type { CloudAccess } from '#engine';
import type { Database } from '#entities';
import type { AccountListStore, DueAccountList } from '#tenant-store';
import { RETRYABLE_KINDS } from '#rules';

const BATCH_SIZE = 5;
/** Longer than the list of 5,000 accounts takes. */
const LEASE_SECONDS = 300;
const A_DAY_SECONDS = 86_400;
const RETRY_SECONDS = 600;

/** Asks providers for the accounts of a credential: on request, and once a day from then on. */
export class AccountLists {
  constructor(
    private readonly database: Database,
    private readonly store: AccountListStore,
    private readonly clouds: CloudAccess,
    private readonly log: Logger,
  ) {}

  /** Lists the accounts of one batch of credentials, concurrently. */
  async run(): Promise<void> {
    const due = await this.store.take(this.database.autocommit, BATCH_SIZE, LEASE_SECONDS);
    await Promise.all(due.map((one) => this.list(one)));
  }

  private async list(due: DueAccountList): Promise<void> {
    try {
      let listed: readonly CloudAccount[] = [];
      const failure = await driverErrorOf(async () => {
        const driver = await this.clouds.credentialDriver(due.provider);
        listed = (await driver.listAccounts?.(await this.clouds.credential(due.id))) ?? [];
      });
      await this.database.transaction(async (tx) => {
        if (failure === null) return this.store.settle(tx, due, listed);
        const againIn = RETRYABLE_KINDS.has(failure.kind) ? RETRY_SECONDS : A_DAY_SECONDS;
        await this.store.answered(tx, due, failure.message, againIn);
      });
    } catch (error) {
      this.log.error(
        { err: error, credentialId: due.id },
        'The accounts of a credential could not be listed',
      );
    }
  }
}
