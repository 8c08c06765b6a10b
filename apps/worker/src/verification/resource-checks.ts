import type { Logger } from 'pino';
import { DriverError, DriverRegistry, driverErrorOf } from '#drivers';
import type { CloudAccess } from '#engine';
import { AgentStore, type WriteBudgetStore } from '#engine-store';
import type { Database } from '#entities';
import type { DueResource, VerificationStore } from '#tenant-store';
import { agentAbsence, RETRYABLE_KINDS } from '#rules';

const AT_ONCE = 10;
const INTERVAL_MINUTES = 30;
/** After a look that the cloud did not answer. */
const RETRY_MINUTES = 2;
const LEASE_SECONDS = 60;
/** Calls of one look that count as writes. */
const DRY_RUNS = 2;
/** Of an account's write budget, the share that these looks leave to sessions. */
const RESERVE = 0.5;

/** Verifies resources again and again, once somebody has verified them for the first time. */
export class ResourceChecks {
  private readonly agents = new AgentStore();

  constructor(
    private readonly database: Database,
    private readonly store: VerificationStore,
    private readonly budgets: WriteBudgetStore,
    private readonly clouds: CloudAccess,
    private readonly log: Logger,
  ) {}

  /** Verifies what is due now, some at once. */
  async run(): Promise<void> {
    const due = await this.store.takeResources(this.database.autocommit, DriverRegistry.providers, AT_ONCE, {
      everyMinutes: INTERVAL_MINUTES,
      leaseSeconds: LEASE_SECONDS,
    });
    await Promise.all(due.map((resource) => this.verify(resource)));
  }

  private async verify(due: DueResource): Promise<void> {
    try {
      const failure = DriverRegistry.isDriven(due.provider)
        ? await driverErrorOf(() => this.ask(due))
        : await this.absence(due);
      if (failure && RETRYABLE_KINDS.has(failure.kind)) {
        await this.store.postponeResource(this.database.autocommit, due, RETRY_MINUTES);
        return;
      }
      await this.database.transaction((tx) =>
        this.store.settleResource(tx, due, failure?.message ?? null, INTERVAL_MINUTES),
      );
    } catch (error) {
      this.log.error({ err: error, resourceId: due.id }, 'A resource could not be verified');
    }
  }

  private async absence({
    organizationId,
    resourceIdentifier: name,
  }: DueResource): Promise<DriverError | null> {
    const secondsAway = await this.agents.secondsAway(this.database.autocommit, organizationId, name);
    const absence = agentAbsence(name, secondsAway);
    return absence && new DriverError(absence.kind, absence.message);
  }

  private async ask(due: DueResource): Promise<void> {
    const driver = await this.clouds.driver(due.provider);
    const { resourceType, targetIdentifier: identifier, region, credentialId } = due;
    const place = { resourceType, identifier, region, credentialId };
    const target = await this.clouds.open(place, new Map());
    const { writeBudget } = driver.traits;
    const waitMs = await this.budgets.take(
      this.database.autocommit,
      driver.accountKey(target),
      writeBudget,
      DRY_RUNS,
      writeBudget.burst * RESERVE,
    );
    if (waitMs > 0) throw new DriverError('throttled', 'Waiting for the cloud account to allow more calls');
    await driver.verify(target);
  }
}
