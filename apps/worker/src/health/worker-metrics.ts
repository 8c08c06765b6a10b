import type { Logger } from 'pino';
import type { ConvergenceObserver, FailedChange } from '#engine';
import type { EngineStore, LedgerRow } from '#engine-store';
import type { Database } from '#entities';
import { Counter, Histogram, Registry, scrapedGauge } from '#metrics';
import { PROVIDERS, type ChangeAction, type Provider } from '#rules';
import type { RepeatedTask } from '../repeated-task';

/** Seconds; the guarantee is 5 normally, 60 after a fault. */
const LATENESS_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/** Kinds and causes of events that a person should look at: a removal was refused, or rules are not as they were left. */
const WARNINGS: ReadonlySet<string | null> = new Set([
  'REMOVAL_REFUSED',
  'CHANGED',
  'CHANGED_OUTSIDE',
  'DRIFT_REPAIRED',
  'ORPHAN',
  'STALE_RULE',
]);

/** Kinds that an alert counts. */
const OUTSIDE_CHANGES = ['MISSING', 'CHANGED'] as const;

/** The worker's Prometheus metrics. */
export class WorkerMetrics implements ConvergenceObserver {
  readonly registry = new Registry();
  private readonly passes = this.counter(
    'drawbridge_passes_total',
    'Passes over a target by outcome: ok, or why the target was not read or its first change was not done',
    ['provider', 'outcome'],
  );
  private readonly changes = this.counter(
    'drawbridge_changes_total',
    'Changes that were sent to a provider by outcome: done, as what they were refused, or unknown without an answer',
    ['provider', 'action', 'outcome'],
  );
  private readonly lateness = new Histogram({
    name: 'drawbridge_revocation_lateness_seconds',
    help: 'From the release of a holder until its rule was observed absent',
    labelNames: ['provider'],
    buckets: LATENESS_BUCKETS,
    registers: [this.registry],
  });
  private readonly failures = this.counter(
    'drawbridge_unexpected_failures_total',
    'Failures of the worker itself while it worked on rules: each has a line in its log',
    ['provider'],
  );
  private readonly events = this.counter(
    'drawbridge_rule_events_total',
    'Events of the rule ledger by kind: OPENED, CLOSED, MISSING and the others',
    ['provider', 'kind'],
  );

  /** @param log receives unexpected failures and rule events */
  constructor(private readonly log: Logger) {
    // the first increase of a counter that was not there before is none to Prometheus
    for (const provider of PROVIDERS) {
      this.failures.inc({ provider }, 0);
      this.lateness.zero({ provider });
      for (const kind of OUTSIDE_CHANGES) this.events.inc({ provider, kind }, 0);
    }
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  failed(provider: Provider, ruleIds: readonly string[], error: unknown): void {
    this.failures.inc({ provider });
    this.log.error({ err: error, provider, ruleIds }, 'Rules cannot be worked on; they are tried again');
  }

  passEnded(provider: Provider, outcome: 'ok' | FailedChange): void {
    this.passes.inc({ provider, outcome });
  }

  changeAnswered(provider: Provider, action: ChangeAction, outcome: 'done' | FailedChange): void {
    this.changes.inc({ provider, action, outcome });
  }

  ruleClosed(provider: Provider, latenessSeconds: number): void {
    this.lateness.observe({ provider }, latenessSeconds);
  }

  /** Counts and logs each ledger event, one line with the ledger's fields. */
  eventsRecorded(events: readonly LedgerRow[]): void {
    for (const { kind, provider, ...event } of events) {
      this.events.inc({ provider, kind });
      const level = WARNINGS.has(kind) || WARNINGS.has(event.cause) ? 'warn' : 'info';
      this.log[level]({ event: kind, provider, ...event }, `Rule ${kind.toLowerCase().replaceAll('_', ' ')}`);
    }
  }

  /** Registers the gauge of connected and absent agents. */
  watchAgents(database: Database, { watch }: EngineStore): void {
    scrapedGauge(
      this.registry,
      {
        name: 'drawbridge_agents',
        help: 'Agents that resources name: connected, or away for a minute and more',
        labelNames: ['state'],
      },
      async () => {
        const { connected, away } = await watch.count(database.autocommit);
        return [
          [{ state: 'connected' }, connected],
          [{ state: 'away' }, away],
        ];
      },
      ['connected', 'away'].map((state) => [{ state }, Number.NaN]),
    );
  }

  /** Registers the gauge of late repeated tasks. */
  watchTasks(tasks: readonly RepeatedTask[]): void {
    scrapedGauge(
      this.registry,
      {
        name: 'drawbridge_task_overdue_seconds',
        help: 'For how long a successful run of a repeated task of this worker is late; 0 while none is',
        labelNames: ['task'],
      },
      async () => tasks.map(({ name, overdueSeconds }) => [{ task: name }, overdueSeconds]),
      [],
    );
  }
}
