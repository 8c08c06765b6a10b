import {
  addressesOf,
  type Api,
  ApiFailure,
  bodyOf,
  definedFields,
  everyPage,
  isId,
  named,
  newHolder,
  ownAddressWhenLimited,
  requestedAddresses,
  requestedResources,
  type Server,
  serverNow,
  type Session,
  type SessionRequest,
  type SessionStatus,
  settle,
  shortId,
  type StartedSession,
  startSession,
  visible,
  WAIT_SECONDS,
} from '#client';
import { asking, groundsOf, type Grounds } from '../access/approval';
import { endingToo, endsText, STOP_TIMEOUT_MS } from '../access/closing';
import { noteInactive, noteOpen, noteWarnings, observe, sessionExitCode } from '../access/held-access';
import { EXIT, type ExitCode, usageFailure } from '../exit-codes';
import type { Output } from '../output';
import { connect, type Connection } from '../profiles/connection';
import { SignedIn } from '../profiles/signed-in';
import type { Call } from '../program';
import { Interrupted, signalExitCode, Signals } from '../terminal/signals';
import { timeText } from '../terminal/times';
import { showPlan } from './plan';
import { idsOf } from './setup/things';

export interface StartOptions extends Grounds {
  readonly resource: readonly string[];
  readonly hours?: number;
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly holder?: string;
  readonly timeout: number;
  /** false: do not wait */
  readonly wait: boolean;
  readonly dryRun?: boolean;
}

export async function start(call: Call<StartOptions>): Promise<number> {
  try {
    return await startOne(call);
  } catch (error) {
    if (error instanceof Interrupted) return signalExitCode(error.signal);
    throw error;
  }
}

async function startOne(call: Call<StartOptions>): Promise<ExitCode> {
  const { options, output, connection: server } = call;
  const isChosen = options.ipv4 !== undefined || options.ipv6 !== undefined;
  const addresses = isChosen
    ? definedFields({ ipv4Address: options.ipv4, ipv6Address: options.ipv6 })
    : requestedAddresses(await observe(server.url, 1, output).catch(ownAddressWhenLimited))[0];
  const request = {
    ...addresses,
    holder: options.holder ?? newHolder('cli-start'),
    ...requestedResources(options.resource),
    ...definedFields({ durationHours: options.hours }),
    ...groundsOf(options),
  };
  if (options.dryRun) {
    await showPlan(server.api, request, output);
    return EXIT.ok;
  }
  const onDenied = interruptible((signal) =>
    asking({ api: server.api, output, signal, hours: options.hours }),
  );
  const how = { isObserved: !isChosen, onDenied };
  const applied = startAndSettle(server, request, how, options.wait ? options.timeout : 0);
  const { session, ...started } = await output.mentionWait('until the rules are applied', applied);
  noteWarnings(session, output);
  noteInactive(started, output);
  output.result(session, detailsOf(session));
  if (!options.wait) return EXIT.ok;
  await noteOthers(server.api, session, output);
  return sessionExitCode([session]);
}

type Asking = ReturnType<typeof asking>;

/** A signal ends what is asked for, which this process waits for; before and afterwards it ends the process. */
const interruptible =
  (askingUntil: (signal: AbortSignal) => Asking): Asking =>
  async (...denied) => {
    const signals = new Signals();
    try {
      return await askingUntil(signals.aborted)(...denied);
    } finally {
      signals.close();
    }
  };

/** The first request waits already: requests are counted. @param seconds the longest wait */
async function startAndSettle(
  server: Server,
  request: SessionRequest,
  how: { readonly isObserved: boolean; readonly onDenied: Asking },
  seconds: number,
): Promise<Pick<StartedSession, 'session' | 'inactiveResources'>> {
  const waitSeconds = Math.min(WAIT_SECONDS, seconds);
  const { session, control, inactiveResources } = await startSession(server, request, {
    ...how,
    waitSeconds,
  });
  if (session.status !== 'PENDING' || seconds <= waitSeconds) return { session, inactiveResources };
  const settled = await settle(control, session.id, { timeoutMs: 1000 * (seconds - waitSeconds) });
  return { session: settled, inactiveResources };
}

