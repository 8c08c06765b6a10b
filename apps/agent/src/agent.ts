import { isDeepStrictEqual } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, type BackoffPolicy } from '#rules';
import { ChannelError, type Channel, type ChannelFault } from './channel/channel';
import {
  NOTHING_REPORTED,
  reportedGuard,
  reportsOf,
  resultsOf,
  type Outcome,
  type Reported,
  type ReportedGuard,
} from './channel/report';
import { desiredElements, enforcedRules, type EnforcedRules } from './enforced-rules';
import { formatChange } from './format';
import { unguardedMessage, type GuardedPorts } from './guarding/guarded-ports';
import type { Limits } from './guarding/limits';
import { messageOf, type Log } from './log';
import { ruleElements, type Elements } from './nft/elements';
import type { Guard } from './nft/guard';
import { NftError, type Nft } from './nft/nft';
import type { TableMonitor } from './nft/table-monitor';
import { endOf, withoutAdditions, type DesiredRule, type HostState } from './state/host-state';
import type { PersistedState, StateFile } from './state/persisted-state';

export interface AgentParts {
  readonly channel: Pick<Channel, 'state' | 'report'>;
  readonly guard: Pick<Guard, 'enforce' | 'repair' | 'observe'>;
  readonly guardedPorts: GuardedPorts;
  readonly nft: Pick<Nft, 'otherChains'>;
  readonly monitor: Pick<TableMonitor, 'start' | 'stop' | 'isRunning'>;
  readonly limits: Limits;
  readonly file: Pick<StateFile, 'write' | 'remove'>;
  readonly log: Log;
  /** running time in milliseconds */
  readonly now: () => number;
}

/** Long-poll timeout of a state request. */
const WAIT_SECONDS = 25;
const CHECK_INTERVAL_MS = 1000;
/** Programs that rewrite a firewall use several transactions. */
const SETTLING_MS = 50;
/** Reads the table for what `nft monitor` might have missed; with 20,000 elements it takes a third of a second. */
const CHECKS_PER_READING = 60;
/** Which connections a guard would cut is reported this seldom. */
const CHECKS_PER_CONNECTIONS = 10;
/** A loop that has not come round for this long hangs: nft may take a minute, and the server 40 seconds and a backoff. */
const HANGING_AFTER_MS = 150_000;

const BACKOFF: Readonly<Record<ChannelFault, BackoffPolicy>> = {
  unavailable: { baseMs: 500, capMs: 5000 },
  rejected: { baseMs: 2000, capMs: 30_000 },
  conflict: { baseMs: 5000, capMs: 15_000 },
};

const GUARD_ACTIVE = 'The guard is active';

/** Aborts the pending request when the table or the guard has changed and has to be reported. */
const RESYNC = new Error('there is something to report');

/** Applies the state that the service defines to the host's firewall, and reports what is present. */
export class Agent {
  private rules: HostState['rules'] = this.persisted.state?.rules ?? [];
  /** by rule id; milliseconds of running time */
  private readonly openedAt = new Map<string, number>();
  /** the answer of the server that silence is measured from; milliseconds of running time */
  private heardAt = this.persisted.state?.heardAt ?? this.parts.now();
  /** version of the last state that was reported; null: the next request returns immediately */
  private reportedVersion: string | null = null;
  private reported: Reported = NOTHING_REPORTED;
  private reportedStatus: ReportedGuard | null = null;
  private request: AbortController | null = null;
  /** another program may have changed the table, or a change of ours failed */
  private isTableTouched = false;
  /** those of other programs that may drop what the guard lets in, when the whole table was read last */
  private otherChains: readonly string[] = [];
  private endPause = (): void => undefined;
  /** when each loop came round last; milliseconds of running time */
  private readonly cameRound = { serving: this.parts.now(), watching: this.parts.now() };

  /** @param carried what a table that was found let in, of which no state is known: it stays until the server answers */
  constructor(
    private readonly parts: AgentParts,
    private readonly persisted: PersistedState,
    private carried: Elements,
  ) {}

  /** Runs until `stopping` is aborted. Rules that are open then stay until they expire. */
  async run(stopping: AbortSignal): Promise<void> {
    const stop = (): void => {
      this.request?.abort(stopping.reason);
      this.endPause();
    };
    stopping.addEventListener('abort', stop, { once: true });
    await Promise.all([this.serve(stopping), this.watch(stopping)]);
    this.parts.monitor.stop();
  }

  /** Another program changed the table: the next check reads all of it. */
  noteForeignChange(): void {
    this.isTableTouched = true;
    this.endPause();
  }

