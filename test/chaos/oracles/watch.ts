import { DatabaseError } from 'pg';
import { organizationsOf } from '../../builders/accounts/organization';
import type { Drawbridge } from '../../harness/product/drawbridge';
import type { CloudCall, OpenRule, TimelineEntry } from '../../harness/product/simulator-client';
import type { Call, CloudEvent, CloudRule, Evidence, FaultWindow, KeyedAnswer } from './evidence';
import { INSTALL_HISTORY } from './history-triggers';
import { ledgerEvidence } from './ledger-evidence';
import { judgeEvidence } from './oracles';
import { bareAddress } from './rule-name';
import { storedEvidence } from './stored-evidence';

const IDLE_TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 100;

export interface VerifyOptions {
  /** maximum time to wait until nothing is due; default 90 s */
  readonly withinMs?: number;
  /** false: verify the current state without waiting */
  readonly waitsUntilIdle?: boolean;
}

/** The parts of a deployment that a watch needs. */
export type Watched = Pick<Drawbridge, 'cloud' | 'query' | 'databaseUrl'>;

export interface WatchOptions {
  /** number of access reports requested by each check */
  readonly reports?: number;
  /** for the moments of the reports */
  readonly seed?: number;
  /** added to every bound; default 55 s: a test runs beside others, so what is 5 s without a fault is a minute */
  readonly patienceMs?: number;
}

const DEFAULT_REPORTS = 16;
const DEFAULT_PATIENCE_MS = 55_000;

const DEADLOCK = '40P01';
const MAX_ATTEMPTS = 5;

