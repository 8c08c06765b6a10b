import type { Backlog } from '#engine-store';
import type { EnginePort } from '#engine-store/port';
import { type Database, WriteProbe } from '#entities';
import type { QueueConnection } from '#jobs';
import { answerWithin, type Registry, scrapedGauge } from '#metrics';
import { PROVIDERS } from '#rules';

const ANSWER_TIMEOUT_MS = 2000;
/** Probes of one second share an answer: anybody may ask. */
const MIN_INTERVAL_MS = 1000;
/** A sweep starts at least once a second; one that waits for a lock times out after 15 s. */
export const SWEEP_TIMEOUT_MS = 20_000;

export const RESTORED =
  'the database was restored from a backup: nothing is opened until drawbridge-admin restored --confirm';

export interface HealthReport {
  /**
   * DEGRADED: requests are served, but rules are applied and removed late, or not until an operator confirms. DOWN: the database does not answer or accepts no
   * writes
   */
  readonly status: 'UP' | 'DEGRADED' | 'DOWN';
  /** RESTORED: from a backup, and no operator has confirmed that */
  readonly database: 'UP' | 'RESTORED' | 'DOWN';
  readonly queue: 'UP' | 'DOWN';
  /** AWAY: no worker has swept for `SWEEP_TIMEOUT_MS`, or it is unknown */
  readonly worker: 'UP' | 'AWAY';
}

const BACKLOG_GAUGES: readonly (readonly [
  name: string,
  help: string,
  value: (backlog: Backlog) => number,
])[] = [
  [
    'drawbridge_overdue_rules',
    'Rules that should have been out of the cloud for more than 5 seconds',
    ({ overdueRules }) => overdueRules,
  ],
  [
    'drawbridge_oldest_overdue_seconds',
    'For how long the oldest overdue rule should have been out',
    ({ oldestOverdueSeconds }) => oldestOverdueSeconds,
  ],
  [
    'drawbridge_due_rules',
    'Rules that a pass is to settle, now or at their next retry',
    ({ dueRules }) => dueRules,
  ],
];

/** The health of the whole deployment as any process sees it in the database and the queue. */
export class DeploymentHealth {
  private readonly writes: WriteProbe;
  private last: Promise<HealthReport> | null = null;
  private lastAt = 0;

  constructor(
    private readonly database: Database,
    private readonly queue: QueueConnection,
    private readonly engine: EnginePort,
  ) {
    this.writes = new WriteProbe(database);
  }

  /** Never rejects: what does not answer in time is DOWN or AWAY. */
  report(): Promise<HealthReport> {
    const now = performance.now();
    if (this.last === null || now - this.lastAt >= MIN_INTERVAL_MS) {
      this.last = this.check();
      this.lastAt = now;
    }
    return this.last;
  }

  private async check(): Promise<HealthReport> {
    const condition = this.condition();
    const [database, queue, worker, isRestored] = await Promise.all([
      isTrue(this.writes.check().then(() => true)),
      isTrue(this.queue.ping().then(() => true)),
      isTrue(condition.then(({ secondsSinceSweep }) => secondsSinceSweep * 1000 < SWEEP_TIMEOUT_MS)),
      isTrue(condition.then((known) => known.isRestored)),
    ]);
    return {
      status: database ? (queue && worker && !isRestored ? 'UP' : 'DEGRADED') : 'DOWN',
      database: database ? (isRestored ? 'RESTORED' : 'UP') : 'DOWN',
      queue: queue ? 'UP' : 'DOWN',
      worker: worker ? 'UP' : 'AWAY',
    };
  }

  private async condition(): Promise<{ secondsSinceSweep: number; isRestored: boolean }> {
    const { secondsSinceSweep, isRestored } = await this.engine.backlog.condition(this.database.autocommit);
    return { secondsSinceSweep: secondsSinceSweep ?? Infinity, isRestored };
  }

  /** Registers gauges of what this process reaches, of pending work and of the last sweep, read on each scrape. */
  watch(registry: Registry, component: 'api' | 'worker'): void {
    const reached = ({ database, queue }: Pick<HealthReport, 'database' | 'queue'>) =>
      Object.entries({ database, queue }).map(
        ([dependency, state]) => [{ component, dependency }, state === 'DOWN' ? 0 : 1] as const,
      );
    scrapedGauge(
      registry,
      {
        name: 'drawbridge_dependency_up',
        help: '1: it answers this process and accepts writes; 0: it does not',
        labelNames: ['component', 'dependency'],
      },
      async () => reached(await this.report()),
      reached({ database: 'DOWN', queue: 'DOWN' }),
    );
    let reading: Promise<Backlog[]> | null = null;
    // a scrape collects the gauges together: one query for all of them
    const read = (): Promise<Backlog[]> => {
      reading ??= this.engine.backlog.byProvider(this.database.autocommit).finally(() => (reading = null));
      return reading;
    };
    for (const [name, help, value] of BACKLOG_GAUGES)
      scrapedGauge(
        registry,
        { name, help, labelNames: ['provider'] },
        async () => (await read()).map((backlog) => [{ provider: backlog.provider }, value(backlog)]),
        PROVIDERS.map((provider) => [{ provider }, Number.NaN]),
      );
    scrapedGauge(
      registry,
      {
        name: 'drawbridge_sweep_age_seconds',
        help: 'Since the last successful sweep of any worker; +Inf: none is known, or the database does not answer',
        labelNames: [],
      },
      async () => [[{}, (await this.condition()).secondsSinceSweep]],
      // not NaN: an alert that compares it with a limit has to fire
      [[{}, Infinity]],
    );
    scrapedGauge(
      registry,
      {
        name: 'drawbridge_restore_hold',
        help: '1: the database was restored from a backup, and nothing is opened until drawbridge-admin restored --confirm',
        labelNames: [],
      },
      async () => [[{}, Number((await this.condition()).isRestored)]],
      [[{}, Number.NaN]],
    );
  }
}

/** Whether the work succeeds with true in time. Errors are not logged: the report conveys them. */
const isTrue = (work: Promise<boolean>): Promise<boolean> =>
  answerWithin(ANSWER_TIMEOUT_MS, work).catch(() => false);

/** What is wrong, for people; null: nothing. */
export function problemOf({ database, queue, worker }: HealthReport): string | null {
  if (database === 'DOWN') return 'the database does not answer, or accepts no writes';
  const problems = [
    ...(database === 'RESTORED' ? [RESTORED] : []),
    ...(worker === 'AWAY' ? ['no worker has swept for 20 seconds'] : []),
    ...(queue === 'DOWN' ? ['the queue does not answer, or accepts no writes'] : []),
  ];
  return problems.length === 0 ? null : problems.join('; ');
}
