import type { Logger } from 'pino';
import { DriverError, DriverRegistry, driverErrorOf } from '#drivers';
import type { CloudAccess } from '#engine';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import type { DueResource, VerificationStore } from '#tenant-store';
import { agentAbsence, RETRYABLE_KINDS, TARGET_GONE_MS } from '#rules';

const BATCH_SIZE = 10;
export const VERIFY_INTERVAL_MINUTES = 30;
/** After a verification that failed with a retryable error; the longest wait for a turn. */
const RETRY_MS = 120_000;
const LEASE_SECONDS = 60;
/** Dry-run calls of one verification that count as writes. */
const DRY_RUN_WRITES = 2;
/** Share of an account's write budget that verifications may use. */
const SHARE = 0.5;

/** Whether a target that was verified is not found, but not for long enough to be believed. */
const isMissingForNow = ({ verifiedAgoMs }: DueResource, { kind }: DriverError): boolean =>
  kind === 'target-missing' && verifiedAgoMs !== null && verifiedAgoMs < TARGET_GONE_MS;

/** Verifies resources periodically after their first requested verification. */
export class ResourceChecks {
  constructor(
    private readonly database: Database,
    private readonly store: VerificationStore,
    private readonly engine: EngineStore,
    private readonly clouds: CloudAccess,
    private readonly log: Logger,
  ) {}

  /** Verifies one batch of due resources, concurrently. */
  async run(): Promise<void> {
    const due = await this.store.takeResources(
      this.database.autocommit,
      DriverRegistry.providers,
      BATCH_SIZE,
      {
        everyMinutes: VERIFY_INTERVAL_MINUTES,
        leaseSeconds: LEASE_SECONDS,
      },
    );
    const settled = await this.settleConnected(due);
    await Promise.all(due.filter(({ id }) => !settled.has(id)).map((resource) => this.verify(resource)));
  }

  /** Most hosts are connected: nothing of theirs has changed. @returns the ids of their resources */
  private async settleConnected(due: readonly DueResource[]): Promise<ReadonlySet<string>> {
    const ofAgents = due.filter(({ provider }) => !DriverRegistry.isDriven(provider));
    if (ofAgents.length === 0) return new Set();
    return new Set(
      await this.store.settleConnected(this.database.autocommit, ofAgents, VERIFY_INTERVAL_MINUTES),
    );
  }

  private async verify(due: DueResource): Promise<void> {
    try {
      const failure = DriverRegistry.isDriven(due.provider)
        ? await driverErrorOf(() => this.verifyWithDriver(due))
        : await this.agentFailure(due);
      if (failure && (RETRYABLE_KINDS.has(failure.kind) || isMissingForNow(due, failure))) {
        const inMs = Math.min(failure.retryAfterMs ?? RETRY_MS, RETRY_MS);
        await this.store.postponeResource(this.database.autocommit, due, inMs);
        return;
      }
      await this.database.transaction((tx) =>
        this.store.settleResource(tx, due, failure?.message ?? null, VERIFY_INTERVAL_MINUTES),
      );
    } catch (error) {
      this.log.error({ err: error, resourceId: due.id }, 'A resource could not be verified');
    }
  }

  /** The failure of a resource whose agent is away; null when the agent is connected. */
  private async agentFailure({
    organizationId,
    resourceIdentifier: name,
  }: DueResource): Promise<DriverError | null> {
    const secondsAway = await this.engine.agents.secondsAway(this.database.autocommit, organizationId, name);
    const absence = agentAbsence(name, secondsAway);
    return absence && new DriverError(absence.kind, absence.message);
  }

  private async verifyWithDriver(due: DueResource): Promise<void> {
    const driver = await this.clouds.driver(due.provider, due.resourceType);
    const { resourceType, targetIdentifier: identifier, region, credentialId, writeVerified } = due;
    const access = { resourceType, identifier, region, credentialId, isProven: writeVerified };
    const target = await this.clouds.open(access, new Map());
    const { burst, refillPerSecond } = driver.traits.writeBudget;
    // a provider that allows few writes is asked when it has been left alone
    const size = { burst: Math.max(burst * SHARE, DRY_RUN_WRITES), refillPerSecond };
    const { autocommit } = this.database;
    const account = driver.accountKey(target);
    const turn = await this.engine.budgets.take(autocommit, account, size, DRY_RUN_WRITES, 0);
    if (turn === null) {
      const queued = { action: 'verify', calls: DRY_RUN_WRITES } as const;
      const inMs = await this.engine.budgets.enqueue(autocommit, account, size, queued, RETRY_MS);
      throw new DriverError('throttled', 'Waiting for the cloud account to allow more calls', inMs);
    }
    await driver.verify(target, due.config);
  }
}
