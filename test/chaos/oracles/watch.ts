import { DatabaseError } from 'pg';
import { organizationsOf } from '../../builders/organization';
import type { Drawbridge } from '../../harness/drawbridge';
import type { CloudCall, OpenRule, TimelineEntry } from '../../harness/simulator-client';
import type { Call, CloudEvent, CloudRule, Evidence, FaultWindow, KeyedAnswer } from './evidence';
import { INSTALL_HISTORY } from './history-triggers';
import { ledgerEvidence } from './ledger-evidence';
import { judgeEvidence } from './oracles';
import { bareAddress } from './rule-name';
import { storedEvidence } from './stored-evidence';

const QUIET_TIMEOUT_MS = 90_000;
const POLL_INTERVAL_MS = 100;

export interface Judging {
  /** how long to wait until nothing is due; default 90 s */
  readonly withinMs?: number;
  /** false: judge it as it is, without waiting */
  readonly quiet?: boolean;
}

/** The parts of a Drawbridge that a watch needs. */
export type Watched = Pick<Drawbridge, 'cloud' | 'query' | 'databaseUrl'>;

export interface WatchOptions {
  /** how many access reports each judgement asks for */
  readonly reports?: number;
  /** of the moments that they ask about */
  readonly seed?: number;
}

const REPORTS_A_JUDGEMENT = 16;

const DEADLOCK = '40P01';
const MAX_ATTEMPTS = 5;

/** Triggers lock tables that the product works with meanwhile: PostgreSQL may choose this as the victim. */
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

/** Watches one Drawbridge for the length of a scenario, by the simulated cloud's own timeline. */
export class Watch {
  private readonly faults: { name: string; from: number; to: number | null; cloudOnly: boolean }[] = [];
  private readonly outsideHands = new Set<string>();
  private readonly acknowledgedSessions = new Set<string>();
  private readonly keyedAnswers: KeyedAnswer[] = [];
  private readonly keyedAddresses = new Set<string>();
  private readonly timeline: CloudEvent[] = [];
  private readonly calls: Call[] = [];
  /** told once: a later judgement of the same watch names what is new */
  private readonly told = new Set<string>();
  private kills = 0;
  private timelineReadTo = 0;
  private callsReadTo = 0;

  private constructor(
    private readonly drawbridge: Watched,
    private readonly begunAt: number,
    private readonly standingAtBegin: readonly CloudRule[],
    private readonly auditAfter: string,
    private readonly options: WatchOptions,
  ) {}

  /**
   * Call it when the scenario's organization stands, before the first session: history triggers go into this
   * database, what stands in the clouds is noted. A second watch on a database replaces the first.
   */
  static async begin(drawbridge: Watched, options: WatchOptions = {}): Promise<Watch> {
    await installHistory(drawbridge);
    const [audit] = await drawbridge.query<{ last: string }>(
      'SELECT coalesce(max(sequence), 0)::text AS last FROM audit_records',
    );
    const watch = new Watch(drawbridge, Date.now(), await standing(drawbridge), audit!.last, options);
    const micros = Math.floor(watch.begunAt * 1000);
    watch.timelineReadTo = micros;
    watch.callsReadTo = micros;
    return watch;
  }

  /**
   * From now until `end()` something is broken: what falls due may be late until 60 s after its end.
   * @param cloudOnly the database and the workers run: what cannot be done must still be reported in time
   */
  fault(name: string, { cloudOnly = false }: { readonly cloudOnly?: boolean } = {}): { end(): void } {
    const window: (typeof this.faults)[number] = { name, from: Date.now(), to: null, cloudOnly };
    this.faults.push(window);
    return { end: () => void (window.to ??= Date.now()) };
  }

  /** Another program is about to change this address on this target: nobody blames the product for it. */
  outsideHand(target: string, address: string): void {
    this.outsideHands.add(`${target} ${bareAddress(address)}`);
  }

  /** A worker is killed in the midst of its work: another one looks and calls again. */
  workerKilled(): void {
    this.kills += 1;
  }

  /** A client was told of this session with a 2xx: it may never be lost. */
  acknowledged(sessionId: string): void {
    this.acknowledgedSessions.add(sessionId);
  }

