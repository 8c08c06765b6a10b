import type { Logger } from 'pino';
import type { CloudTarget, DriverTraits } from '#drivers';
import {
  type CloudAccessPort,
  type Convergence,
  ConvergenceRunner,
  Converger,
  recordOverdue,
  type TargetDispatcher,
  Reconciler,
  Sweeper,
} from '#engine';
import { AtRest } from './at-rest';
import { EventOracles } from './event-oracles';
import { Faults } from './faults';
import { InitialRows } from './initial-rows';
import type { ModelTarget } from './model-cloud';
import { ModelDriver, type ReadView } from './model-driver';
import { confirmRestore } from './memory-sweep';
import { ConnectionLost, connectMemory, type MemoryStores } from './memory-database';
import { Tables } from './tables';
import { OracleState, type Violation } from './oracle-state';
import { PeriodicOracles } from './periodic-oracles';
import { Scheduler } from './scheduler';
import { SeededRandom } from './seeded-random';
import { SimulatedProcess } from './simulated-process';
import { Tenants } from './tenants';
import { Timeline } from './timeline';

/** Time after the last fault until the final check: the state settles, then nothing happens for a while. */
const REST_MS = 100_000;
const SWEEP_INTERVAL_MS = 1000;
/** Of the overdue alarm. */
const ALARM_INTERVAL_MS = 5000;
const OVERDUE_BATCH_SIZE = 500;
/** One of so many: none of those that `simulation.spec.ts` names. */
const RESTORED_SEEDS = 10;
/** In one history of so many, the clouds end rules by themselves. */
const ENDING_SEEDS = 15;
const NEVER_ABORTED = new AbortController().signal;