/** Access of two sessions ends with the later one: who starts a second may want to know of the first. */
async function noteOthers(api: Api, session: Session, output: Output): Promise<void> {
  const own = addressesOf(session);
  for (const other of await ownSessions(api, { active: true })) {
    const shared = addressesOf(other).filter((address) => own.includes(address));
    if (other.id === session.id || shared.length === 0) continue;
    output.note(
      `${shared.join(', ')} has access already, by session ${shortId(other.id)} until ${endOf(other)}: ` +
        'stop --all ends all of your sessions, and extend would have made it longer',
    );
  }
}

export interface StopOptions {
  readonly all?: boolean;
  readonly timeout: number;
  readonly wait: boolean;
}

export async function stop({ given, options, output }: Call<StopOptions>): Promise<ExitCode> {
  if (given.length > 0 && options.all) {
    throw usageFailure('Give ids of sessions or --all, not both');
  }
  const patienceMs = Math.max(STOP_TIMEOUT_MS, 1000 * options.timeout);
  const connection = connect(options, output, { isClosing: true, patienceMs });
  const { api, url } = connection;
  const chosen: readonly (Pick<Session, 'id'> & Partial<Session>)[] =
    given.length > 0
      ? (await sessionIds(connection, given)).map((id) => ({ id }))
      : await openSessions(api, options.all ?? false);
  const ids = chosen.map(({ id }) => id);
  // an id alone does not say when its session ends
  const latest = Math.max(...chosen.map(({ expiresAt }) => Date.parse(expiresAt ?? '')));
  const isKnown = Number.isFinite(latest);
  const stopped = await endingToo(Promise.all(ids.map((id) => stopOne(connection, id))), output, {
    remaining: () => ({
      url,
      requests: [],
      own: { profile: options.profile, ids },
      withinMs: isKnown ? latest - serverNow() : MAX_SESSION_MS,
    }),
    ends: isKnown ? endsText(new Date(latest)) : 'the access ends as planned at the latest',
  });
  const sessions = options.wait
    ? await output.mentionWait(
        'until the rules are removed',
        Promise.all(ids.map((id) => settle(api, id, { timeoutMs: 1000 * options.timeout }))),
      )
    : stopped;
  output.list('sessions', sessions, COLUMNS, 'No session is open.');
  const open = options.wait ? sessions.filter(({ status }) => status === 'EXPIRING') : [];
  for (const session of open) noteOpen(session, output);
  return open.length > 0 ? EXIT.failed : EXIT.ok;
}

/** No session lasts longer. */
const MAX_SESSION_MS = 24 * 3_600_000;

/** An administrator stops anybody's. What an attempt without an answer has stopped cannot be stopped again. */
export async function stopOne(connection: Connection, id: string): Promise<Session> {
  const { api } = connection;
  const params = { path: { id } };
  try {
    return await bodyOf(api.POST('/api/v1/sessions/{id}/stop', { params }));
  } catch (error) {
    const status = error instanceof ApiFailure && error.status;
    if (status === 400 && (error as ApiFailure).isRepeated)
      return bodyOf(api.GET('/api/v1/sessions/{id}', { params }));
    if (status !== 403 || !(await isAdministrator(connection))) throw error;
    return bodyOf(api.POST('/api/v1/sessions/admin/{id}/stop', { params }));
  }
}

/** Keys and jobs stop their own user's sessions only. */
async function isAdministrator({ api, credential }: Connection): Promise<boolean> {
  return credential instanceof SignedIn && (await bodyOf(api.GET('/api/v1/auth/me', {}))).isOrgAdmin;
}

/** @throws CommandFailure when there are several, and not all are meant */
async function openSessions(api: Api, all: boolean): Promise<Session[]> {
  const open = await ownSessions(api, { active: true });
  if (all || open.length < 2) return open;
  const found = open.map(
    (session) => `${shortId(session.id)} (${addressesOf(session).join(', ')} on ${resourcesOf(session)})`,
  );
  throw usageFailure(
    `${open.length} sessions are open: ${found.join('; ')}`,
    `drawbridge stop ${shortId(open[0]!.id)}, or drawbridge stop --all`,
  );
}

/**
 * Only a beginning of an id needs lists: of the live sessions, and of the newest ones; an administrator means the
 * organization's. @throws UnknownName
 */
