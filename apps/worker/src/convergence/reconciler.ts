import { DriverError, type CloudTarget, type ProviderDriver } from '#drivers';
import {
  closing,
  type Access,
  type LeaseStore,
  type ReconcileOutcome,
  type ReconcileStore,
  type ReconcileWay,
  type Transactions,
  type Tx,
} from '#entities';
import {
  claimsOf,
  findDrift,
  PASSING_KINDS,
  superfluous,
  type Drift,
  type ObservedRule,
  type SuperfluousRule,
} from '#rules';
import type { CloudWays } from '../clouds/cloud-access';
import { LeaseLost, type HeldLease } from './held-lease';

/** After a failure that may pass: not ten minutes later. */
const AGAIN_SECONDS = 30;

interface Look {
  readonly way: ReconcileWay;
  readonly observed: ObservedRule[] | DriverError;
}

/** Compares a whole cloud object with the database: what was changed by other hands becomes due. */
export class Reconciler {
  constructor(
    private readonly database: Transactions,
    private readonly leases: Pick<LeaseStore, 'lock'>,
    private readonly store: Pick<ReconcileStore, keyof ReconcileStore>,
    private readonly clouds: CloudWays,
  ) {}

  /** Call it under the lease, when nothing is due. @throws LeaseLost */
  async reconcile(held: HeldLease, driver: ProviderDriver): Promise<void> {
    const begun = await this.store.begin(this.database.autocommit, held.lease);
    if (!begun) return;
    // the database first: what starts between the two looks is then no drift
    const known = await this.store.known(this.database.autocommit, held.lease);
    const claims = claimsOf(known);
    const looks: Look[] = [];
    for (const way of await this.store.ways(this.database.autocommit, held.lease)) {
      await held.keep();
      looks.push({ way, observed: await this.look(held, driver, way.access, claims) });
    }
    const seen = looks.flatMap(({ way, observed }) =>
      observed instanceof DriverError ? [] : [{ way, observed }],
    )[0];
    const drift = seen && findDrift(known, seen.observed);
    await held.keep();
    await closing((trail) =>
      this.database.transaction(async (tx) => {
        if (!(await this.leases.lock(tx, held.lease))) throw new LeaseLost(held.lease.targetId);
        await this.store.finish(tx, held.lease.targetId, begun);
        await this.planNext(tx, held, looks, begun.requested);
        const damped = seen ? await this.store.makeDue(tx, held.lease, drift!, seen.way.access) : [];
        for (const outcome of outcomes(looks, drift, damped.length)) {
          await this.store.record(tx, outcome, begun.requested);
        }
        if (drift) {
          const resources = looks.flatMap(({ way }) => way.resources);
          await this.store.auditOrphans(tx, trail, drift, resources);
        }
      }),
    );
  }

  /** Rules of ours that stand in the object and nobody wants. */
  async superfluous(held: HeldLease, observed: readonly ObservedRule[]): Promise<SuperfluousRule[]> {
    return superfluous(await this.store.known(this.database.autocommit, held.lease), observed);
  }

  /** Gives up an object that was gone twice; looks again soon at what may pass, and seldom at what cannot be seen. */
  private async planNext(tx: Tx, held: HeldLease, looks: readonly Look[], requested: boolean): Promise<void> {
    let soon = false;
    for (const { way, observed } of looks) {
      const missing = observed instanceof DriverError && observed.kind === 'target-missing';
      const noted = await this.store.noteMissing(tx, held.lease, way.access, missing);
      if (noted === 'gone') await this.store.giveUpTarget(tx, held.lease, way);
      soon ||= noted === 'doubted' || (observed instanceof DriverError && PASSING_KINDS.has(observed.kind));
    }
    const { targetId } = held.lease;
    if (soon) await this.store.ask(tx, targetId, AGAIN_SECONDS, requested);
    else if (looks.every(({ observed }) => observed instanceof DriverError))
      await this.store.putOff(tx, targetId);
  }

  /** Asks for one a while after a write that nobody heard of: landing late, it may undo what came after it. */
  askIn(held: HeldLease, seconds: number): Promise<void> {
    return this.store.ask(this.database.autocommit, held.lease.targetId, seconds, false);
  }

  private async look(
    held: HeldLease,
    driver: ProviderDriver,
    access: Access,
    claims: CloudTarget['claims'],
  ): Promise<ObservedRule[] | DriverError> {
    try {
      return await driver.readRules(await this.clouds.open({ ...held.place, ...access }, claims));
    } catch (error) {
      if (error instanceof DriverError) return error;
      throw error;
    }
  }
}

/** What to tell each resource; nothing after a failure that may pass. */
function outcomes(looks: readonly Look[], drift: Drift | undefined, damped: number): ReconcileOutcome[] {
  return looks.flatMap(({ way, observed }) => {
    if (!(observed instanceof DriverError))
      return [{ resources: way.resources, message: driftWords(drift!, damped) }];
    if (PASSING_KINDS.has(observed.kind)) return [];
    return [{ resources: way.resources, message: `It could not be read: ${observed.message}` }];
  });
}

/** null when there is none. */
function driftWords({ missing, lingering, orphans, taken, foreign }: Drift, damped: number): string | null {
  const extra = lingering.length + orphans.length;
  const words = [
    missing.length > damped ? `${missing.length - damped} missing, added again` : null,
    damped > 0 ? `${damped} missing, left alone for an hour: something keeps taking it out` : null,
    extra > 0 ? `${extra} of ours that nobody needs, removed` : null,
    taken.length > 0 ? `${taken.length} of ours that lost our mark, left to whoever took it` : null,
  ].filter((part) => part !== null);
  if (words.length === 0) return null;
  return `Rules changed by other hands: ${words.join('; ')} (${foreign} of others left alone)`;
}