  /**
   * This address is asked for under one Idempotency-Key and no other.
   * @param sessionId of the answer, when one came
   */
  keySent(key: string, address: string, sessionId?: string): void {
    this.keyedAddresses.add(bareAddress(address));
    if (sessionId === undefined) return;
    this.keyedAnswers.push({ key, sessionId });
    this.acknowledged(sessionId);
  }

  /**
   * Waits until nothing is due or under way, then asks every oracle. Sessions whose time is not over may go on: their
   * rules must stand.
   * @throws Error that lists every violation, by oracle
   */
  async holds({ withinMs = QUIET_TIMEOUT_MS, quiet = true }: Judging = {}): Promise<void> {
    const restless = quiet ? await this.atRest(withinMs) : [];
    const violations = judgeEvidence(await this.evidence(quiet && restless.length === 0));
    const found = [...restless, ...violations].filter((words) => !this.told.has(words));
    for (const words of found) this.told.add(words);
    if (found.length > 0) throw new Error(`The promises are broken:\n${found.join('\n')}`);
  }

  /** All there is to judge by, as of now. @param atRest nothing is due any more */
  async evidence(atRest: boolean): Promise<Evidence> {
    const now = await standing(this.drawbridge);
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
      reports: this.options.reports ?? REPORTS_A_JUDGEMENT,
      seed: this.options.seed ?? this.begunAt,
    });
    // what happened while reports were asked for
    await this.collect();
    return {
      ...stored,
      ledger,
      atRest,
      begunAt: this.begunAt,
      at: Date.now(),
      standingAtBegin: this.standingAtBegin,
      standing: now,
      timeline: this.timeline,
      calls: this.calls,
      keyedAnswers: this.keyedAnswers,
      keyedAddresses: [...this.keyedAddresses],
      acknowledged: [...this.acknowledgedSessions],
      faults: this.faults.map((fault): FaultWindow => ({ ...fault })),
      outsideHands: this.outsideHands,
      kills: this.kills,
    };
  }

  /** Takes over what the simulator has noted since the last time: it forgets the oldest of 200 000 entries. */
  async collect(): Promise<void> {
    const { cloud } = this.drawbridge;
    const events: TimelineEntry[] = await cloud.timeline(this.timelineReadTo);
    this.timelineReadTo = events.at(-1)?.at ?? this.timelineReadTo;
    this.timeline.push(...events.map((event) => ({ ...event, at: event.at / 1000 })));
    const calls: CloudCall[] = await cloud.calls(this.callsReadTo);
    // a call under way is read again when its outcome is known
    const finished = calls.findIndex((call) => call.outcome === null);
    const known = finished < 0 ? calls : calls.slice(0, finished);
    this.callsReadTo = known.at(-1)?.at ?? this.callsReadTo;
    this.calls.push(...known.map((call) => ({ ...call, at: call.at / 1000 })));
  }

  /** @returns what is still under way when the time is over */
  private async atRest(withinMs: number): Promise<string[]> {
    const until = performance.now() + withinMs;
    for (;;) {
      const busy = await this.drawbridge.query<{ what: string }>(UNDER_WAY);
      if (busy.length === 0) return [];
      if (performance.now() > until)
        return busy.map(({ what }) => `Not at rest within ${withinMs} ms: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }
}

/** A rule that somebody keeps taking out is left alone for an hour: that is rest, too. */
const UNDER_WAY = `
  SELECT 'session ' || id || ' is ' || status AS what FROM sessions
    WHERE status IN ('PENDING', 'EXPIRING') OR (status IN ('ACTIVE', 'PARTIAL') AND expires_at < now() + interval '1 minute')
  UNION ALL SELECT 'address ' || ip_address || ' is ' || status FROM resource_ips ip WHERE status IN ('PENDING', 'REMOVING')
    AND NOT EXISTS (SELECT FROM rule_holders h JOIN rules r ON r.id = h.rule_id WHERE h.resource_ip_id = ip.id AND r.is_suspended)
  UNION ALL SELECT 'rule ' || key || ' is due (' || state || ', ' || coalesce(last_error, 'no error') || ')' FROM rules
    WHERE due_at < now() + interval '1 minute' LIMIT 20`;

async function standing(drawbridge: Watched): Promise<CloudRule[]> {
  const rules: OpenRule[] = await drawbridge.cloud.everything();
  return rules;
}
