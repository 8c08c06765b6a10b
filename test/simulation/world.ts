import type { Logger } from 'pino';
import type { CloudTarget, DriverTraits } from '#drivers';
import type { OrganizationId } from '#rules';
import {
  type CloudWays,
  type Convergence,
  ConvergenceRunner,
  Converger,
  type HandOut,
  Reconciler,
  Sweeper,
} from '#engine';
import { AtRest } from './at-rest';
import { Chance } from './chance';
import { Faults } from './faults';
import { CloudObject, type CloudWatcher } from './model-cloud';
import { ModelDriver, type ReadView } from './model-driver';
import { ConnectionLost, connectModel, type ModelStores } from './model/model-database';
import { ModelSweeperLease } from './model/leases';
import { ModelOverdue } from './model/overdue';
import { ModelSweep } from './model/sweep';
import { Tables } from './model/tables';
import { Oracles, type Violation } from './oracles';
import { Scheduler } from './scheduler';
import { SimulatedProcess } from './simulated-process';
import { Tenants } from './tenants';

/** After the last fault: to settle, and then to rest. */
const REST_MS = 100_000;
const SWEEP_MS = 1000;
const SWEEPER_LEASE_SECONDS = 3;
/** The overdue alarm's. */
const ALARM_MS = 5000;
const OVERDUE_AFTER_SECONDS = 55;
const OVERDUE_BATCH_SIZE = 500;
const NEVER_STOPPING = new AbortController().signal;

const TRAITS: readonly DriverTraits[] = [
  {
    batchSize: 500,
    writeBudget: { burst: 50, refillPerSecond: 5 },
    writeSpacing: { usualMs: 1500, burstMs: 4000, burstSize: 20 },
    callTimeoutMs: 5000,
  },
  {
    batchSize: 2,
    writeBudget: { burst: 8, refillPerSecond: 2 },
    writeSpacing: { usualMs: 0, burstMs: 500, burstSize: 2 },
    callTimeoutMs: 5000,
  },
];

interface Worker {
  readonly process: SimulatedProcess;
  readonly runner: ConvergenceRunner;
}

/** One seed's world: the product's engine, between a database, clouds, people and faults that are all made up. */
export class World {
  private readonly scheduler = new Scheduler();
  private readonly chance: Chance;
  private readonly tables = new Tables(() => this.scheduler.now);
  private readonly objects = new Map<string, CloudObject>();
  private readonly views = new Map<string, ReadView>();
  private readonly workers: (Worker | null)[] = [];
  private readonly faults: Faults;
  private readonly oracles: Oracles;
  private readonly overdueModel = new ModelOverdue(this.tables);
  private readonly sweepModel = new ModelSweep(this.tables);
  private readonly sweeperLeaseModel = new ModelSweeperLease(this.tables);
  private readonly traits: DriverTraits;
  /** of each worker */
  private readonly slots: number;

  /** @param history where what happens is written down; null: nowhere */
  constructor(
    seed: number,
    private readonly history: string[] | null,
  ) {
    this.chance = new Chance(seed);
    const tell = (words: string): void => this.tell(words);
    this.faults = new Faults(this.scheduler, this.chance, tell);
    this.oracles = new Oracles(this.tables, this.faults, this.objects, tell);
    this.tables.watcher = this.oracles;
    this.traits = this.faults.isHealthy ? TRAITS[0]! : this.chance.pick(TRAITS);
    this.slots = this.chance.pick([1, 4]);
    this.furnish(this.oracles);
    this.faults.plan([...this.objects.values()], [...this.tables.credentials.keys()]);
  }

  /** @returns what must not happen and did */
  async run(): Promise<readonly Violation[]> {
    const count = this.chance.whole(1, 3);
    for (let slot = 0; slot < count; slot += 1) this.startWorker(slot, 1);
    const wake = (targetIds: readonly string[]): void => this.wake(targetIds);
    const tenants = new Tenants(
      this.scheduler,
      this.chance,
      this.tables,
      this.objects,
      this.faults,
      this.oracles,
      wake,
      (words) => this.tell(words),
    );
    tenants.begin();
    this.watchLeaks();
    this.watchReports();
    await this.scheduler.runUntil(this.faults.calmAt);
    // who stands still or is dead when the calm begins is awake some time after
    await this.scheduler.runUntil(Math.max(this.faults.calmAt, this.faults.endsAt) + REST_MS);
    new AtRest(this.tables, this.faults, this.objects, this.oracles).check();
    return this.oracles.violations;
  }

