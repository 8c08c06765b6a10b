import { isDeepStrictEqual } from 'node:util';
import { type Traffic, difference, FairLimiter, intersection, listedInBoth, unionOf } from '#rules';
import { formatTrafficArgument, formatTrafficList } from '../format';
import { messageOf, type Log } from '../log';
import type { DesiredRule, HostState } from '../state/host-state';
import { includesTcp, withoutAccess, type Connection } from './connections';
import { NOTHING_DECIDED, type GuardDecisions, type GuardFile } from './guard-file';
import { bounded, type Limits, type Refusal } from './limits';

export interface GuardStatus extends GuardDecisions {
  /** what the host's configuration does not let the server guard */
  readonly refused: readonly Refusal[];
  /** established connections that the traffic which is not guarded yet would lose */
  readonly connections: readonly Connection[];
}

export interface GuardedPortsParts {
  readonly file: Pick<GuardFile, 'readCurrent' | 'write'>;
  readonly limits: Limits;
  readonly connections: () => readonly Connection[];
  readonly log: Log;
  /** running time in milliseconds */
  readonly now: () => number;
}

/** How long traffic that would lose connections waits for a confirmation. */
export const CONFIRM_WITHIN_MS = 60_000;
/** Connections that a status lists. */
const MAX_CONNECTIONS = 50;
/** Reading a table of 100,000 connections takes a while: without a wait, it is read every tenth check. */
const CHECKS_PER_READING = 10;
/** Addresses that a log message names. */
const MAX_NAMED_ADDRESSES = 5;

type Demands = Pick<HostState, 'guarded' | 'confirmed' | 'proposed' | 'released'>;

/**
 * Decides what the host guards. What was guarded once stays guarded until it is released. What would cut connections of
 * addresses without access waits for a confirmation, and is left alone without one.
 */
export class GuardedPorts {
  private decisions: GuardDecisions;
  /** null: no state was received yet */
  private demands: Demands | null = null;
  private connections: readonly Connection[] = [];
  /** running time in milliseconds at which what waits is left alone */
  private waitsUntil = 0;
  private checks = 0;
  /** what the guard file held when it was last read or written; null: it was missing or damaged */
  private seen: GuardDecisions | null;
  private readonly turns = new FairLimiter(1, Infinity);

  /** @param known what was decided before; null: nothing */
  constructor(
    private readonly parts: GuardedPortsParts,
    known: GuardDecisions | null,
  ) {
    const before = known ?? NOTHING_DECIDED;
    // what the limits exclude is not guarded any more: without them it is asked for again before connections are cut
    const { allowed } = bounded(parts.limits, before.guarded);
    const excluded = difference(before.guarded, allowed);
    if (excluded.length > 0)
      parts.log.info(`Not guarded any more, by --never or --only: ${formatTrafficList(excluded)}`);
    // the wait for a confirmation begins anew
    this.decisions = { ...before, guarded: allowed, waiting: [] };
    this.seen = parts.file.readCurrent();
  }

  /** What was decided, whatever the limits are now. */
  get guarded(): readonly Traffic[] {
    return this.decisions.guarded;
  }

  /** What the table has to close. */
  get effective(): readonly Traffic[] {
    return bounded(this.parts.limits, this.decisions.guarded).allowed;
  }

  get status(): GuardStatus {
    const { refused } = bounded(this.parts.limits, this.demands?.guarded ?? []);
    return { ...this.decisions, guarded: this.effective, refused, connections: this.connections };
  }

  /** Follows a state of the server. @param rules who has access, within the limits of the host */
  follow(demands: Demands, rules: readonly DesiredRule[]): Promise<void> {
    return this.turns.run('', async () => {
      this.adopt();
      this.demands = demands;
      const { log } = this.parts;
      const { refused } = bounded(this.parts.limits, demands.guarded);
      if (refused.length === 0) log.recovered('refused', 'Nothing is refused any more');
      else
        log.failure(
          'refused',
          refused.map((entry) => `Not guarded: ${formatTrafficList([entry])}, ${entry.reason}`).join('\n'),
        );
      this.release(listedInBoth(this.decisions.guarded, demands.released), 'Released by the server');
      this.decide(rules);
      await this.persist();
    });
  }

  /**
   * Takes over what an operator confirmed or released in the guard file, and decides again about what waits. To be called
   * every second. @param rules who has access, within the limits of the host
   */
  check(rules: () => readonly DesiredRule[]): Promise<void> {
    return this.turns.run('', async () => {
      this.adopt();
      this.checks += 1;
      const isReadingDue = this.decisions.waiting.length > 0 || this.checks % CHECKS_PER_READING === 0;
      if (isReadingDue && this.pending.length > 0) this.decide(rules());
      // a guard that was never requested must not replace `--guard` at the next start
      if (this.demands || this.seen) await this.persist();
    });
  }

  /** What resources of the server name, within the limits. */
  private get named(): readonly Traffic[] {
    return bounded(this.parts.limits, this.demands?.guarded ?? []).allowed;
  }

  /** What is not guarded, and may be later. */
  private get pending(): readonly Traffic[] {
    const proposed = bounded(this.parts.limits, this.demands?.proposed ?? []).allowed;
    return difference(unionOf(this.named, proposed), this.decisions.guarded);
  }