/** Triggers lock tables in use: PostgreSQL may choose this transaction as a deadlock victim. */
async function installHistory(drawbridge: Watched): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await drawbridge.query(INSTALL_HISTORY);
      return;
    } catch (error) {
      const isVictim = error instanceof DatabaseError && error.code === DEADLOCK;
      if (!isVictim || tries === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Collects evidence of one deployment during a scenario, and checks the guarantees against it. */
export class Watch {
  private readonly faults: { name: string; from: number; to: number | null; cloudOnly: boolean }[] = [];
  private readonly outsideChanges = new Set<string>();
  private readonly acknowledgedSessions = new Set<string>();
  private readonly keyedAnswers: KeyedAnswer[] = [];
  private readonly keyedAddresses = new Set<string>();
  private readonly timeline: CloudEvent[] = [];
  private readonly calls: Call[] = [];
  /** violations that were thrown: a later check of the same watch reports new ones only */
  private readonly reported = new Set<string>();
  private kills = 0;
  private timelineReadTo = 0;
  private callsReadTo = 0;

  private constructor(
    private readonly drawbridge: Watched,
    private readonly begunAt: number,
    private readonly presentAtStart: readonly CloudRule[],
    private readonly auditAfter: string,
    private readonly options: WatchOptions,
  ) {}

  /**
   * To be called after the organization is created and before the first session: installs the history triggers and
   * records the rules in the clouds. A second watch on a database replaces the first.
   */
  static async begin(drawbridge: Watched, options: WatchOptions = {}): Promise<Watch> {
    await installHistory(drawbridge);
    const [audit] = await drawbridge.query<{ last: string }>(
      'SELECT coalesce(max(sequence), 0)::text AS last FROM audit_records',
    );
    const watch = new Watch(drawbridge, Date.now(), await readCloudRules(drawbridge), audit!.last, options);
    const micros = Math.floor(watch.begunAt * 1000);
    watch.timelineReadTo = micros;
    watch.callsReadTo = micros;
    return watch;
  }

  /**
   * Registers a fault until `end()`: due work may be late until 60 s after its end.
   * @param cloudOnly the database and the workers run: overdue work must still be reported in time
   */
  fault(name: string, { cloudOnly = false }: { readonly cloudOnly?: boolean } = {}): { end(): void } {
    const window: (typeof this.faults)[number] = { name, from: Date.now(), to: null, cloudOnly };
    this.faults.push(window);
    return { end: () => void (window.to ??= Date.now()) };
  }

  /** Another program is about to change this address on this target: it is excluded from the checks. */
  expectOutsideChange(target: string, address: string): void {
    this.outsideChanges.add(`${target} ${bareAddress(address)}`);
  }

  /** A worker is killed during a pass: another one repeats the calls. */
  workerKilled(): void {
    this.kills += 1;
  }

  /** The session was answered with a 2xx: it must not be lost. */
  acknowledged(sessionId: string): void {
    this.acknowledgedSessions.add(sessionId);
  }

  /**
   * This address is requested with one Idempotency-Key only.
   * @param sessionId of the answer, if there was one
   */
  keySent(key: string, address: string, sessionId?: string): void {
    this.keyedAddresses.add(bareAddress(address));
    if (sessionId === undefined) return;
    this.keyedAnswers.push({ key, sessionId });
    this.acknowledged(sessionId);
  }

  /**
   * Waits until nothing is due or in progress, then checks all guarantees. Sessions may be live: their rules must be
   * present.
   * @throws Error that lists all violations, by oracle
   */
  async verify({ withinMs = IDLE_TIMEOUT_MS, waitsUntilIdle = true }: VerifyOptions = {}): Promise<void> {
    const unfinished = waitsUntilIdle ? await this.untilIdle(withinMs) : [];
    const violations = judgeEvidence(await this.evidence(waitsUntilIdle && unfinished.length === 0));
    const found = [...unfinished, ...violations].filter((message) => !this.reported.has(message));
    for (const message of found) this.reported.add(message);
    if (found.length > 0) throw new Error(`Guarantees are violated:\n${found.join('\n')}`);
  }

  /** The evidence collected so far. @param atRest nothing is due */
  async evidence(atRest: boolean): Promise<Evidence> {
    const now = await readCloudRules(this.drawbridge);
    const stored = await storedEvidence(
      (statement, given) => this.drawbridge.query(statement, given),
      this.drawbridge.databaseUrl,
      this.auditAfter,
    );
    await this.collect();
    const ledger = await ledgerEvidence((statement, given) => this.drawbridge.query(statement, given), {
      since: this.begunAt,
      changes: this.timeline.map(({ at }) => at),
      organizations: organizationsOf(this.drawbridge),
      reports: this.options.reports ?? DEFAULT_REPORTS,
      seed: this.options.seed ?? this.begunAt,
    });
    // events during the requests for reports
    await this.collect();
    return {
      ...stored,
      ledger,
      atRest,
      begunAt: this.begunAt,
      at: Date.now(),
      presentAtStart: this.presentAtStart,
      presentRules: now,
      timeline: this.timeline,
      calls: this.calls,
      keyedAnswers: this.keyedAnswers,
      keyedAddresses: [...this.keyedAddresses],
      acknowledged: [...this.acknowledgedSessions],
      faults: this.faults.map((fault): FaultWindow => ({ ...fault })),
      patienceMs: this.options.patienceMs ?? DEFAULT_PATIENCE_MS,
      outsideChanges: this.outsideChanges,
      kills: this.kills,
    };
  }

  /** Reads new entries from the simulator, which keeps the last 200,000 only. */
  async collect(): Promise<void> {
    const { cloud } = this.drawbridge;
    const events: TimelineEntry[] = await cloud.timeline(this.timelineReadTo);
    this.timelineReadTo = events.at(-1)?.at ?? this.timelineReadTo;
    this.timeline.push(...events.map((event) => ({ ...event, at: event.at / 1000 })));
    const calls: CloudCall[] = await cloud.calls(this.callsReadTo);
    // a call in progress is read again when it has an outcome
    const finished = calls.findIndex((call) => call.outcome === null);
    const known = finished < 0 ? calls : calls.slice(0, finished);
    this.callsReadTo = known.at(-1)?.at ?? this.callsReadTo;
    this.calls.push(...known.map((call) => ({ ...call, at: call.at / 1000 })));
  }

  /** @returns what is still in progress after the timeout */
  private async untilIdle(withinMs: number): Promise<string[]> {
    const until = performance.now() + withinMs;
    for (;;) {
      const busy = await this.drawbridge.query<{ what: string }>(IN_PROGRESS);
      if (busy.length === 0) return [];
      if (performance.now() > until) return busy.map(({ what }) => `Not idle within ${withinMs} ms: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }
}

/** A suspended rule waits for an hour: it does not count. */
const IN_PROGRESS = `
  SELECT 'session ' || id || ' is ' || status AS what FROM sessions
    WHERE status IN ('PENDING', 'EXPIRING') OR (status IN ('ACTIVE', 'PARTIAL') AND expires_at < now() + interval '1 minute')
  UNION ALL SELECT 'address ' || ip_address || ' is ' || status FROM resource_ips ip WHERE status IN ('PENDING', 'REMOVING')
    AND NOT EXISTS (SELECT FROM rule_holders h JOIN rules r ON r.id = h.rule_id WHERE h.resource_ip_id = ip.id AND r.is_suspended)
  UNION ALL SELECT 'rule ' || key || ' is due (' || state || ', ' || coalesce(last_error, 'no error') || ')' FROM rules
    WHERE due_at < now() + interval '1 minute' LIMIT 20`;

async function readCloudRules(drawbridge: Watched): Promise<CloudRule[]> {
  const rules: OpenRule[] = await drawbridge.cloud.everything();
  return rules;
}