  private tell(words: string): void {
    this.history?.push(`${(this.scheduler.now / 1000).toFixed(3).padStart(8)} ${words}`);
  }

  private furnish(watcher: CloudWatcher): void {
    const organizations = ['org-a', 'org-b'].slice(0, this.chance.whole(1, 2)) as OrganizationId[];
    for (const name of ['sg-1', 'sg-2'].slice(0, this.chance.whole(1, 2))) this.addObject(name, watcher);
    for (const organization of organizations) {
      this.addCredential(`${organization}-key`, organization);
      if (this.chance.happens(0.3)) this.addCredential(`${organization}-key-2`, organization);
      const resources = this.chance.whole(1, 2);
      for (let index = 0; index < resources; index += 1) this.addResource(organization, index);
    }
  }

  private addCredential(id: string, organizationId: OrganizationId): void {
    this.tables.credentials.set(id, { organizationId, deniedUntil: null, denials: 0 });
  }

  private addObject(identifier: string, watcher: CloudWatcher): void {
    const object = new CloudObject(identifier, watcher);
    if (!this.faults.isHealthy && this.chance.happens(0.15)) object.quota = this.chance.whole(1, 3);
    this.objects.set(identifier, object);
    const id = this.tables.newId();
    this.tables.targets.set(id, {
      id,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      identifier,
      leaseUntil: null,
      leaseGeneration: 0,
      lastWriteAt: null,
      lastWriteSize: 0,
      inFlightUntil: null,
      reconcileDueAt: this.chance.between(0, 600_000),
      reconcileRequested: false,
      comparedAt: null,
      unmanagedDigest: null,
      accountedTo: 'org-a',
    });
  }

  private addResource(organizationId: OrganizationId, index: number): void {
    const id = this.tables.newId();
    const own = [...this.tables.credentials].filter(([, owner]) => owner.organizationId === organizationId);
    this.tables.resources.set(id, {
      id,
      organizationId,
      name: `${organizationId}-${index}`,
      config: this.chance.happens(0.7) ? { port: 22 } : { ports: [22, 443] },
      credentialId: this.chance.pick(own)[0],
      region: null,
      targetId: this.chance.pick([...this.tables.targets.keys()]),
      isActive: true,
      writeVerified: this.chance.happens(0.8),
      revision: 0,
      deletedAt: null,
    });
  }

  private startWorker(slot: number, life: number): void {
    const name = `worker-${slot + 1}.${life}`;
    this.tell(`${name} starts`);
    const process = new SimulatedProcess(
      name,
      this.scheduler,
      this.chance,
      (who, step) => this.faults.mishap(who, step),
      () => {
        this.workers[slot] = null;
        const back = this.scheduler.now + this.chance.between(500, 15_000);
        this.faults.lasts(`${name} is down`, back);
        this.scheduler.at(back, () => this.startWorker(slot, life + 1));
      },
    );
    const stores = this.connect(process);
    const runner = this.runner(process, stores);
    this.workers[slot] = { process, runner };
    const handOut: HandOut = (woken) => this.wake(woken.flatMap(({ targetIds }) => targetIds));
    const sweeper = new Sweeper(
      stores.database,
      stores.sweep,
      stores.sweeperLease,
      runner,
      handOut,
      name,
      () => process.now(),
      this.log(process),
    );
    this.sweepAgain(process, sweeper);
  }

  private connect(process: SimulatedProcess): ModelStores {
    return connectModel(this.tables, process, {
      took: (lease) => this.oracles.took(process, lease),
      due: (rows) => this.oracles.dueTo(process, rows),
    });
  }

