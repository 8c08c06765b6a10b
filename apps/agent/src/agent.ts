import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, type BackoffPolicy } from '#rules';
import { ChannelError, type Channel, type ChannelFault } from './channel/channel';
import { NOTHING_REPORTED, reportsOf, resultsOf, type Outcome, type Reported } from './channel/report';
import type { Log } from './log';
import { guardElements, ruleElements, type Elements } from './nft/elements';
import type { Guard } from './nft/guard';
import { NftError } from './nft/nft';
import type { GuardFile } from './state/guard-file';
import { unionOf, without } from './state/guarded-traffic';
import type { HostState, Traffic } from './state/host-state';
import type { PersistedState } from './state/persisted-state';
import type { StateFile } from './state/state-file';
import { formatChange, formatTrafficList } from './format';

export interface AgentParts {
  readonly channel: Pick<Channel, 'state' | 'report'>;
  readonly guard: Pick<Guard, 'enforce' | 'repair' | 'observe'>;
  readonly file: Pick<StateFile, 'write' | 'remove'>;
  readonly guardFile: Pick<GuardFile, 'readCurrent' | 'write'>;
  readonly log: Log;
  /** running time in milliseconds */
  readonly now: () => number;
}

/** Long-poll timeout of a state request. */
const WAIT_SECONDS = 25;
const POLL_INTERVAL_MS = 1000;
/** Every tenth check reads the elements too: with 20,000 of them a read takes a third of a second. */
const CHECKS_PER_FULL_CHECK = 10;

const BACKOFF: Readonly<Record<ChannelFault, BackoffPolicy>> = {
  unavailable: { baseMs: 500, capMs: 5000 },
  rejected: { baseMs: 2000, capMs: 30_000 },
  conflict: { baseMs: 5000, capMs: 15_000 },
};

const GUARD_ACTIVE = 'The guard is active';

/** Aborts the pending request when the table has changed and has to be reported. */
const RESYNC = new Error('there is something to report');

/** Applies the state that the service defines to the host's firewall, and reports what is present. */
export class Agent {
  /** what stays closed until it is released, also without a resource that names it */
  private guarded: readonly Traffic[];
  /** what resources name, by the last state; null: none was received yet */
  private named: readonly Traffic[] | null = null;
  private isGuardOnDisk = false;
  private rules: HostState['rules'];
  /** version of the last state that was reported; null: the next request returns immediately */
  private reportedVersion: string | null = null;
  private reported: Reported = NOTHING_REPORTED;
  private request: AbortController | null = null;

  /** @param guarded what was guarded before; empty: nothing yet */
  constructor(
    private readonly parts: AgentParts,
    private readonly persisted: PersistedState,
    guarded: readonly Traffic[],
  ) {
    this.guarded = guarded;
    this.isGuardOnDisk = parts.guardFile.readCurrent() !== null;
    this.rules = persisted.state?.rules ?? [];
  }

  /** Runs until `stopping` is aborted. Rules that are open then stay until they expire. */
  async run(stopping: AbortSignal): Promise<void> {
    stopping.addEventListener('abort', () => this.request?.abort(stopping.reason), { once: true });
    await Promise.all([this.serve(stopping), this.watch(stopping)]);
  }

  private async serve(stopping: AbortSignal): Promise<void> {
    const { log } = this.parts;
    for (let failures = 0; !stopping.aborted;) {
      try {
        await this.sync();
        failures = 0;
        log.recovered('channel', 'The server answers');
      } catch (error) {
        this.reportedVersion = null;
        if (stopping.aborted || error === RESYNC) continue;
        failures += 1;
        const fault = error instanceof ChannelError ? error.fault : null;
        const message = `${messageOf(error)}. Open rules stay until they expire, none is added`;
        log.failure('channel', message, fault ?? message);
        await sleep(backoffMs(BACKOFF[fault ?? 'unavailable'], failures, Math.random()), stopping);
      }
    }
  }

  /** One pass: fetches the state, applies it, reads it back, persists it, reports it. */
  private async sync(): Promise<void> {
    const { channel, file } = this.parts;
    this.request = new AbortController();
    const { signal } = this.request;
    const state = await channel.state(this.reportedVersion, WAIT_SECONDS, signal);
    if (state.version === this.reportedVersion) return;
    const outcome = await this.apply(state);
    // persisted before a removal is reported: a restart must not restore the rule
    await this.persist(file, { ...this.persisted, state: { ...state, guarded: this.guarded } });
    const { results, reported } = resultsOf(outcome, this.reported);
    const cleared = outcome.observed?.exact ?? false;
    for (const report of reportsOf(results, cleared)) await channel.report(state.version, report, signal);
    signal.throwIfAborted();
    this.reported = reported;
    this.reportedVersion = state.version;
  }

