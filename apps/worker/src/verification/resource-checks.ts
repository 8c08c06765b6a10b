import type { Logger } from 'pino';
import { DriverRegistry, driverErrorOf } from '#drivers';
import type { Database, DueResource, VerificationStore } from '#entities';
import { PASSING_KINDS } from '#rules';
import type { CloudAccess } from '../clouds/cloud-access';

const AT_ONCE = 10;
const EVERY_MINUTES = 30;
/** After a look that the cloud did not answer. */
const AGAIN_IN_MINUTES = 2;
const LEASE_SECONDS = 60;

/** Verifies resources again and again, once somebody has verified them for the first time. */
export class ResourceChecks {
  constructor(
    private readonly database: Database,
    private readonly store: VerificationStore,
    private readonly clouds: CloudAccess,
    private readonly log: Logger,
  ) {}

  /** Verifies what is due now, some at once. */
  async run(): Promise<void> {
    const due = await this.store.takeResources(this.database.autocommit, DriverRegistry.providers, AT_ONCE, {
      everyMinutes: EVERY_MINUTES,
      leaseSeconds: LEASE_SECONDS,
    });
    await Promise.all(due.map((resource) => this.verify(resource)));
  }

  private async verify(due: DueResource): Promise<void> {
    try {
      const failure = await driverErrorOf(async () => {
        const driver = await this.clouds.driver(due.provider);
        const { resourceType, objectIdentifier: identifier, region, credentialId } = due;
        await driver.verify(await this.clouds.open({ resourceType, identifier, region, credentialId }));
      });
      if (failure && PASSING_KINDS.has(failure.kind)) {
        await this.store.postponeResource(this.database.autocommit, due, AGAIN_IN_MINUTES);
        return;
      }
      await this.database.transaction((tx) =>
        this.store.settleResource(tx, due, failure?.message ?? null, EVERY_MINUTES),
      );
    } catch (error) {
      this.log.error({ err: error, resourceId: due.id }, 'A resource could not be verified');
    }
  }
}
