import {
  ApiFailure,
  type LeaseListener,
  type Observed,
  ownAddressWhenLimited,
  requestedAddresses,
  type Server,
  type Session,
  Unreachable,
} from '#client';
import type { Output } from '../output';
import { type AccessRequest, HeldAccess, observe } from './held-access';
import { leaseNotes } from './lease-notes';

const HOUR_MS = 3_600_000;
/** A session that has ended this close to the end has ended with it. */
const CLOSE_TO_END_MS = 5_000;
/** A family that is missing this often in a row has gone: right after a change of networks it may only be late. */
const MISSING_TO_BE_GONE = 2;

export interface WatchContext {
  readonly server: Server;
  readonly request: AccessRequest;
  readonly intervalMs: number;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Access that follows the caller from address to address, until its time is over. */
export class WatchedAccess {
  /** how often the addresses have changed */
  changes = 0;
  private hasEnded = false;
  private isReplacing = false;
  private isOffline = false;
  private missing = 0;
  private wake: () => void = () => undefined;
  /** an instant of the server */
  private readonly until: number;

  private constructor(
    private readonly context: WatchContext,
    private held: HeldAccess,
    private observed: Observed,
  ) {
    this.until = held.expiresAt.getTime();
  }

  /** @throws CommandFailure when the first addresses are refused */
  static async open(context: WatchContext): Promise<WatchedAccess> {
    const observed = await observe(context.server.url, 1, context.output).catch(ownAddressWhenLimited);
    // the listener needs the object that this makes
    const events = { current: null as WatchedAccess | null };
    const held = await openFor(
      context,
      context.request,
      observed,
      listenerOf(context.output, () => events.current),
    );
    events.current = new WatchedAccess(
      { ...context, request: pinned(context.request, held) },
      held,
      observed,
    );
    return events.current;
  }

  get session(): Session {
    return this.held.sessions[0]!.session;
  }

  /** Returns when the signal is aborted or the time of the first session is over. */
  async follow(): Promise<void> {
    const { signal, intervalMs, output } = this.context;
    while (!signal.aborted) {
      await this.pause(Math.min(intervalMs, this.leftMs));
      if (signal.aborted) return;
      if (this.leftMs <= (this.hasEnded ? CLOSE_TO_END_MS : 0)) {
        output.note('the time of this access is over: watch again, or with more --hours');
        return;
      }
      await this.check();
    }
  }

  /** @returns whether all of it is removed */
  close(): Promise<boolean> {
    return this.held.close(this.context.output);
  }

  /** @param isOver whether the session has ended, else renewals fail */
  noteEvent(isOver: boolean): void {
    if (this.isReplacing) return;
    this.hasEnded ||= isOver;
    this.wake();
  }

  get isQuiet(): boolean {
    return this.isReplacing;
  }

  private async check(): Promise<void> {
    const { server, output, signal } = this.context;
    try {
      const now = await observe(server.url, 1, output);
      if (this.isOffline) output.note('the server is reachable again');
      this.isOffline = false;
      if (this.hasEnded || this.isChanged(now)) await this.replace(now);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Unreachable) && !(error instanceof ApiFailure && error.isTemporary)) throw error;
      if (!this.isOffline) output.note(`${error.message}: trying again`);
      this.isOffline = true;
    }
  }

  private isChanged(now: Observed): boolean {
    const isNew = now.ipv4[0] ?? this.observed.ipv4[0];
    const isNewIpv6 = now.ipv6[0] ?? this.observed.ipv6[0];
    if (isNew !== this.observed.ipv4[0] || isNewIpv6 !== this.observed.ipv6[0]) return true;
    const lacks = now.ipv4.length < this.observed.ipv4.length || now.ipv6.length < this.observed.ipv6.length;
    this.missing = lacks ? this.missing + 1 : 0;
    return this.missing >= MISSING_TO_BE_GONE;
  }

  private async replace(now: Observed): Promise<void> {
    const { output } = this.context;
    const before = this.held;
    this.isReplacing = true;
    try {
      this.held = this.hasEnded ? await this.reopen(now) : await this.reopenReplacing(now);
    } finally {
      this.isReplacing = false;
    }
    await before.release();
    this.observed = now;
    this.hasEnded = false;
    this.missing = 0;
    this.changes += 1;
    output.note(`access for ${[...now.ipv4, ...now.ipv6].join(', ')}`);
  }

  /** The end of the first session stays the end. A session that has ended meanwhile cannot be replaced. */
  private async reopenReplacing(now: Observed): Promise<HeldAccess> {
    const { hours: hoursInAll, ...request } = this.context.request;
    const replacing = { ...request, hoursInAll, replaces: this.session.id };
    try {
      return await openFor(this.context, replacing, now, this.listener);
    } catch (error) {
      if (error instanceof ApiFailure && (error.status === 404 || error.status === 409))
        return this.reopen(now);
      throw error;
    }
  }

  private reopen(now: Observed): Promise<HeldAccess> {
    const hours = Math.max(1, Math.ceil(this.leftMs / HOUR_MS));
    return openFor(this.context, { ...this.context.request, hours }, now, this.listener);
  }

  /** By the instants of the server in the current session, so that no clock of this machine matters. */
  private get leftMs(): number {
    return this.until - this.held.serverNow;
  }

  private get listener(): LeaseListener {
    return listenerOf(this.context.output, () => this);
  }

  private async pause(ms: number): Promise<void> {
    const { signal } = this.context;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.wake(), Math.max(0, ms));
      this.wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', this.wake);
        resolve();
      };
      signal.addEventListener('abort', this.wake, { once: true });
    });
  }
}

/** Names may change meanwhile: what is replaced goes on with the resources that they meant at first. */
function pinned(request: AccessRequest, { sessions }: HeldAccess): AccessRequest {
  if (!request.resources.resourceNames) return request;
  const ids = sessions.flatMap(({ session }) => session.resourceIps.map(({ resourceId }) => resourceId));
  return { ...request, resources: { resourceIds: [...new Set(ids)] } };
}

const openFor = (
  { server, output, signal }: WatchContext,
  request: AccessRequest,
  observed: Observed,
  listener: LeaseListener,
): Promise<HeldAccess> =>
  HeldAccess.openFor(server, request, requestedAddresses(observed).slice(0, 1), { output, listener, signal });

function listenerOf(output: Output, current: () => WatchedAccess | null): LeaseListener {
  const notes = leaseNotes(output);
  return {
    lost: (reason, endsAt) => {
      notes.lost(reason, endsAt);
      current()?.noteEvent(false);
    },
    regained: () => notes.regained(),
    ended: (reason) => {
      if (current()?.isQuiet) return;
      notes.ended(reason);
      current()?.noteEvent(true);
    },
  };
}