const TRAITS: readonly DriverTraits[] = [
  {
    batchSize: 500,
    refusesDuplicates: true,
    writeBudget: { burst: 50, refillPerSecond: 5 },
    writeSpacing: { usualMs: 2000, burstMs: 4000, burstSize: 20 },
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

/** The history of one seed: the product's engine with its rows in memory, the clouds, the tenants and faults. */
export class World {
  private readonly scheduler = new Scheduler();
  private readonly random: SeededRandom;
  private readonly tables = new Tables(() => this.scheduler.now);
  private readonly modelTargets = new Map<string, ModelTarget>();
  private readonly views = new Map<string, ReadView>();
  private readonly workers: (Worker | null)[] = [];
  private readonly faults: Faults;
  private readonly state: OracleState;
  private readonly oracles: EventOracles;
  private readonly periodic: PeriodicOracles;
  /** of nobody: it asks at once, and does not fail */
  private readonly alarm = connectMemory(
    this.tables,
    { ask: (_, work) => Promise.resolve(work()) },
    { took: () => undefined, due: () => undefined },
  );
  private readonly traits: DriverTraits;
  /** parallel passes of each worker */
  private readonly slots: number;

  /** @param history receives one line for each event; null: none is kept */
  constructor(
    seed: number,
    private readonly history: string[] | null,
  ) {
    this.random = new SeededRandom(seed);
    const log = (message: string): void => this.log(message);
    this.faults = new Faults(this.scheduler, this.random, log);
    this.state = new OracleState(this.tables, log);
    const timeline = new Timeline(this.tables);
    this.oracles = new EventOracles(this.state, this.modelTargets, timeline);
    this.periodic = new PeriodicOracles(this.state, this.faults, this.modelTargets, timeline);
    this.tables.watcher = this.oracles;
    this.traits = this.faults.isHealthy ? TRAITS[0]! : this.random.pick(TRAITS);
    this.slots = this.random.pick([1, 4]);
    const { isHealthy } = this.faults;
    const rulesEnd = seed % ENDING_SEEDS === 0;
    new InitialRows(this.tables, this.modelTargets, this.random, this.oracles, !isHealthy, rulesEnd).create();
    this.faults.plan([...this.modelTargets.values()], [...this.tables.credentials.keys()]);
    if (seed % RESTORED_SEEDS === 0) this.beginRestored(new SeededRandom(seed));
  }

  /** The history begins with a restored database, until an operator confirms. */
  private beginRestored(random: SeededRandom): void {
    const confirmedAt = random.between(5000, 35_000);
    this.tables.isRestored = true;
    this.faults.register('the database was restored', confirmedAt);
    this.scheduler.at(confirmedAt, () => confirmRestore(this.tables));
  }

  /** @returns the violations found */
  async run(): Promise<readonly Violation[]> {
    const count = this.random.whole(1, 3);
    for (let slot = 0; slot < count; slot += 1) this.startWorker(slot, 1);
    const wake = (targetIds: readonly string[]): void => this.wake(targetIds);
    const tenants = new Tenants(
      this.scheduler,
      this.random,
      this.tables,
      this.modelTargets,
      this.faults,
      this.state,
      this.oracles,
      wake,
      (message) => this.log(message),
    );
    tenants.begin();
    this.scheduleChecks();
    this.scheduleReports();
    await this.scheduler.runUntil(this.faults.calmAt);
    // a process that is paused or down when the calm begins continues some time later
    await this.scheduler.runUntil(Math.max(this.faults.calmAt, this.faults.endsAt) + REST_MS);
    new AtRest(this.tables, this.faults, this.modelTargets, this.state, this.periodic).check();
    return this.state.violations;
  }

  private log(message: string): void {
    this.history?.push(`${(this.scheduler.now / 1000).toFixed(3).padStart(8)} ${message}`);
  }

  private startWorker(slot: number, life: number): void {
    const name = `worker-${slot + 1}.${life}`;
    this.log(`${name} starts`);
    const process = new SimulatedProcess(
      name,
      this.scheduler,
      this.random,
      (_, step) => this.faults.processFault(name, step),
      () => {
        this.workers[slot] = null;
        const restartAt = this.scheduler.now + this.random.between(500, 15_000);
        this.faults.register(`${name} is down`, restartAt);
        this.scheduler.at(restartAt, () => this.startWorker(slot, life + 1));
      },
    );
    const stores = this.connect(process);
    const runner = this.runner(process, stores);
    this.workers[slot] = { process, runner };
    const dispatch: TargetDispatcher = (woken) => this.wake(woken.flatMap(({ targetIds }) => targetIds));
    const sweeper = new Sweeper(
      stores.database,
      stores,
      runner,
      dispatch,
      name,
      () => process.now(),
      this.logger(process),
    );
    this.scheduleSweeps(process, sweeper);
  }

  private connect(process: SimulatedProcess): MemoryStores {
    return connectMemory(this.tables, process, {
      took: (lease) => this.oracles.leaseTaken(process, lease),
      due: (rows) => this.oracles.dueRulesRead(process, rows),
    });
  }

  private runner(process: SimulatedProcess, stores: MemoryStores): ConvergenceRunner {
    const driver = new ModelDriver(
      this.traits,
      process,
      this.scheduler,
      this.random,
      this.modelTargets,
      this.views,
      this.faults,
      this.oracles,
    );
    const clouds: CloudAccessPort = {
      driver: () => Promise.resolve(driver),
      open: ({ credentialId, ...target }, claims) =>
        process.ask('credential', () => cloudTarget(credentialId, target, claims)),
    };
    const reconciler = new Reconciler(stores.database, stores, clouds, process, process.name);
    const observer = {
      passEnded: () => undefined,
      changeAnswered: () => undefined,
      ruleClosed: () => undefined,
      eventsRecorded: () => undefined,
      failed: (_: unknown, __: unknown, error: unknown) => this.fail(process, error),
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
    return new ConvergenceRunner(
      database,
      sweep,
      convergence,
      { capacity: this.slots, timing: process },
      this.logger(process),
    );
  }

  private scheduleSweeps(process: SimulatedProcess, sweeper: Sweeper): void {
    const next = (): void =>
      this.scheduler.in(SWEEP_INTERVAL_MS, () =>
        process.step('sweep', () => this.scheduleSweeps(process, sweeper)),
      );
    void this.sweep(process, sweeper).finally(next);
  }

  private async sweep(process: SimulatedProcess, sweeper: Sweeper): Promise<void> {
    try {
      await sweeper.sweep(NEVER_ABORTED);
    } catch (error) {
      this.fail(process, error);
    }
  }

  private logger(process: SimulatedProcess): Logger {
    const error = ({ err }: { err: unknown }): void => this.fail(process, err);
    return { info: () => undefined, error } as unknown as Logger;
  }

  private fail(process: SimulatedProcess, error: unknown): void {
    if (error instanceof ConnectionLost) return;
    if (error instanceof AggregateError) {
      for (const one of error.errors) this.fail(process, one);
      return;
    }
    const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.state.violated('error', `${process.name}: ${details}`);
  }

  /** Wake-ups may be lost, delayed or duplicated. */
  private wake(targetIds: readonly string[]): void {
    for (const targetId of targetIds) {
      const copies = this.random.happens(0.1) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        if (this.faults.losesWakeUp()) continue;
        const ms = this.random.happens(0.9) ? this.random.between(2, 50) : this.random.between(50, 5000);
        this.scheduler.in(ms, () => {
          const worker = this.random.pick(this.workers);
          worker?.process.step('woken', () => void this.deliverWakeUp(worker, targetId));
        });
      }
    }
  }

  private async deliverWakeUp({ process, runner }: Worker, targetId: string): Promise<void> {
    try {
      await runner.wake(targetId);
    } catch (error) {
      this.fail(process, error);
    }
  }

  private scheduleChecks(): void {
    this.periodic.check();
    this.scheduler.in(500, () => this.scheduleChecks());
  }

  /** Runs the overdue alarm, and now and then requests the access report. */
  private scheduleReports(): void {
    void this.alarm.database.transaction((tx) => recordOverdue(tx, this.alarm, OVERDUE_BATCH_SIZE));
    if (this.random.happens(0.1)) this.periodic.accessReport();
    this.scheduler.in(ALARM_INTERVAL_MS, () => this.scheduleReports());
  }
}

const cloudTarget = (
  credentialId: string,
  target: Pick<CloudTarget, 'resourceType' | 'identifier' | 'region'>,
  claims: CloudTarget['claims'],
): CloudTarget => ({
  ...target,
  claims,
  deployment: 'simulation',
  credential: { credentialType: 'ACCESS_KEY', data: { id: credentialId }, externalId: null, identity: null },
});