  private async apply(state: HostState): Promise<Outcome> {
    const { guard, log, now } = this.parts;
    for (const line of formatChange(this.rules, state.rules)) log.info(line);
    await this.widenGuard(state.guarded);
    if (state.guarded.length > 0) log.recovered('guarded', 'A resource names this host');
    else log.failure('guarded', unguardedMessage(this.guarded));
    this.rules = state.rules;
    const { elements, keysOf } = ruleElements(state.rules, now());
    const desired: Elements = new Map([...guardElements(this.guarded), ...elements]);
    try {
      const observed = await guard.enforce(desired);
      log.recovered('nft', GUARD_ACTIVE);
      return { state, keysOf, observed, error: null };
    } catch (error) {
      if (!(error instanceof NftError)) throw error;
      log.failure('nft', error.message);
      const observed = await guard.observe(desired).catch((readError: unknown) => {
        if (readError instanceof NftError) return null;
        throw readError;
      });
      return { state, keysOf, observed, error: error.message };
    }
  }

  /** Adds to the guard. Nothing leaves it here: a port that was closed once stays closed until it is released. */
  private async widenGuard(named: readonly Traffic[]): Promise<void> {
    const { log } = this.parts;
    this.named = named;
    const added = without(named, this.guarded);
    if (added.length > 0) log.info(`Guarded from now on: ${formatTrafficList(added)}`);
    this.guarded = unionOf(this.guarded, named);
    if (added.length > 0 || !this.isGuardOnDisk) await this.persistGuard();
  }

  private async persistGuard(): Promise<void> {
    const { guardFile, log } = this.parts;
    try {
      await guardFile.write(this.guarded);
      this.isGuardOnDisk = true;
      log.recovered('guard file', 'The guard is on disk again');
    } catch (error) {
      this.isGuardOnDisk = false;
      log.failure('guard file', `The guard is active and not on disk: ${messageOf(error)}`);
    }
  }

  /**
   * Takes over what the operator released in the guard file, except what a resource still names.
   * @returns whether the table has to change
   */
  private async adoptReleases(): Promise<boolean> {
    const { guardFile, log } = this.parts;
    if (!this.isGuardOnDisk) return false;
    const onDisk = guardFile.readCurrent();
    if (onDisk === null) {
      log.info('The guard file is missing or damaged: it is written again');
      await this.persistGuard();
      return false;
    }
    const released = without(this.guarded, onDisk);
    if (released.length === 0) return false;
    const kept = without(released, without(released, this.named ?? []));
    const gone = without(released, kept);
    this.guarded = without(this.guarded, gone);
    if (gone.length > 0) log.info(`Released: ${formatTrafficList(gone)}`);
    if (kept.length > 0) {
      log.info(`Still guarded, a resource names it: ${formatTrafficList(kept)}`);
      await this.persistGuard();
    }
    return gone.length > 0;
  }

  /**
   * Writes the state. Without room for it the old one is deleted: rules that were removed since must not come back with a
   * restart, and what was done is reported all the same.
   */
  private async persist(file: AgentParts['file'], state: PersistedState): Promise<void> {
    const { log } = this.parts;
    try {
      await file.write(state);
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

  /** Repairs the table when another program has changed it, for example by flushing the whole ruleset. */
  private async watch(stopping: AbortSignal): Promise<void> {
    const { guard, log } = this.parts;
    for (let checks = 1; !stopping.aborted; checks += 1) {
      await sleep(POLL_INTERVAL_MS, stopping);
      try {
        if (await this.adoptReleases()) this.resync();
        const wasRepaired = await guard.repair(checks % CHECKS_PER_FULL_CHECK === 0 ? 'all' : 'structure');
        log.recovered('nft', GUARD_ACTIVE);
        if (wasRepaired) {
          log.info('Another program changed or flushed the table inet drawbridge: it was recreated');
          this.resync();
        }
      } catch (error) {
        if (log.failure('nft', messageOf(error))) this.resync();
      }
    }
  }

  /** Makes the next pass fetch and report the whole state. */
  private resync(): void {
    this.reportedVersion = null;
    this.request?.abort(RESYNC);
  }
}
const unguardedMessage = (guarded: readonly Traffic[]): string =>
  guarded.length === 0
    ? 'No resource names this host: nothing is guarded'
    : 'No resource names this host any more: what was guarded stays closed to everybody, until it is released';

/** Returns early when `stopping` is aborted. */
async function sleep(ms: number, stopping: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