async function sessionIds(connection: Connection, given: readonly string[]): Promise<string[]> {
  if (given.every(isId)) return [...given];
  const { api } = connection;
  const query = { size: 100 };
  const newest = await bodyOf(api.GET('/api/v1/sessions', { params: { query } }));
  const all = [...(await ownSessions(api, { active: true })), ...newest];
  if (await isAdministrator(connection)) {
    all.push(...(await organizationSessions(api, { active: true })));
    all.push(...(await bodyOf(api.GET('/api/v1/sessions/admin', { params: { query } }))));
  }
  const known = [...new Map(all.map((session) => [session.id, session])).values()];
  const noun = { one: 'session', several: 'sessions' };
  return given.map((one) => (isId(one) ? one : named(one, known, noun, ({ id }) => [shortId(id)]).id));
}

export interface ExtendOptions {
  readonly hours: number;
}

export async function extend(call: Call<ExtendOptions>): Promise<void> {
  const { given, options, output, api, connection } = call;
  const [id = ''] = await sessionIds(connection, given);
  const body = { additionalHours: options.hours };
  const session = await bodyOf(api.POST('/api/v1/sessions/{id}/extend', { params: { path: { id } }, body }));
  output.result(session, detailsOf(session));
}

/** One session, or the live ones. The exit code says what became of them. */
export async function showStatus({ given, output, api, connection }: Call): Promise<ExitCode> {
  const [id] = await sessionIds(connection, given);
  if (id === undefined) {
    const sessions = await ownSessions(api, { active: true });
    output.result({ sessions }, sessions.map(detailsOf).join('\n\n') || 'No live session.');
    return sessionExitCode(sessions);
  }
  const session = await bodyOf(api.GET('/api/v1/sessions/{id}', { params: { path: { id } } }));
  output.result(session, detailsOf(session));
  return sessionExitCode([session]);
}

export interface ListOptions {
  readonly resource: readonly string[];
  readonly all?: boolean;
  readonly everybody?: boolean;
  readonly status?: SessionStatus[];
}

export async function list({ options, output, api }: Call<ListOptions>): Promise<void> {
  const [resourceId] = await idsOf(api, 'resource', options.resource);
  const { everybody } = options;
  const sessions = await (everybody ? organizationSessions : ownSessions)(api, {
    ...(options.all || options.status ? {} : { active: true }),
    ...definedFields({ status: options.status, resourceId }),
  });
  const { ends, ...first } = COLUMNS;
  const columns = everybody ? { ...first, user: ({ userEmail }: Session) => userEmail, ends } : COLUMNS;
  output.list('sessions', sessions, columns, 'No session.');
}

interface Filter {
  readonly active?: boolean;
  readonly status?: SessionStatus[];
  readonly resourceId?: string;
}

const ownSessions = (api: Api, filter: Filter): Promise<Session[]> =>
  everyPage((page) => bodyOf(api.GET('/api/v1/sessions', { params: { query: { ...filter, ...page } } })));

export const organizationSessions = (api: Api, filter: Filter): Promise<Session[]> =>
  everyPage((page) =>
    bodyOf(api.GET('/api/v1/sessions/admin', { params: { query: { ...filter, ...page } } })),
  );

export const resourcesOf = ({ resourceIps }: Session): string =>
  [...new Set(resourceIps.map(({ resourceName }) => resourceName))].join(', ');

const COLUMNS = {
  id: ({ id }: Session) => shortId(id),
  status: ({ status }: Session) => status,
  addresses: (session: Session) => addressesOf(session).join(', '),
  resources: resourcesOf,
  ends: (session: Session) => (session.endedAt === null ? endOf(session) : timeText(session.endedAt)),
};

/** A lease ends a live session earlier, unless it is renewed. */
function endOf({ expiresAt, leaseUntil }: Session): string {
  const isLeased = leaseUntil !== null && Date.parse(leaseUntil) < Date.parse(expiresAt);
  return isLeased ? `${timeText(leaseUntil)} unless renewed` : timeText(expiresAt);
}

function detailsOf(session: Session): string {
  const { endedAt } = session;
  const end = endedAt === null ? `until ${endOf(session)}` : `ended ${timeText(endedAt)}`;
  const rules = session.resourceIps.map(
    ({ ipAddress, resourceName, endpoint, status: state, errorMessage }) => {
      const place = endpoint === null ? resourceName : `${resourceName} (${endpoint})`;
      return visible([`  ${ipAddress} on ${place}: ${state}`, errorMessage].filter(Boolean).join(': '));
    },
  );
  return [`${session.id}  ${session.status}  ${end}`, ...rules].join('\n');
}
