import {
  ApiFailure,
  bodyOf,
  definedFields,
  isId,
  keepAlive,
  monotonicMs,
  named,
  newHolder,
  ownAddressWhenLimited,
  requestedAddresses,
  requestedResources,
  type Resource,
  type Server,
  type Session,
  type SessionRequest,
  settle,
  type StartedSession,
  type StartOptions,
  startSession,
  stopSession,
  WAIT_SECONDS,
} from '#client';
import {
  askFor,
  cancelRequest,
  readWhenDecided,
  needsApproval,
  requireApproved,
  type AccessRequest,
} from '../access/approval';
import { stopHeld } from '../access/closing';
import { observe } from '../access/held-access';
import { leaseNotes } from '../access/lease-notes';
import { resources } from '../commands/setup/things';
import { CommandFailure, EXIT, usageFailure } from '../exit-codes';
import type { Output } from '../output';
import {
  type Given,
  MINUTES_IN_HOUR,
  minutesOf,
  namesOf,
  reasonOf,
  requireKnown,
  secondsOf,
} from './arguments';
import { accessOf, pendingOf, type Result } from './results';

export interface Limits {
  /** ids; null: whatever the user's roles reach */
  readonly allowed: readonly string[] | null;
  readonly maxHours: number;
  readonly leaseSeconds: number;
}

interface Held extends StartedSession {
  /** what the client knows it by: of its session, or of the request that was approved for it */
  readonly id: string;
  readonly renewing: AbortController;
  /** when it is ended, which may be before its session would end */
  readonly until: Date;
}

/** What others have to approve before it starts. */
interface Pending {
  asked: AccessRequest;
  readonly start: () => Promise<Held>;
  /** set by the first that sees the approval */
  started?: Promise<Held>;
}

const MINUTE_MS = 60_000;
const MAX_HELD = 20;
const STOP_TIMEOUT_MS = 10_000;

/** The tools of one client. They know only the sessions that this client has requested. */
export class AccessTools {
  private readonly held = new Map<string, Held>();
  private readonly pending = new Map<string, Pending>();
  /** requests that are not held yet */
  private starting = 0;
  /** whether the client has gone */
  private isOver = false;

  constructor(
    private readonly server: Server,
    private readonly output: Output,
    private readonly limits: Limits,
  ) {}

  /** @throws CommandFailure for a tool or arguments that are not there, ApiFailure when the server refuses */
  call(name: string, given: Given): Promise<Result> {
    requireKnown(name, given);
    switch (name) {
      case 'list_resources':
        return this.list();
      case 'request_access':
        return this.request(given);
      case 'wait_for_access':
        return this.wait(given);
      case 'list_access':
        return this.listOpen();
      case 'release_access':
        return this.release(given);
      default:
        throw usageFailure(`There is no tool "${name}"`);
    }
  }

  /** Ends everything, also what is only being started. What has no answer yet is left to a process in the background. */
  async releaseAll(): Promise<void> {
    this.isOver = true;
    const ids = [...this.held.keys(), ...this.pending.keys()];
    await Promise.allSettled(ids.map((id) => this.end(id)));
  }

  private async list(): Promise<Result> {
    const own = await this.listOffered();
    return {
      resources: own.map(({ id, name, endpoint, provider, resourceType }) => ({
        id,
        name,
        endpoint,
        provider,
        resourceType,
      })),
      maxHours: this.limits.maxHours,
    };
  }

  /** What may be requested, and no error names anything else. */
  private async listOffered(): Promise<Resource[]> {
    const { allowed } = this.limits;
    return (await resources(this.server.api, true)).filter(
      ({ id, isActive }) => isActive && (allowed === null || allowed.includes(id)),
    );
  }

  private async request({ resources: names, hours, minutes, reason }: Given): Promise<Result> {
    const granted = minutesOf({ hours, minutes }, this.limits.maxHours);
    const requested = namesOf(names);
    const why = reasonOf(reason);
    if (this.held.size + this.pending.size + this.starting >= MAX_HELD)
      throw usageFailure(`${MAX_HELD} sessions are held: release one first`);
    this.starting += 1;
    try {
      return await this.start(requested, granted, why);
    } finally {
      this.starting -= 1;
    }
  }

  private async start(
    names: readonly string[],
    minutes: number,
    reason: string | undefined,
  ): Promise<Result> {
    const { leaseSeconds, allowed } = this.limits;
    const requested =
      allowed === null ? requestedResources(names) : { resourceIds: await this.idsAmong(allowed, names) };
    const [addresses] = requestedAddresses(
      await observe(this.server.url, 1, this.output).catch(ownAddressWhenLimited),
    );
    const request = {
      ...addresses,
      holder: newHolder('cli-mcp'),
      ...requested,
      durationHours: Math.ceil(minutes / MINUTES_IN_HOUR),
      leaseSeconds,
      ...definedFields({ reason }),
    };
    const asked: [AccessRequest, SessionRequest][] = [];
    const onDenied: StartOptions['onDenied'] = async (denial, wanted) => {
      if (!needsApproval(denial)) return null;
      if (reason === undefined) throw usageFailure(denial.message.replace(/ask with .*$/, 'give a reason'));
      asked.push([await askFor(this.server.api, denial, wanted), wanted]);
      return null;
    };
    try {
      const held = await this.open(request, minutes, { onDenied });
      return accessOf(held.session, held);
    } catch (error) {
      const [first] = asked;
      if (!first) throw error;
      const [{ id: accessRequestId }, wanted] = first;
      const start = () => this.open({ ...wanted, accessRequestId }, minutes, {}, accessRequestId);
      this.pending.set(accessRequestId, { asked: first[0], start });
      return pendingOf(first[0]);
    }
  }

