import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setOutput, setSecret } from '@actions/core';
import {
  addressesOf,
  createApi,
  discover,
  EGRESS_CONNECTIONS,
  isUnprotected,
  leftOutText,
  newHolder,
  NotReady,
  observeAddresses,
  ownAddressWhenLimited,
  type Observed,
  reach,
  refusedRules,
  requestedAddresses,
  requestedResources,
  type Server,
  type Session,
  startAndWait,
  type StartedSession,
  stopSession,
  untilReady,
} from '#client';
import { ActionFailure, Cancelled, notKnown } from './failure';
import { credentialOf } from './identity';
import { type Inputs, readInputs } from './inputs';
import { info, warning } from './log';
import { repeat } from './repeat';
import { startRenewer } from './renewal';
import { type Access, saveAccess, type SessionState } from './state';

/** The runner ends a cancelled step ten seconds after the first signal. */
const STOP_TIMEOUT_MS = 5_000;
const MENTIONED_PAUSE_SECONDS = 2;

/**
 * The main step: gives access, and hands it to a renewer and to the post step. Nothing stays when it throws.
 * @throws Cancelled when the runner cancels the job meanwhile
 */
export async function start(input: (name: string) => string): Promise<void> {
  const inputs = readInputs(input);
  const { url } = inputs;
  if (isUnprotected(url)) warning(`${url} is not https: what is sent there can be read on the way`);
  // neither needs the other
  const [credential, observed] = await Promise.all([credentialOf(url, inputs.identity), observe(inputs)]);
  const server = { url, api: createApi({ url, credential, onRetry }), onRetry };
  // before this line there is nothing to end: a signal ends the process
  const cancelled = cancellation();
  const access = new StartingAccess(server, inputs, requestedAddresses(observed));
  try {
    const sessions = await access.open(cancelled);
    requireApplied(sessions, inputs);
    await startRenewer(access.state(), process.ppid);
    if (inputs.probe) (await reach(inputs.probe, cancelled)).destroy();
    if (inputs.ready !== '') await requireReady(inputs, cancelled);
    cancelled.throwIfAborted();
    report(sessions, access.state());
  } catch (error) {
    await access.close();
    throw error;
  }
}

/** Sessions from the first request on: each is in the state of the post step before it is waited for. */
class StartingAccess {
  private readonly started: StartedSession[] = [];
  private readonly addresses: ReturnType<typeof requestedAddresses>;
  private readonly notesFile = join(
    process.env['RUNNER_TEMP'] ?? tmpdir(),
    `drawbridge-${randomUUID()}.notes`,
  );

  constructor(
    private readonly server: Server,
    private readonly inputs: Inputs,
    addresses: ReturnType<typeof requestedAddresses>,
  ) {
    this.addresses = addresses.slice(0, inputs.addresses === 'all' ? undefined : 1);
  }

  /** @throws the first failure, after every start has ended */
  async open(signal: AbortSignal): Promise<Session[]> {
    const { leaseSeconds, hours, resources, reason, ticket } = this.inputs;
    const { GITHUB_RUN_ID: run = '0', GITHUB_RUN_ATTEMPT: attempt = '1' } = process.env;
    const outcomes = await Promise.allSettled(
      this.addresses.map((own) =>
        startAndWait(
          this.server,
          {
            ...own,
            leaseSeconds,
            holder: newHolder(`gh:${run}:${attempt}`),
            ...requestedResources(resources),
            ...(hours === null ? {} : { durationHours: hours }),
            ...(reason === '' ? {} : { reason }),
            ...(ticket === '' ? {} : { ticket }),
          },
          { timeoutMs: this.inputs.waitSeconds * 1000, signal, onStarted: (started) => this.keep(started) },
        ),
      ),
    );
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value.session;
    });
  }

  state(): Access {
    const sessions = this.started.map(({ session: { id }, token, end }): SessionState => ({
      id,
      token: token!,
      end: end.saved,
    }));
    const address = this.started.flatMap(({ session }) => addressesOf(session)).join(',');
    const { leaseSeconds } = this.inputs;
    return { url: this.server.url, sessions, notesFile: this.notesFile, address, leaseSeconds };
  }

  /** Ends what was started. What is not ended here the post step goes on to end. */
  async close(): Promise<void> {
    const stops = this.started.map(({ session, control, end }) =>
      stopSession(control, session.id, STOP_TIMEOUT_MS).catch((error: unknown) =>
        warning(notKnown(error, end)),
      ),
    );
    await Promise.all(stops);
  }

  private keep(started: StartedSession): void {
    if (started.token === null) {
      throw new ActionFailure(
        'This server knows no leases',
        'update the server, or use an older release of the action',
      );
    }
    setSecret(started.token);
    if (started.inactiveResources) warning(leftOutText(started.inactiveResources));
    this.started.push(started);
    saveAccess(this.state());
  }
}

async function observe({ url, addresses }: Inputs): Promise<Observed> {
  const takesAll = addresses === 'all';
  const connections = takesAll ? EGRESS_CONNECTIONS.pool : EGRESS_CONNECTIONS.hint;
  const observed = await repeat(async () =>
    observeAddresses(url, await discover(url), connections).catch(ownAddressWhenLimited),
  );
  for (const several of [observed.ipv4, observed.ipv6].filter(({ length }) => length > 1 && !takesAll)) {
    warning(
      `Connections of this runner leave through several addresses (${several.join(', ')}), and ${several[0]} is ` +
        'allowed. Fix: set addresses: all, or give the runners one fixed address.',
    );
  }
  return observed;
}

/** @throws ActionFailure unless all rules were applied, or those that were suffice */
function requireApplied(sessions: readonly Session[], { allowPartial, waitSeconds }: Inputs): void {
  if (sessions.every(({ status }) => status === 'ACTIVE')) return;
  const refused = sessions.flatMap(refusedRules);
  if (sessions.some(({ status }) => status === 'PENDING')) {
    const fix = 'run the job again; the events of the session show what the provider answers';
    throw new ActionFailure(`The rules were not applied within ${waitSeconds} s`, fix);
  }
  if (sessions.some(({ status }) => status === 'ACTIVE' || status === 'PARTIAL')) {
    const summary = `Some rules were refused: ${refused.join('; ')}`;
    if (!allowPartial) throw new ActionFailure(summary, 'correct them, or set allow-partial: true');
    warning(summary);
    return;
  }
  const [{ status }] = sessions as [Session];
  throw new ActionFailure(
    refused.length > 0 ? `No rule was applied: ${refused.join('; ')}` : `The session is ${status}`,
    'check the resource and its credential in Drawbridge',
  );
}

/** @throws ActionFailure when the command of `ready` does not succeed in time @throws the signal's reason */
async function requireReady({ ready, readySeconds }: Inputs, signal: AbortSignal): Promise<void> {
  try {
    await untilReady(ready, readySeconds, signal);
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    throw new ActionFailure(error.message, 'check the command, or set ready-seconds');
  }
}

function report(sessions: readonly Session[], { address }: Access): void {
  const expiresAt = sessions.map((session) => session.expiresAt).toSorted()[0] ?? '';
  setOutput('session-id', sessions.map(({ id }) => id).join(','));
  setOutput('address', address);
  setOutput('expires-at', expiresAt);
  info(`${address} is allowed until this job ends, at the latest until ${expiresAt}`);
}

function onRetry(reason: string, seconds: number): void {
  if (seconds >= MENTIONED_PAUSE_SECONDS) info(`${reason}: trying again in ${seconds} s`);
}

function cancellation(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => controller.abort(new Cancelled()));
  }
  return controller.signal;
}