  /** Whether both loops still come round. */
  get isAlive(): boolean {
    const { serving, watching } = this.cameRound;
    return this.parts.now() - Math.min(serving, watching) < HANGING_AFTER_MS;
  }

  private async serve(stopping: AbortSignal): Promise<void> {
    const { log, now } = this.parts;
    for (let failures = 0; !stopping.aborted;) {
      this.cameRound.serving = now();
      try {
        await this.sync();
        failures = 0;
        log.recovered('channel', 'The server answers');
      } catch (error) {
        this.reportedVersion = null;
        if (stopping.aborted || error === RESYNC) continue;
        failures += 1;
        // the server may know of another installation by now
        this.reportedStatus = null;
        const fault = error instanceof ChannelError ? error.fault : null;
        const message = `${messageOf(error)}. Open rules stay until they expire, none is added`;
        log.failure('channel', message, fault === 'unavailable' ? fault : message);
        await sleep(backoffMs(BACKOFF[fault ?? 'unavailable'], failures, Math.random()), stopping);
      }
    }
  }

  /** One pass: fetches the state, applies it, reads it back, persists it, reports it. */
  private async sync(): Promise<void> {
    const { channel, guardedPorts } = this.parts;
    this.request = new AbortController();
    const { signal } = this.request;
    const given = await channel.state(this.reportedVersion, WAIT_SECONDS, signal);
    const { state, heldBack } = withoutAdditions(given, this.rules);
    const isNew = state.version !== this.reportedVersion;
    const isRenewed = this.hear(state.rules);
    if (!isNew && !isRenewed) return;
    const outcome = await this.apply(state);
    // persisted before a removal is reported: a restart must not restore the rule
    await this.persist(state);
    const known = new Set([...this.reported.known, ...heldBack]);
    const { results, reported } = resultsOf(outcome, { ...this.reported, known });
    const cleared = outcome.observed?.exact ?? false;
    if (!isNew && results.length === 0) return;
    const status =
      outcome.observed && reportedGuard(guardedPorts.status, outcome.observed.present, this.otherChains);
    // a release waits for a report without it
    const isKnown = isDeepStrictEqual(status, this.reportedStatus) && state.released.length === 0;
    for (const report of reportsOf(results, cleared, isKnown ? null : status)) {
      this.cameRound.serving = this.parts.now();
      await channel.report(state.version, report, signal);
    }
    signal.throwIfAborted();
    this.reported = reported;
    this.reportedStatus = status;
    this.reportedVersion = state.version;
  }

  /**
   * Notes an answer of the server: rules that end with its silence stay open. Their ends are moved only after a quarter of
   * the shortest silence that they allow, because each time costs a transaction.
   * @returns whether they moved
   */
  private hear(rules: readonly DesiredRule[]): boolean {
    const shortest = rules.reduce((least, { maxSilenceMs }) => Math.min(least, maxSilenceMs), Infinity);
    const now = this.parts.now();
    if (now - this.heardAt < shortest / 4) return false;
    this.heardAt = now;
    this.parts.log.recovered('silence', 'The server is heard again');
    return rules.length > 0;
  }

  private get enforced(): EnforcedRules {
    return enforcedRules(this.rules, this.parts.limits, this.heardAt);
  }

  private get desired(): Elements {
    const { guardedPorts } = this.parts;
    return new Map([
      ...this.carried,
      ...desiredElements(guardedPorts.effective, this.enforced.rules, this.parts),
    ]);
  }

  private async apply(state: HostState): Promise<Outcome> {
    const { guard, guardedPorts, limits, log, now } = this.parts;
    this.adoptRules(state.rules);
    this.carried = new Map();
    const { rules, refused } = enforcedRules(state.rules, limits, this.heardAt);
    await guardedPorts.follow(state, rules);
    if (state.guarded.length > 0) log.recovered('guarded', 'A resource names this host');
    else log.failure('guarded', unguardedMessage(guardedPorts.status, state));
    const { keysOf } = ruleElements(rules, now());
    const desired = this.desired;
    try {
      const observed = await guard.enforce(desired);
      log.recovered('nft', GUARD_ACTIVE);
      return { state, keysOf, observed, error: null, refused };
    } catch (error) {
      if (!(error instanceof NftError)) throw error;
      log.failure('nft', error.message);
      this.isTableTouched = true;
      const observed = await guard.observe(desired).catch((readError: unknown) => {
        if (readError instanceof NftError) return null;
        throw readError;
      });
      return { state, keysOf, observed, error: error.message, refused };
    }
  }