  /** @param id what the client knows it by already; left out: its session's */
  private async open(
    request: SessionRequest,
    minutes: number,
    how: Pick<StartOptions, 'onDenied'>,
    id?: string,
  ): Promise<Held> {
    const started = await startSession(this.server, request, how);
    if (!started.session.leaseUntil) {
      await stopSession(started.control, started.session.id, STOP_TIMEOUT_MS);
      throw new CommandFailure(
        EXIT.failed,
        'This server knows no leases, and access without one is not requested',
      );
    }
    return this.keep(started, minutes, id ?? started.session.id);
  }

  /** The server may know more resources than those that may be requested here. */
  private async idsAmong(allowed: readonly string[], names: readonly string[]): Promise<string[]> {
    const offered = names.every(isId) ? [] : await this.listOffered();
    const noun = { one: 'resource', several: 'resources' };
    const ids = names.map((name) => (isId(name) ? name : named(name, offered, noun).id));
    const refused = ids.find((id) => !allowed.includes(id));
    if (refused === undefined) return ids;
    throw usageFailure(`Resource ${refused} may not be requested here`);
  }

  private keep(started: StartedSession, minutes: number, id: string): Held {
    const { session, control, end } = started;
    const { leaseSeconds } = this.limits;
    const renewing = new AbortController();
    const ownEnd = Date.parse(session.startedAt) + minutes * MINUTE_MS;
    const until = new Date(Math.min(ownEnd, Date.parse(session.expiresAt)));
    const held = { ...started, renewing, until, id };
    this.held.set(id, held);
    this.endAt(held);
    const notes = leaseNotes(this.output);
    const listener = {
      ...notes,
      ended: (reason: string) => {
        this.held.delete(id);
        notes.ended(reason);
      },
    };
    // it never throws
    void keepAlive({ sessionId: session.id, leaseSeconds, control, end }, listener, renewing.signal);
    if (this.isOver) this.endSaying(id);
    return held;
  }

  /** Sessions last whole hours. One that is not stopped ends with its lease, which is not renewed any more. */
  private endAt({ until, id, renewing, end: { serverNow } }: Held): void {
    const timer = setTimeout(() => this.endSaying(id), until.getTime() - serverNow).unref();
    renewing.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  private endSaying(id: string): void {
    this.end(id).catch((error: unknown) => this.output.note(String(error)));
  }

  private async listOpen(): Promise<Result> {
    const [{ ipv4, ipv6 }, held] = await Promise.all([
      observe(this.server.url, 1, this.output),
      Promise.all([...this.held.values()].map(async (one) => ({ ...one, session: await sessionOf(one) }))),
    ]);
    for (const { id, session } of held) if (session === null) this.held.delete(id);
    const addresses = [...ipv4, ...ipv6];
    const known = [
      ...held.flatMap(({ session, ...one }) => (session === null ? [] : [accessOf(session, one)])),
      ...[...this.pending.values()].map(({ asked }) => pendingOf(asked)),
    ];
    const access = known.map((one) => ({
      ...one,
      isFromHere: one.addresses.some((address) => addresses.includes(address)),
    }));
    return { access, addresses };
  }

  private async wait({ sessionId, seconds: given }: Given): Promise<Result> {
    const seconds = secondsOf(given);
    const deadline = monotonicMs() + 1000 * seconds;
    const pending = this.pending.get(String(sessionId));
    if (pending && !(await this.isStarted(pending, seconds))) return pendingOf(pending.asked);
    const held = this.heldSession(sessionId);
    const { control, session } = held;
    const timeoutMs = Math.max(0, deadline - monotonicMs());
    return accessOf(await settle(control, session.id, { timeoutMs }), held);
  }

  /** Waits for the decision, and starts what was approved. @throws CommandFailure when it was not */
  private async isStarted(pending: Pending, seconds: number): Promise<boolean> {
    const { id } = pending.asked;
    pending.asked = await readWhenDecided(this.server.api, id, Math.min(WAIT_SECONDS, seconds));
    if (pending.asked.status === 'WAITING') return false;
    try {
      // another call may have started it meanwhile
      if (!pending.started) requireApproved(pending.asked);
      await (pending.started ??= pending.start());
      return true;
    } finally {
      this.pending.delete(id);
    }
  }

  private async release({ sessionId }: Given): Promise<Result> {
    const id = String(sessionId);
    if (!this.pending.has(id)) this.heldSession(sessionId);
    const stopped = await this.end(id);
    return { sessionId: id, status: stopped?.status ?? 'ENDED' };
  }

  private async end(id: string): Promise<{ readonly status: string } | null> {
    if (this.pending.delete(id)) return cancelRequest(this.server.api, id);
    const held = this.held.get(id);
    if (!held) return null;
    held.renewing.abort();
    const [stop] = await stopHeld(this.server.url, [held], this.output, STOP_TIMEOUT_MS);
    if (stop?.status !== 'fulfilled') throw notKnown(held, stop?.reason);
    this.held.delete(id);
    return stop.value;
  }

  private heldSession(id: unknown): Held {
    const held = typeof id === 'string' ? this.held.get(id) : undefined;
    if (held) return held;
    throw usageFailure('sessionId must be that of access which was requested here and has not ended');
  }
}

function notKnown({ end }: Held, reason: unknown): CommandFailure {
  const why = reason instanceof Error ? reason.message : String(reason);
  const message = `It is not known whether the access was stopped (${why}): it ends at ${end.latest.toISOString()} at the latest`;
  return new CommandFailure(EXIT.unreachable, message);
}

/** @returns null when it has ended, and its token with it */
async function sessionOf({ control, session: { id } }: StartedSession): Promise<Session | null> {
  try {
    return await bodyOf(control.GET('/api/v1/sessions/{id}', { params: { path: { id } } }));
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return null;
    throw error;
  }
}