  private decide(rules: readonly DesiredRule[]): void {
    const { connections, limits, log, now } = this.parts;
    const { guarded, leftAlone, waiting } = this.decisions;
    const open = this.pending;
    const all = open.length === 0 ? [] : connections();
    // a connection to a port that is guarded already was cut before
    const untouched = [...this.effective, ...limits.never];
    const cut = withoutAccess(all, rules, now()).filter(({ port }) => !includesTcp(untouched, port));
    const cutBy = (traffic: readonly Traffic[]): readonly Connection[] =>
      cut.filter(({ port }) => includesTcp(traffic, port));
    this.connections = cutBy(open).slice(0, MAX_CONNECTIONS);

    const wanted = difference(this.named, guarded);
    const confirmed = listedInBoth(wanted, bounded(limits, this.demands?.confirmed ?? []).allowed);
    const unconfirmed = difference(wanted, confirmed);
    const stillAlone = listedInBoth(leftAlone, unconfirmed);
    const cutting = singles(difference(unconfirmed, stillAlone)).filter((entry) => cutBy([entry]).length > 0);
    const guardedNow = difference(difference(wanted, stillAlone), cutting);

    const newlyWaiting = difference(cutting, waiting);
    if (newlyWaiting.length > 0 && waiting.length === 0) this.waitsUntil = now() + CONFIRM_WITHIN_MS;
    const isOver = cutting.length > 0 && now() >= this.waitsUntil;
    this.decisions = {
      guarded: unionOf(guarded, guardedNow),
      waiting: isOver ? [] : unionOf(cutting, []),
      leftAlone: isOver ? unionOf(stillAlone, cutting) : stillAlone,
    };
    if (guardedNow.length > 0) log.info(`Guarded from now on: ${formatTrafficList(guardedNow)}`);
    if (newlyWaiting.length > 0) log.info(waitingMessage(newlyWaiting, cutBy(newlyWaiting)));
    if (isOver) log.info(leftAloneMessage(unionOf(cutting, [])));
  }

  /** Takes over what another process changed in the file since it was last seen. */
  private adopt(): void {
    const { file, log } = this.parts;
    const current = file.readCurrent();
    if (!current && this.seen) log.info('The guard file is missing or damaged: it is written again');
    const { guarded } = this.seen ?? this.decisions;
    this.seen = current;
    if (!current) return;
    const confirmed = difference(difference(current.guarded, guarded), this.decisions.guarded);
    if (confirmed.length > 0) {
      log.info(`Confirmed, guarded from now on: ${formatTrafficList(confirmed)}`);
      this.guard(confirmed);
    }
    this.release(listedInBoth(difference(guarded, current.guarded), this.decisions.guarded), 'Released');
  }

  private guard(traffic: readonly Traffic[]): void {
    const { guarded, waiting, leftAlone } = this.decisions;
    this.decisions = {
      guarded: unionOf(guarded, traffic),
      waiting: difference(waiting, traffic),
      leftAlone: difference(leftAlone, traffic),
    };
  }

  /** Releases what no resource names. */
  private release(traffic: readonly Traffic[], message: string): void {
    const { log } = this.parts;
    const kept = listedInBoth(traffic, this.named);
    const gone = difference(traffic, kept);
    // of a whole protocol, the ports that resources name stay guarded, whatever is connected
    const guarded = unionOf(this.decisions.guarded, intersection(this.named, gone));
    this.decisions = { ...this.decisions, guarded: difference(guarded, gone) };
    if (gone.length > 0) log.info(`${message}: ${formatTrafficList(gone)}`);
    if (kept.length > 0) log.info(`Still guarded, a resource names it: ${formatTrafficList(kept)}`);
  }

  private async persist(): Promise<void> {
    const { file, log } = this.parts;
    if (this.seen && isDeepStrictEqual(this.seen, this.decisions)) return;
    try {
      await file.write(this.decisions);
      this.seen = this.decisions;
      log.recovered('guard file', 'The guard is on disk again');
    } catch (error) {
      log.failure('guard file', `The guard is active and not on disk: ${messageOf(error)}`);
    }
  }
}

/** One entry for each port, and for each whole protocol. */
const singles = (traffic: readonly Traffic[]): Traffic[] =>
  traffic.flatMap(({ protocol, ports }): Traffic[] =>
    ports.length === 0 ? [{ protocol, ports }] : ports.map((port) => ({ protocol, ports: [port] })),
  );

function waitingMessage(traffic: readonly Traffic[], cut: readonly Connection[]): string {
  const addresses = [...new Set(cut.map(({ address }) => address))].slice(0, MAX_NAMED_ADDRESSES).join(', ');
  return (
    `Not guarded yet: ${formatTrafficList(traffic)}. It would cut the connection of ${addresses}, which has no access. ` +
    `To guard it all the same: drawbridge-agent confirm ${formatTrafficArgument(traffic)}. ` +
    `In ${CONFIRM_WITHIN_MS / 1000} seconds it is left alone`
  );
}

const leftAloneMessage = (traffic: readonly Traffic[]): string =>
  `Left alone, not guarded: ${formatTrafficList(traffic)}. To guard it: drawbridge-agent confirm ${formatTrafficArgument(traffic)}`;

/** For the log, about a host that guards nothing that its state names. */
export function unguardedMessage({ guarded }: GuardStatus, { proposed }: HostState): string {
  if (guarded.length > 0)
    return 'No resource names this host any more: what was guarded stays closed to everybody, until it is released';
  return proposed.length > 0
    ? 'The resources of this host were not verified yet: nothing is guarded'
    : 'No resource names this host: nothing is guarded';
}
