import {
  type Api,
  definedFields,
  discover,
  EGRESS_CONNECTIONS,
  keepAlive,
  type LeaseListener,
  leftOutText,
  newHolder,
  observeAddresses,
  type Observed,
  ownAddressWhenLimited,
  refusedRules,
  requestedAddresses,
  type requestedResources,
  type Server,
  type Session,
  settleClosed,
  startAndWait,
  type StartedSession,
} from '#client';
import { CommandFailure, EXIT, type ExitCode } from '../exit-codes';
import type { Output } from '../output';
import { asking, type Grounds } from './approval';
import { endsText, stopHeld } from './closing';

export interface AccessRequest {
  readonly resources: ReturnType<typeof requestedResources>;
  readonly hours?: number | undefined;
  readonly leaseSeconds: number;
  /** all: one session for each address that the connections leave through */
  readonly addresses: 'observed' | 'all';
  /** the command, for the name of the holder */
  readonly purpose: string;
  readonly timeoutMs: number;
  readonly allowPartial: boolean;
  readonly grounds: Grounds;
  /** the id of a live session that the new one takes the place of, with its end */
  readonly replaces?: string;
  /** with `replaces`: of both together */
  readonly hoursInAll?: number | undefined;
}

const NO_LEASE =
  'this server knows no leases: if this program is killed, the access ends with the session only';
/** Rules are usually gone at once. */
const CLOSE_WAIT_MS = 5_000;

/** Asks which addresses the server observes. @param connections fresh ones per family */
export function observe(server: string, connections: number, output: Output): Promise<Observed> {
  const observed = discover(server).then((discovery) => observeAddresses(server, discovery, connections));
  return output.mentionWait(`for ${server} to say which addresses it observes`, observed);
}

/** Access that lasts while this process works: leased sessions, renewed until `close`. */
export class HeldAccess {
  private readonly renewing = new AbortController();
  private readonly renewals: Promise<void>[];

  private constructor(
    private readonly url: string,
    readonly sessions: readonly StartedSession[],
    leaseSeconds: number,
    listener: LeaseListener,
  ) {
    // without a lease there is nothing to renew
    const leased = sessions.filter(({ session }) => session.leaseUntil);
    this.renewals = leased.map(({ session, control, end }) =>
      keepAlive({ sessionId: session.id, leaseSeconds, control, end }, listener, this.renewing.signal),
    );
  }

  /**
   * Starts sessions for the caller's addresses, once they are approved, and waits until their rules are applied. Nothing
   * stays when it throws.
   * @param signal gives the start up
   * @throws CommandFailure with the outcome, when rules were refused
   */
  static async open(
    server: Server,
    request: AccessRequest,
    { output, listener, signal }: { output: Output; listener: LeaseListener; signal: AbortSignal },
  ): Promise<HeldAccess> {
    const takesAll = request.addresses === 'all';
    const connections = takesAll ? EGRESS_CONNECTIONS.pool : EGRESS_CONNECTIONS.hint;
    const observed = await observe(server.url, connections, output).catch(ownAddressWhenLimited);
    if (!takesAll) warnAboutPool(observed, output);
    const addresses = requestedAddresses(observed).slice(0, takesAll ? undefined : 1);
    const held = addresses.flatMap((own) => Object.values(own));
    const heardFrom = noteMove(held, output);
    return HeldAccess.openFor(server, request, addresses, {
      output,
      listener: { ...listener, heardFrom },
      signal,
    });
  }

  /** The same for given addresses, without asking for them. */
  static async openFor(
    server: Server,
    request: AccessRequest,
    addresses: readonly Addresses[],
    { output, listener, signal }: { output: Output; listener: LeaseListener; signal: AbortSignal },
  ): Promise<HeldAccess> {
    const { resources, hours, leaseSeconds, purpose, timeoutMs, replaces, grounds } = request;
    // one that takes another's place lasts as long
    const onDenied = asking({ api: server.api, output, signal, hours: request.hoursInAll ?? hours });
    const starts = Promise.allSettled(
      addresses.map((own) =>
        startAndWait(
          server,
          {
            ...own,
            leaseSeconds,
            holder: newHolder(purpose),
            ...resources,
            ...definedFields({ durationHours: hours, replaces }),
            ...grounds,
          },
          { timeoutMs, signal, onDenied, close: (started) => stopAll(server.url, [started], output) },
        ),
      ),
    );
    const outcomes = await output.mentionWait('until the rules are applied', starts);
    const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected');
    const failure = rejected ? errorOf(rejected.reason) : outcomeFailure(started, request, output);
    if (failure === null) {
      for (const { session } of started) noteWarnings(session, output);
      noteInactive(started[0]!, output);
      if (started.some(({ session }) => !session.leaseUntil)) output.note(NO_LEASE);
      return new HeldAccess(server.url, started, leaseSeconds, listener);
    }
    await stopAll(server.url, started, output);
    throw failure;
  }

  /** The earliest end, whatever is renewed. */
  get expiresAt(): Date {
    return new Date(Math.min(...this.sessions.map(({ session }) => Date.parse(session.expiresAt))));
  }

  /** The server's time, by the session that was started last. */
  get serverNow(): number {
    return this.sessions[0]!.end.serverNow;
  }