  private adoptRules(rules: HostState['rules']): void {
    const { log, now } = this.parts;
    for (const line of formatChange(this.rules, rules, this.openedAt, now())) log.info(line);
    const desired = new Set(rules.map(({ id }) => id));
    for (const id of this.openedAt.keys()) if (!desired.has(id)) this.openedAt.delete(id);
    for (const id of desired) if (!this.openedAt.has(id)) this.openedAt.set(id, now());
    this.rules = rules;
  }

  /**
   * Writes the state. Without room for it the old one is deleted: rules that were removed since must not come back with a
   * restart, and what was done is reported all the same.
   */
  private async persist({ version }: HostState): Promise<void> {
    const { file, guardedPorts, log } = this.parts;
    const { guarded } = guardedPorts;
    try {
      await file.write({
        ...this.persisted,
        state: { version, guarded, rules: this.rules, heardAt: this.heardAt },
      });
      log.recovered('state file', 'The state is on disk again');
    } catch (error) {
      log.failure('state file', `The state cannot be written: ${messageOf(error)}`);
      try {
        file.remove();
      } catch (removal) {
        log.failure('old state', `A restart may restore rules that ended since: ${messageOf(removal)}`);
      }
    }
  }

  /**
   * Every second: follows what an operator released or confirmed, guards what waited, and repairs the table when another
   * program has changed it, for example by flushing the whole ruleset.
   */
  private async watch(stopping: AbortSignal): Promise<void> {
    const { guardedPorts, log, now } = this.parts;
    let { connections, ...decided } = guardedPorts.status;
    for (let checks = 1; !stopping.aborted; checks += 1) {
      await this.nextCheck(stopping);
      this.cameRound.watching = now();
      try {
        await guardedPorts.check(() => this.enforced.rules);
        const { connections: connectionsNow, ...decidedNow } = guardedPorts.status;
        if (!isDeepStrictEqual(decided, decidedNow)) await this.reportGuard();
        // connections come and go: a running pass is not interrupted for each of them
        else if (checks % CHECKS_PER_CONNECTIONS === 0 && !isDeepStrictEqual(connections, connectionsNow)) {
          this.resync();
          connections = connectionsNow;
        }
        decided = decidedNow;
        this.noteSilence();
        if (await this.repair(checks)) log.recovered('nft', GUARD_ACTIVE);
      } catch (error) {
        this.isTableTouched = true;
        if (log.failure('nft', messageOf(error))) this.resync();
      }
    }
  }

  /** Enforces a change of the guard at once, whether or not the server can be reached, and reports it. */
  private async reportGuard(): Promise<void> {
    const observed = await this.parts.guard.enforce(this.desired);
    const status = reportedGuard(this.parts.guardedPorts.status, observed.present, this.otherChains);
    // the pass that follows a state reports it itself
    if (!isDeepStrictEqual(status, this.reportedStatus)) this.resync();
  }

  /** Reads the table if it may have changed. @returns whether it was read */
  private async repair(checks: number): Promise<boolean> {
    const { guard, log, monitor, nft } = this.parts;
    const isDue = this.isTableTouched || checks % CHECKS_PER_READING === 0;
    // what happened before the monitor started is not reported: the next check looks
    this.isTableTouched = !monitor.isRunning;
    monitor.start();
    if (!isDue) return false;
    if (await guard.repair()) {
      log.info('Another program changed or flushed the table inet drawbridge: it was recreated');
      this.resync();
    }
    const chains = await nft.otherChains();
    if (!isDeepStrictEqual(chains, this.otherChains)) this.resync();
    this.otherChains = chains;
    return true;
  }

  /** Returns after a second, or soon after another program changed the table. */
  private async nextCheck(stopping: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CHECK_INTERVAL_MS);
      this.endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    if (this.isTableTouched) await sleep(SETTLING_MS, stopping);
  }

  /** Logs once that rules ended because the server is silent. */
  private noteSilence(): void {
    const { log } = this.parts;
    const now = this.parts.now();
    const ended = this.rules.filter((rule) => rule.deadline > now && endOf(rule, this.heardAt) <= now);
    if (ended.length === 0) return;
    const message = `The server is silent: ${ended.length} rules were closed before their end`;
    log.failure('silence', message, 'silence');
  }

  /** Makes the next pass fetch and report the whole state. */
  private resync(): void {
    this.reportedVersion = null;
    this.request?.abort(RESYNC);
  }
}

/** Returns early when `stopping` is aborted. */
async function sleep(ms: number, stopping: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}
