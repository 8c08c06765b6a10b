import {
  addressesOf,
  ApiFailure,
  bodyOf,
  isId,
  keepAlive,
  newHolder,
  named,
  requestedAddresses,
  requestedResources,
  ownAddressWhenLimited,
  type Resource,
  settle,
  startSession,
  stopSession,
  type Server,
  type Session,
  type StartedSession,
} from '#client';
import { observe } from '../access/held-access';
import { leaseNotes } from '../access/lease-notes';
import { resources } from '../commands/setup/things';
import { CommandFailure, EXIT } from '../exit-codes';
import type { Output } from '../output';
import { TOOLS } from './tools';

export interface Limits {
  /** ids; null: whatever the user's roles reach */
  readonly allowed: readonly string[] | null;
  readonly maxHours: number;
  readonly leaseSeconds: number;
}

interface Held extends StartedSession {
  readonly renewing: AbortController;
  /** when it is ended, which may be before its session would end */
  readonly until: Date;
}

type Given = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;

const MINUTE_MS = 60_000;
const MINUTES_IN_HOUR = 60;
const MAX_HELD = 20;
const MAX_RESOURCES = 20;
const DEFAULT_WAIT_SECONDS = 30;
const MAX_WAIT_SECONDS = 60;
const STOP_TIMEOUT_MS = 10_000;

/** The tools of one client. They know only the sessions that this client has requested. */
export class AccessTools {
  private readonly held = new Map<string, Held>();
  /** requests that are not held yet */
  private starting = 0;

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
        return this.open();
      case 'release_access':
        return this.release(given);
      default:
        throw invalid(`There is no tool "${name}"`);
    }
  }

  /** Ends everything. What cannot be stopped ends with its lease. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.held.keys()].map((id) => this.end(id)));
  }

  private async list(): Promise<Result> {
    const own = await this.offered();
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
  private async offered(): Promise<Resource[]> {
    const { allowed } = this.limits;
    return (await resources(this.server.api, true)).filter(
      ({ id, isActive }) => isActive && (allowed === null || allowed.includes(id)),
    );
  }

  private async request({ resources: names, hours, minutes }: Given): Promise<Result> {
    if (!isTexts(names)) throw invalid(`resources must be a list of 1 to ${MAX_RESOURCES} names or ids`);
    const granted = minutesOf({ hours, minutes }, this.limits.maxHours);
    if (this.held.size + this.starting >= MAX_HELD)
      throw invalid(`${MAX_HELD} sessions are held: release one first`);
    this.starting += 1;
    try {
      return await this.start(names, granted);
    } finally {
      this.starting -= 1;
    }
  }

  private async start(names: readonly string[], minutes: number): Promise<Result> {
    const { leaseSeconds, allowed } = this.limits;
    const requested =
      allowed === null ? requestedResources(names) : { resourceIds: await this.idsAmong(allowed, names) };
    const [addresses] = requestedAddresses(
      await observe(this.server.url, 1, this.output).catch(ownAddressWhenLimited),
    );
    const started = await startSession(this.server, {
      ...addresses,
      holder: newHolder('cli-mcp'),
      ...requested,
      durationHours: Math.ceil(minutes / MINUTES_IN_HOUR),
      leaseSeconds,
    });
    if (!started.session.leaseUntil) {
      await stopSession(started.control, started.session.id, STOP_TIMEOUT_MS);
      throw new CommandFailure(
        EXIT.failed,
        'This server knows no leases, and access without one is not requested',
      );
    }
    const held = this.keep(started, leaseSeconds, minutes);
    return accessOf(started.session, held);
  }

  /** The server may know more resources than those that may be requested here. */
  private async idsAmong(allowed: readonly string[], names: readonly string[]): Promise<string[]> {
    const offered = names.every(isId) ? [] : await this.offered();
    const noun = { one: 'resource', several: 'resources' };
    const ids = names.map((name) => (isId(name) ? name : named(name, offered, noun).id));
    const refused = ids.find((id) => !allowed.includes(id));
    if (refused === undefined) return ids;
    throw invalid(`Resource ${refused} may not be requested here`);
  }

  private keep(started: StartedSession, leaseSeconds: number, minutes: number): Held {
    const { session, control } = started;
    const renewing = new AbortController();
    const ownEnd = Date.parse(session.startedAt) + minutes * MINUTE_MS;
    const until = new Date(Math.min(ownEnd, Date.parse(session.expiresAt)));
    const held = { ...started, renewing, until };
    this.held.set(session.id, held);
    this.endAt(held);
    const notes = leaseNotes(this.output);
    const listener = {
      ...notes,
      ended: (reason: string) => {
        this.held.delete(session.id);
        notes.ended(reason);
      },
    };
    // it never throws
    void keepAlive({ sessionId: session.id, leaseSeconds, control }, listener, renewing.signal);
    return held;
  }

  /** Sessions last whole hours. One that is not stopped ends with its lease, which is not renewed any more. */
  private endAt({ until, session, renewing }: Held): void {
    const end = (): void => {
      renewing.abort();
      this.end(session.id).catch((error: unknown) => this.output.note(`not stopped: ${String(error)}`));
    };
    const timer = setTimeout(end, until.getTime() - Date.now()).unref();
    renewing.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  private async open(): Promise<Result> {
    const [{ ipv4, ipv6 }, held] = await Promise.all([
      observe(this.server.url, 1, this.output),
      Promise.all([...this.held.values()].map(async (one) => ({ ...one, session: await sessionOf(one) }))),
    ]);
    const addresses = [...ipv4, ...ipv6];
    const access = held.flatMap(({ session, until }) =>
      session === null
        ? []
        : [
            {
              ...accessOf(session, { until }),
              isFromHere: addressesOf(session).some((address) => addresses.includes(address)),
            },
          ],
    );
    return { access, addresses };
  }

  private async wait({ sessionId, seconds = DEFAULT_WAIT_SECONDS }: Given): Promise<Result> {
    if (!isWhole(seconds, MAX_WAIT_SECONDS)) throw invalid(`seconds must be 1 to ${MAX_WAIT_SECONDS}`);
    const held = this.heldSession(sessionId);
    const { control, session } = held;
    return accessOf(await settle(control, session.id, { timeoutMs: 1000 * seconds }), held);
  }

  private async release({ sessionId }: Given): Promise<Result> {
    const { session } = this.heldSession(sessionId);
    const stopped = await this.end(session.id);
    return { sessionId: session.id, status: stopped?.status ?? 'ENDED' };
  }

  private async end(id: string): Promise<Session | null> {
    const held = this.held.get(id);
    if (!held) return null;
    const stopped = await stopSession(held.control, id, STOP_TIMEOUT_MS);
    held.renewing.abort();
    this.held.delete(id);
    return stopped;
  }

  private heldSession(id: unknown): Held {
    const held = typeof id === 'string' ? this.held.get(id) : undefined;
    if (held) return held;
    throw invalid('sessionId must be that of access which was requested here and has not ended');
  }
}

