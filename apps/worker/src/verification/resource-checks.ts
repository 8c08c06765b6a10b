import { DriverError, DriverRegistry, driverErrorOf } from '#drivers';
import type { DueResource } from '#tenant-store';
import { agentAbsence, RETRYABLE_KINDS, TARGET_GONE_MS } from '#rules';
import type { TaskParts } from '../repeated-task';

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

/**
 * Verifies resources periodically after their first requested verification. One batch of due ones, concurrently.
 */
export async function verifyResources(parts: TaskParts): Promise<void> {
  const { database, stores } = parts;
  const due = await stores.verification.takeResources(
    database.autocommit,
    DriverRegistry.providers,
    BATCH_SIZE,
    {
      everyMinutes: VERIFY_INTERVAL_MINUTES,
      leaseSeconds: LEASE_SECONDS,
    },
  );
  const settled = await settleConnected(parts, due);
  await Promise.all(due.filter(({ id }) => !settled.has(id)).map((resource) => verify(parts, resource)));
}

/** Most hosts are connected: nothing of theirs has changed. @returns the ids of their resources */
async function settleConnected(
  { database, stores }: TaskParts,
  due: readonly DueResource[],
): Promise<ReadonlySet<string>> {
  const ofAgents = due.filter(({ provider }) => !DriverRegistry.isDriven(provider));
  if (ofAgents.length === 0) return new Set();
  return new Set(
    await stores.verification.settleConnected(database.autocommit, ofAgents, VERIFY_INTERVAL_MINUTES),
  );
}

async function verify(parts: TaskParts, due: DueResource): Promise<void> {
  const { database, stores, log } = parts;
  try {
    const failure = DriverRegistry.isDriven(due.provider)
      ? await driverErrorOf(() => verifyWithDriver(parts, due))
      : await agentFailure(parts, due);
    if (failure && (RETRYABLE_KINDS.has(failure.kind) || isMissingForNow(due, failure))) {
      const inMs = Math.min(failure.retryAfterMs ?? RETRY_MS, RETRY_MS);
      await stores.verification.postponeResource(database.autocommit, due, inMs);
      return;
    }
    await database.transaction((tx) =>
      stores.verification.settleResource(tx, due, failure?.message ?? null, VERIFY_INTERVAL_MINUTES),
    );
  } catch (error) {
    log.error({ err: error, resourceId: due.id }, 'A resource could not be verified');
  }
}

/** The failure of a resource whose agent is away; null when the agent is connected. */
async function agentFailure(
  { database, engine }: TaskParts,
  { organizationId, resourceIdentifier: name }: DueResource,
): Promise<DriverError | null> {
  const secondsAway = await engine.agents.secondsAway(database.autocommit, organizationId, name);
  const absence = agentAbsence(name, secondsAway);
  return absence && new DriverError(absence.kind, absence.message);
}

async function verifyWithDriver({ database, engine, clouds }: TaskParts, due: DueResource): Promise<void> {
  const driver = await clouds.driver(due.provider, due.resourceType);
  const { resourceType, targetIdentifier: identifier, region, credentialId, writeVerified } = due;
  const access = { resourceType, identifier, region, credentialId, isProven: writeVerified };
  const target = await clouds.open(access, new Map());
  const { burst, refillPerSecond } = driver.traits.writeBudget;
  // a provider that allows few writes is asked when it has been left alone
  const size = { burst: Math.max(burst * SHARE, DRY_RUN_WRITES), refillPerSecond };
  const { autocommit } = database;
  const account = driver.accountKey(target);
  const turn = await engine.budgets.take(autocommit, account, size, DRY_RUN_WRITES, 0);
  if (turn === null) {
    const queued = { action: 'verify', calls: DRY_RUN_WRITES } as const;
    const inMs = await engine.budgets.enqueue(autocommit, account, size, queued, RETRY_MS);
    throw new DriverError('throttled', 'Waiting for the cloud account to allow more calls', inMs);
  }
  await driver.verify(target, due.config);
}