  /**
   * Ends the access, and waits a moment for its rules to be removed. Never throws: what cannot be stopped, or is not removed
   * yet, is reported.
   * @returns whether all are removed
   */
  async close(output: Output): Promise<boolean> {
    await this.release();
    return stopAll(this.url, this.sessions, output);
  }

  /** Stops renewing. The sessions stay live, for the caller to replace them. */
  async release(): Promise<void> {
    this.renewing.abort();
    await Promise.all(this.renewals);
  }
}

const errorOf = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

export type Addresses = ReturnType<typeof requestedAddresses>[number];

async function stopAll(url: string, sessions: readonly StartedSession[], output: Output): Promise<boolean> {
  const stopped = await output.mentionWait('until the access is stopped', stopHeld(url, sessions, output));
  const removals = sessions.map(async ({ session: { id }, control, end }, index) => {
    const stop = stopped[index]!;
    if (stop.status === 'rejected') {
      const reason = errorOf(stop.reason).message;
      output.note(`it is not known whether the access was stopped (${reason}): ${endsText(end.latest)}`);
    }
    return stop.status === 'fulfilled' && (stop.value === null || isRemoved(control, id, output));
  });
  return (await output.mentionWait('until the rules are removed', Promise.all(removals))).every(Boolean);
}

/** Waits a moment, and says what is not known to be removed then. */
async function isRemoved(control: Api, id: string, output: Output): Promise<boolean> {
  try {
    const open = await settleClosed(control, id, CLOSE_WAIT_MS);
    if (open !== null) noteOpen(open, output);
    return open === null;
  } catch (error) {
    output.note(
      `the access is stopped, and the server goes on removing its rules: ${errorOf(error).message}`,
    );
    return false;
  }
}

/** Says what a session opens that may not be intended. */
export function noteWarnings({ resourceIps }: Session, output: Output): void {
  const notes = resourceIps.flatMap(({ resourceName, warnings }) =>
    warnings.map((warning) => `${resourceName}: ${warning}`),
  );
  for (const note of new Set(notes)) output.note(note);
}

/** Says what a stopped session still lets in, and why. */
export function noteOpen({ resourceIps }: Session, output: Output): void {
  for (const { ipAddress, resourceName, status, errorMessage } of resourceIps) {
    if (status === 'REMOVED' || status === 'FAILED') continue;
    const reason = errorMessage ?? 'its rule is still being removed';
    output.note(`${ipAddress} on ${resourceName} is still open: ${reason}. The server goes on removing it`);
  }
}

/** Says when this machine has come to another network: renewals, which work from anywhere, keep the access of the first. */
function noteMove(held: readonly string[], output: Output): (address: string | null) => void {
  let isAway = false;
  const own = held.join(', ');
  return (address) => {
    const isHere = address === null || held.includes(address);
    if (held.length === 0 || isHere !== isAway) return;
    isAway = !isHere;
    output.note(
      isHere
        ? `your address is ${own} again`
        : `your address is now ${address}, and ${own} keeps the access: ` +
            'drawbridge watch in place of this follows your address',
    );
  };
}

function warnAboutPool({ ipv4, ipv6 }: Observed, output: Output): void {
  for (const addresses of [ipv4, ipv6].filter(({ length }) => length > 1)) {
    output.note(
      `connections leave through several addresses (${addresses.join(', ')}), and ${addresses[0]} is allowed: ` +
        'add --addresses all, or ask for one fixed address',
    );
  }
}

/** @returns null when the access is what was asked for */
function outcomeFailure(
  started: readonly StartedSession[],
  { allowPartial, timeoutMs }: AccessRequest,
  output: Output,
): CommandFailure | null {
  const sessions = started.map(({ session }) => session);
  const problems = sessions.flatMap(refusedRules);
  if (sessions.every(({ status }) => status === 'ACTIVE')) return null;
  for (const problem of problems) output.note(problem);
  const worst = sessionExitCode(sessions);
  if (worst === EXIT.partial && allowPartial) return null;
  if (sessions.some(({ status }) => status === 'PENDING')) {
    return new CommandFailure(EXIT.failed, `The rules were not applied within ${timeoutMs / 1000} s`);
  }
  const fix = worst === EXIT.partial ? 'add --allow-partial to go on with what was applied' : null;
  const summary = worst === EXIT.partial ? 'Some rules were refused' : 'No rule was applied';
  return new CommandFailure(worst, summary, fix);
}

/** The exit code for what became of sessions: 0, 3 or 4. */
export function sessionExitCode(sessions: readonly Pick<Session, 'status'>[]): ExitCode {
  if (sessions.some(({ status }) => status === 'FAILED' || status === 'PENDING')) {
    return sessions.some(({ status }) => status === 'ACTIVE' || status === 'PARTIAL')
      ? EXIT.partial
      : EXIT.failed;
  }
  return sessions.some(({ status }) => status === 'PARTIAL') ? EXIT.partial : EXIT.ok;
}

/** Says what a start that names no resource leaves out. */
export function noteInactive(
  { inactiveResources }: Pick<StartedSession, 'inactiveResources'>,
  output: Output,
): void {
  if (inactiveResources) output.note(leftOutText(inactiveResources));
}