const invalid = (message: string): CommandFailure => new CommandFailure(EXIT.usage, message);

/** @throws CommandFailure for an argument that the tool has not: what it means would be left out in silence */
function requireKnown(tool: string, given: Given): void {
  const known = Object.keys(TOOLS.find(({ name }) => name === tool)?.inputSchema.properties ?? {});
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => `"${name}"`).join(', ');
  throw invalid(`There is no argument ${names}: ${tool} takes ${known.join(', ') || 'none'}`);
}

function minutesOf({ hours, minutes }: Given, maxHours: number): number {
  if (minutes !== undefined && hours !== undefined) throw invalid('Give minutes or hours, not both');
  const maxMinutes = maxHours * MINUTES_IN_HOUR;
  if (minutes !== undefined) {
    if (isWhole(minutes, maxMinutes)) return minutes;
    throw invalid(`minutes must be a whole number from 1 to ${maxMinutes}`);
  }
  if (isWhole(hours ?? 1, maxHours)) return Number(hours ?? 1) * MINUTES_IN_HOUR;
  throw invalid(`hours must be a whole number from 1 to ${maxHours}`);
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_RESOURCES &&
  value.every((item) => typeof item === 'string' && item !== '');

const isWhole = (value: unknown, maximum: number): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maximum;

/** @returns null when it has ended, and its token with it */
async function sessionOf({ control, session: { id } }: StartedSession): Promise<Session | null> {
  try {
    return await bodyOf(control.GET('/api/v1/sessions/{id}', { params: { path: { id } } }));
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return null;
    throw error;
  }
}

/** A session as the tools return it. */
const accessOf = (session: Session, { until }: Pick<Held, 'until'>): Result => ({
  sessionId: session.id,
  status: session.status,
  expiresAt: until.toISOString(),
  addresses: addressesOf(session),
  rules: session.resourceIps.map((rule) => ({
    resource: rule.resourceName,
    endpoint: rule.endpoint,
    address: rule.ipAddress,
    status: rule.status,
    problem: rule.errorMessage,
  })),
});
