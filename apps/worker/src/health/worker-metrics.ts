import type { Logger } from 'pino';
import type { ConvergenceObserver } from '#engine';
import { AgentWatchStore, type Backlog, BacklogStore, type LedgerRow } from '#engine-store';
import type { Database } from '#entities';
import type { QueueDepth } from '#jobs';
import { Counter, Gauge, Histogram, Registry } from '#metrics';
import type { DriverErrorKind, Provider } from '#rules';

/** Seconds; the guarantee is 5 normally, 60 after a fault. */
const LATENESS_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

const BACKLOG_GAUGES: readonly (readonly [
  name: string,
  help: string,
  value: (backlog: Backlog) => number,
])[] = [
  [
    'overdue_rules',
    'Rules that should have been out of the cloud for more than 5 seconds',
    ({ overdueRules }) => overdueRules,
  ],
  [
    'oldest_overdue_seconds',
    'For how long the oldest overdue rule should have been out',
    ({ oldestOverdueSeconds }) => oldestOverdueSeconds,
  ],
  ['due_rules', 'Rules that a pass is to settle, now or at their next retry', ({ dueRules }) => dueRules],
];

/** The second is the previous name, kept for one more release. */
const PASSES = ['drawbridge_passes_total', 'drawbridge_cloud_looks_total'];

/** The names of a gauge; the one without the prefix is kept for one more release. */
const namesOf = (name: string): string[] => [`drawbridge_${name}`, name];

/** The worker's Prometheus metrics. */
export class WorkerMetrics implements ConvergenceObserver {
  readonly registry = new Registry();
  private readonly passes: readonly Counter<'provider' | 'outcome'>[];
  private readonly lateness: Histogram<'provider'>;
  private readonly failures: Counter<'provider'>;
  private readonly events: Counter<'provider' | 'kind'>;

  /** @param log receives unexpected failures and rule events */
  constructor(private readonly log: Logger) {
    const { registry } = this;
    this.passes = PASSES.map(
      (name) =>
        new Counter({
          name,
          help: 'Passes over a target by outcome: ok, or the kind of error of the provider',
          labelNames: ['provider', 'outcome'],
          registers: [registry],
        }),
    );
    this.lateness = new Histogram({
      name: 'drawbridge_revocation_lateness_seconds',
      help: 'From the release of a holder until its rule was observed absent',
      labelNames: ['provider'],
      buckets: LATENESS_BUCKETS,
      registers: [registry],
    });
    this.failures = new Counter({
      name: 'drawbridge_unexpected_failures_total',
      help: 'Failures of the worker itself while it worked on rules: each has a line in its log',
      labelNames: ['provider'],
      registers: [registry],
    });
    this.events = new Counter({
      name: 'drawbridge_rule_events_total',
      help: 'Events of the rule ledger by kind: OPENED, CLOSED, MISSING and the others',
      labelNames: ['provider', 'kind'],
      registers: [registry],
    });
  }

  failed(provider: Provider, ruleIds: readonly string[], error: unknown): void {
    this.failures.inc({ provider });
    this.log.error({ err: error, provider, ruleIds }, 'Rules cannot be worked on; they are tried again');
  }

  passEnded(provider: Provider, outcome: 'ok' | DriverErrorKind): void {
    for (const counter of this.passes) counter.inc({ provider, outcome });
  }

  ruleClosed(provider: Provider, latenessSeconds: number): void {
    this.lateness.observe({ provider }, latenessSeconds);
  }

  /** Counts and logs each ledger event, one line with the ledger's fields. */
  eventsRecorded(events: readonly LedgerRow[]): void {
    for (const { kind, provider, ...event } of events) {
      this.events.inc({ provider, kind });
      this.log.info({ event: kind, provider, ...event }, `Rule ${kind.toLowerCase().replaceAll('_', ' ')}`);
    }
  }

  /** Registers gauges of pending work, read on each scrape. */
  watchBacklog(database: Database): void {
    const store = new BacklogStore();
    let reading: Promise<Backlog[]> | null = null;
    // a scrape collects the gauges together: one query for all of them
    const read = (): Promise<Backlog[]> => {
      reading ??= store.byProvider(database.autocommit).finally(() => (reading = null));
      return reading;
    };
    const gauges = BACKLOG_GAUGES.flatMap(([name, help, value]) =>
      namesOf(name).map((named) => [named, help, value] as const),
    );
    for (const [name, help, value] of gauges) {
      const gauge: Gauge<'provider'> = new Gauge({
        name,
        help,
        labelNames: ['provider'],
        registers: [this.registry],
        collect: async () => {
          const backlogs = await read();
          gauge.reset();
          for (const backlog of backlogs) gauge.set({ provider: backlog.provider }, value(backlog));
        },
      });
    }
  }

  /** Registers the gauge of connected and absent agents, read on each scrape. */
  watchAgents(database: Database): void {
    const store = new AgentWatchStore();
    const agents: Gauge<'state'> = new Gauge({
      name: 'agents',
      help: 'Agents that resources name: connected, or away for a minute and more',
      labelNames: ['state'],
      registers: [this.registry],
      collect: async () => {
        const { connected, away } = await store.count(database.autocommit);
        agents.set({ state: 'connected' }, connected);
        agents.set({ state: 'away' }, away);
      },
    });
  }

  /** Registers the gauge of waiting wake-ups, read on each scrape. */
  watchQueues(queues: QueueDepth): void {
    const depth = new Gauge({
      name: 'queue_depth',
      help: 'Wake-ups that wait for a worker; NaN while the queue is out of reach',
      labelNames: ['provider'],
      registers: [this.registry],
      collect: async () => {
        depth.reset();
        try {
          for (const { provider, waiting } of await queues.read()) depth.set({ provider }, waiting);
        } catch {
          // an unreachable queue must not fail the whole scrape
          depth.set({ provider: 'unknown' }, Number.NaN);
        }
      },
    });
  }
}
