import { randomBytes } from 'node:crypto';
import { definedFields, isId } from '#rules';
import { bodyOf, createApi, sessionToken, type Api, type Schemas, type Session } from './api';
import type { Observed } from './addresses';
import { AccessEnd, monotonicMs } from './clock';
import { ApiFailure } from './failure';
import { keepAlive, patienceOf, type LeaseListener } from './keep-alive';
import type { SendingOptions } from './sending';

/** Where sessions are started, and as whom. */
export interface Server {
  /** without `/api/v1` */
  readonly url: string;
  readonly api: Api;
  readonly onRetry?: SendingOptions['onRetry'];
}

export type SessionRequest = Omit<Schemas['StartSessionDto'], 'holder'> & {
  /** tells parallel sessions behind one address apart, and makes the start repeatable; see `newHolder` */
  readonly holder: string;
};

/** A session with what may read, renew and stop it. */
export interface StartedSession {
  readonly session: Session;
  /** that were left out, as no resources were named; null: there are none */
  readonly inactiveResources: Schemas['InactiveResourcesDto'] | null;
  /** with a lease the token of this session alone, else the caller's credential */
  readonly control: Api;
  /** reads, renews and stops this session alone; null without a lease */
  readonly token: string | null;
  readonly end: AccessEnd;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Start {
  /** whether the addresses were observed, not chosen */
  readonly isObserved?: boolean;
  /**
   * called once when the start is denied, to get what it lacks. @returns what the request then adds, and it is tried again;
   * null: nothing can be done
   */
  readonly onDenied?: ((denial: ApiFailure, request: SessionRequest) => Promise<Lacking | null>) | undefined;
}

type Lacking = Partial<Pick<SessionRequest, 'accessRequestId'>>;

export interface StartOptions extends WaitOptions, Start {
  /** called before the wait: the session exists from then on */
  readonly onStarted?: (started: StartedSession) => void;
  /** ends what was started when the wait is given up; left out: the caller does */
  readonly close?: (started: StartedSession) => Promise<unknown>;
}

/** The longest wait of one request. */
export const WAIT_SECONDS = 30;

/** The wait itself finds out what becomes of the session. */
const SILENT: LeaseListener = { lost: () => undefined, regained: () => undefined, ended: () => undefined };

/** A holder that no other process uses. @param prefix what started it, at most 40 characters */
export const newHolder = (prefix: string): string => `${prefix}:${randomBytes(8).toString('hex')}`;

/**
 * The request's addresses for what was observed: one session per address, the families side by side. Without any, one session
 * for the address that the server sees.
 */
export function requestedAddresses({
  ipv4,
  ipv6,
}: Observed): Pick<SessionRequest, 'ipv4Address' | 'ipv6Address'>[] {
  return Array.from({ length: Math.max(1, ipv4.length, ipv6.length) }, (_, index) =>
    definedFields({ ipv4Address: ipv4[index], ipv6Address: ipv6[index] }),
  );
}

/** The resources a session is to cover, given by names, ids or beginnings of ids; none: all that the caller may use. */
export function requestedResources(
  given: readonly string[],
): Pick<SessionRequest, 'resourceIds' | 'resourceNames'> {
  const ids = given.filter(isId);
  const names = given.filter((one) => !isId(one));
  return {
    ...(ids.length > 0 ? { resourceIds: ids } : {}),
    ...(names.length > 0 ? { resourceNames: names } : {}),
  };
}

/** Says which of its user's resources a session that names none leaves out. */
export function leftOutText({ total, sample }: Schemas['InactiveResourcesDto']): string {
  const names = [...sample, ...(total > sample.length ? [`${total - sample.length} more`] : [])].join(', ');
  return `left out, as not verified or inactive: ${names}`;
}

/**
 * Starts a session. The holder is the Idempotency-Key too: a repeated request starts nothing twice.
 * @param isObserved whether the addresses were observed, not chosen: one that the organization does not allow, as it is
 *   not that of this very request, is then left out
 * @param waitSeconds answers once the rules are applied or refused, or when this time is over; 0: at once
 * @throws ApiFailure
 * @throws Unreachable
 */
export async function startSession(
  server: Server,
  request: SessionRequest,
  { isObserved = true, waitSeconds = 0, onDenied }: Start & { readonly waitSeconds?: number } = {},
): Promise<StartedSession> {
  let mayAsk = onDenied;
  for (let body = request; ;) {
    try {
      const answer = await bodyOf(
        server.api.POST('/api/v1/sessions', {
          params: {
            header: { 'Idempotency-Key': body.holder },
            query: waitSeconds > 0 ? { waitSeconds } : {},
          },
          body,
        }),
      );
      const { sessionToken: token, inactiveResources = null, ...session } = answer;
      const { url, onRetry } = server;
      const patienceMs = body.leaseSeconds && patienceOf(body.leaseSeconds);
      const control = token
        ? createApi({ url, credential: sessionToken(token), onRetry, patienceMs })
        : server.api;
      return { session, inactiveResources, control, token: token ?? null, end: AccessEnd.of(session) };
    } catch (error) {
      const less = isObserved ? withoutRefusedAddress(body, error) : null;
      const isDenied = error instanceof ApiFailure && error.status === 403;
      const lacking = isDenied && mayAsk ? await mayAsk(error, body) : null;
      if (isDenied) mayAsk = undefined;
      if (less === null && lacking === null) throw error;
      body = less ?? { ...body, ...lacking };
    }
  }
}

/** @returns null when no address was refused, or none would be left */
function withoutRefusedAddress(body: SessionRequest, error: unknown): SessionRequest | null {
  if (!(error instanceof ApiFailure) || error.status !== 400) return null;
  const { ipv4Address, ipv6Address, ...rest } = body;
  if (ipv4Address === undefined || ipv6Address === undefined) return null;
  if ('ipv4Address' in error.fields) return { ...rest, ipv6Address };
  return 'ipv6Address' in error.fields ? { ...rest, ipv4Address } : null;
}

/** Waits until a session is neither PENDING nor EXPIRING. @returns it, also when the time is over */
export async function settle(control: Api, id: string, { timeoutMs, signal }: WaitOptions): Promise<Session> {
  const deadline = monotonicMs() + timeoutMs;
  for (;;) {
    const seconds = Math.ceil((deadline - monotonicMs()) / 1000);
    const waitSeconds = Math.max(1, Math.min(WAIT_SECONDS, seconds));
    const session = await bodyOf(
      control.GET('/api/v1/sessions/{id}', {
        params: { path: { id }, query: { waitSeconds } },
        ...(signal ? { signal } : {}),
      }),
    );
    const isSettled = session.status !== 'PENDING' && session.status !== 'EXPIRING';
    if (isSettled || monotonicMs() >= deadline) return session;
  }
}

/**
 * Starts a session and waits until its rules are applied or refused: ACTIVE, PARTIAL or FAILED, or PENDING when the time
 * is over. What was started and is given up is left to `close`.
 * @throws ApiFailure
 * @throws Unreachable
 * @throws the signal's reason
 */
export async function startAndWait(
  server: Server,
  request: SessionRequest,
  { isObserved = true, onDenied, onStarted, close, ...wait }: StartOptions,
): Promise<StartedSession> {
  wait.signal?.throwIfAborted();
  const started = await startSession(server, request, { isObserved, onDenied });
  const { session, control, end } = started;
  const waited = new AbortController();
  const { leaseSeconds = 0 } = request;
  // the wait may be longer than the lease; the caller renews it from then on
  const renewals = session.leaseUntil
    ? keepAlive({ sessionId: session.id, leaseSeconds, control, end }, SILENT, waited.signal)
    : Promise.resolve();
  try {
    onStarted?.(started);
    wait.signal?.throwIfAborted();
    return { ...started, session: await settle(control, session.id, wait) };
  } catch (error) {
    await close?.(started);
    throw error;
  } finally {
    waited.abort();
    await renewals;
  }
}

/**
 * Stops a session: tries until the server answers. Its rules are removed in the background.
 * @param withinMs how long the caller can wait: then it is not known whether the session was stopped
 * @returns it; null when it is known to have ended, with its token or before
 * @throws ApiFailure
 * @throws Unreachable
 */
export async function stopSession(control: Api, id: string, withinMs: number): Promise<Session | null> {
  try {
    const signal = AbortSignal.timeout(Math.max(1, withinMs));
    return await bodyOf(control.POST('/api/v1/sessions/{id}/stop', { params: { path: { id } }, signal }));
  } catch (error) {
    if (hasEnded(error)) return null;
    throw error;
  }
}

/**
 * Waits until the rules of a stopped session are removed.
 * @returns null when they are, else the session as it is when the time is over
 * @throws ApiFailure
 * @throws Unreachable
 */
export async function settleClosed(control: Api, id: string, timeoutMs: number): Promise<Session | null> {
  try {
    const session = await settle(control, id, { timeoutMs });
    return session.status === 'EXPIRING' ? session : null;
  } catch (error) {
    if (hasEnded(error)) return null;
    throw error;
  }
}

/** The token of a session ends with it, and 400 says that it is in no state to be stopped: it has failed. */
const hasEnded = (error: unknown): boolean =>
  error instanceof ApiFailure && error.code !== null && [400, 401, 404, 409].includes(error.status);

/** Its addresses, IPv4 first. */
export const addressesOf = ({
  ipv4Address,
  ipv6Address,
}: Pick<Session, 'ipv4Address' | 'ipv6Address'>): string[] =>
  [ipv4Address, ipv6Address].filter((address) => address !== null);

/** One line for each rule that was refused. */
export const refusedRules = ({ resourceIps }: Session): string[] =>
  resourceIps
    .filter(({ status }) => status === 'FAILED')
    .map(
      ({ ipAddress, resourceName, errorMessage }) =>
        `${ipAddress} on ${resourceName}: ${errorMessage ?? 'refused'}`,
    );