  private runner(process: SimulatedProcess, stores: ModelStores): ConvergenceRunner {
    const driver = new ModelDriver(
      this.traits,
      process,
      this.scheduler,
      this.chance,
      this.objects,
      this.views,
      this.faults,
      this.oracles,
    );
    const clouds: CloudWays = {
      driver: () => Promise.resolve(driver),
      open: ({ credentialId, ...place }, claims) =>
        process.ask('credential', () => wayInto(credentialId, place, claims)),
    };
    const reconciler = new Reconciler(stores.database, stores, clouds, process, process.name);
    const observer = {
      passEnded: () => undefined,
      ruleClosed: () => undefined,
      eventsRecorded: () => undefined,
      failed: (_: unknown, __: unknown, error: unknown) => this.unexpected(process, error),
    };
    const converger = new Converger(
      stores.database,
      stores,
      clouds,
      reconciler,
      observer,
      process,
      process.name,
    );
    const { database, sweep } = stores;
    const convergence: Convergence = {
      converge: ({ targetId }, stopping) => converger.converge(targetId, stopping),
      handOver: () => converger.handOver(),
    };
    return new ConvergenceRunner(database, sweep, convergence, this.slots, process, this.log(process));
  }

  private sweepAgain(process: SimulatedProcess, sweeper: Sweeper): void {
    const next = (): void =>
      this.scheduler.in(SWEEP_MS, () => process.step('sweep', () => this.sweepAgain(process, sweeper)));
    if (this.sweepModel.isIdle()) {
      this.sweeperLeaseModel.take(process.name, SWEEPER_LEASE_SECONDS);
      next();
      return;
    }
    void this.swept(process, sweeper).finally(next);
  }

  private async swept(process: SimulatedProcess, sweeper: Sweeper): Promise<void> {
    try {
      await sweeper.sweep(NEVER_STOPPING);
    } catch (error) {
      this.unexpected(process, error);
    }
  }

  private log(process: SimulatedProcess): Logger {
    const error = ({ err }: { err: unknown }): void => this.unexpected(process, err);
    return { info: () => undefined, error } as unknown as Logger;
  }

  private unexpected(process: SimulatedProcess, error: unknown): void {
    if (error instanceof ConnectionLost) return;
    if (error instanceof AggregateError) {
      for (const one of error.errors) this.unexpected(process, one);
      return;
    }
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.oracles.violated('error', `${process.name}: ${words}`);
  }

  /** Wake-ups are lost, late, and come twice. */
  private wake(targetIds: readonly string[]): void {
    for (const targetId of targetIds) {
      const copies = this.chance.happens(0.1) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        if (this.faults.losesWakeUp()) continue;
        const ms = this.chance.happens(0.9) ? this.chance.between(2, 50) : this.chance.between(50, 5000);
        this.scheduler.in(ms, () => {
          const worker = this.chance.pick(this.workers);
          worker?.process.step('woken', () => void this.woken(worker, targetId));
        });
      }
    }
  }

  private async woken({ process, runner }: Worker, targetId: string): Promise<void> {
    try {
      await runner.wake(targetId);
    } catch (error) {
      this.unexpected(process, error);
    }
  }

  private watchLeaks(): void {
    this.oracles.leaks();
    this.oracles.gaps();
    this.oracles.overdue();
    this.scheduler.in(500, () => this.watchLeaks());
  }

  /** The overdue alarm, and somebody who asks for the access report now and then. */
  private watchReports(): void {
    this.overdueModel.recordOverdue(OVERDUE_AFTER_SECONDS, OVERDUE_BATCH_SIZE);
    if (this.chance.happens(0.1)) this.oracles.accessReport();
    this.scheduler.in(ALARM_MS, () => this.watchReports());
  }
}

const wayInto = (
  credentialId: string,
  place: Pick<CloudTarget, 'resourceType' | 'identifier' | 'region'>,
  claims: CloudTarget['claims'],
): CloudTarget => ({
  ...place,
  claims,
  deployment: 'simulation',
  credential: { credentialType: 'ACCESS_KEY', data: { id: credentialId }, externalId: null },
});
