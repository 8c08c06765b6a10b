import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, type BackoffPolicy } from '#rules';
import { ChannelError, type Channel, type ChannelFault } from './channel/channel';
import { NOTHING_TOLD, reportsOf, resultsOf, type Outcome, type Told } from './channel/report';
import type { Log } from './log';
import { guardElements, openings, type Elements } from './nft/elements';
import type { Guard } from './nft/guard';
import { NftError } from './nft/nft';
import type { HostState, Traffic } from './state/host-state';
import type { KeptState } from './state/kept-state';
import type { StateFile } from './state/state-file';
import { formatChange } from './format';

export interface AgentParts {
  readonly channel: Pick<Channel, 'state' | 'report'>;
  readonly guard: Pick<Guard, 'enforce' | 'mend' | 'look'>;
  readonly file: Pick<StateFile, 'write'>;
  readonly log: Log;
  /** running time in milliseconds */
  readonly now: () => number;
}

/** How long a request waits for something new. */
const WAIT_SECONDS = 25;
const POLL_INTERVAL_MS = 1000;
/** The elements are read only now and then: with 20,000 of them that takes a third of a second. */
const CHECKS_PER_FULL_CHECK = 10;

const MAX_FAILURES: Readonly<Record<ChannelFault, BackoffPolicy>> = {
  away: { baseMs: 500, capMs: 5000 },
  refused: { baseMs: 2000, capMs: 30_000 },
  rival: { baseMs: 5000, capMs: 15_000 },
};

const WOKEN = new Error('there is something to report');

/** Has the host be what the service says, and says what it is. */
export class Agent {
  private guarded: readonly Traffic[];
  private rules: HostState['rules'];
  /** of the state that was reported; null: the next answer is to come at once */
  private reported: string | null = null;
  private told: Told = NOTHING_TOLD;
  private asking: AbortController | null = null;

  constructor(
    private readonly parts: AgentParts,
    private readonly kept: KeptState,
  ) {
    this.guarded = kept.state?.guarded ?? [];
    this.rules = kept.state?.rules ?? [];
  }

  /** Serves until it is stopped. What is open then stays until its end. */
  async run(stopping: AbortSignal): Promise<void> {
    stopping.addEventListener('abort', () => this.asking?.abort(stopping.reason), { once: true });
    await Promise.all([this.serve(stopping), this.watch(stopping)]);
  }

  private async serve(stopping: AbortSignal): Promise<void> {
    const { log } = this.parts;
    for (let failures = 0; !stopping.aborted;) {
      try {
        await this.turn();
        failures = 0;
        log.settled('channel', 'The server answers');
      } catch (error) {
        this.reported = null;
        if (stopping.aborted || error === WOKEN) continue;
        failures += 1;
        const fault = error instanceof ChannelError ? error.fault : null;
        const words = `${messageOf(error)}. What is open stays open until its end, nothing is added`;
        log.trouble('channel', words, fault ?? words);
        await rest(backoffMs(MAX_FAILURES[fault ?? 'away'], failures, Math.random()), stopping);
      }
    }
  }

  /** Fetches, has the host be so, reads back, keeps it, reports. */
  private async turn(): Promise<void> {
    const { channel, file } = this.parts;
    this.asking = new AbortController();
    const { signal } = this.asking;
    const state = await channel.state(this.reported, WAIT_SECONDS, signal);
    if (state.version === this.reported) return;
    const outcome = await this.take(state);
    // before it is told that something is gone: a restart must not bring it back
    await file.write({ ...this.kept, state: { ...state, guarded: this.guarded } });
    const { results, told } = resultsOf(outcome, this.told);
    const cleared = outcome.found?.exact ?? false;
    for (const report of reportsOf(results, cleared)) await channel.report(state.version, report, signal);
    signal.throwIfAborted();
    this.told = told;
    this.reported = state.version;
  }

  private async take(state: HostState): Promise<Outcome> {
    const { guard, log, now } = this.parts;
    for (const words of formatChange(this.rules, state.rules)) log.say(words);
    if (state.guarded.length > 0) this.guarded = state.guarded;
    if (state.guarded.length > 0) log.settled('guarded', 'A resource names this host');
    else log.trouble('guarded', unguardedMessage(this.guarded));
    this.rules = state.rules;
    const { elements, keysOf } = openings(state.rules, now());
    const desired: Elements = new Map([...guardElements(this.guarded), ...elements]);
    try {
      const found = await guard.enforce(desired);
      log.settled('nft', 'The guard stands');
      return { state, keysOf, found, trouble: null };
    } catch (error) {
      if (!(error instanceof NftError)) throw error;
      log.trouble('nft', error.message);
      const found = await guard.look(desired).catch((unread: unknown) => {
        if (unread instanceof NftError) return null;
        throw unread;
      });
      return { state, keysOf, found, trouble: error.message };
    }
  }

  /** Other programs flush the whole ruleset: that is noticed, and mended. */
  private async watch(stopping: AbortSignal): Promise<void> {
    const { guard, log } = this.parts;
    for (let looks = 1; !stopping.aborted; looks += 1) {
      await rest(POLL_INTERVAL_MS, stopping);
      try {
        const isMended = await guard.mend(looks % CHECKS_PER_FULL_CHECK === 0 ? 'all' : 'structure');
        log.settled('nft', 'The guard stands');
        if (isMended) {
          log.say('Another program changed or flushed the table inet drawbridge: it was made anew');
          this.wake();
        }
      } catch (error) {
        if (log.trouble('nft', messageOf(error))) this.wake();
      }
    }
  }

  /** Has the state fetched and reported anew. */
  private wake(): void {
    this.reported = null;
    this.asking?.abort(WOKEN);
  }
}

const unguardedMessage = (guarded: readonly Traffic[]): string =>
  guarded.length === 0
    ? 'No resource names this host: nothing is guarded'
    : 'No resource names this host any more: what was guarded stays closed to everybody, until drawbridge-agent --remove';

/** Until so much time has passed, or it is stopped. */
async function rest(ms: number, stopping: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
