import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs, noteServerTime } from './clock';
import { ApiFailure, failureOf, requireDrawbridge, unreachable, Unreachable } from './failure';

/** How a request is authenticated. */
export interface Credential {
  /** the headers of the next request */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** after a 401: gets a new token. @returns whether to send the request once more */
  renew(): Promise<boolean>;
}

export interface SendingOptions {
  readonly credential: Credential | null;
  /** called before each pause */
  readonly onRetry?: ((reason: string, seconds: number) => void) | undefined;
  /** called with each wait for an answer, except for those that the request itself asks to come late */
  readonly onWait?: (<T>(url: string, answer: Promise<T>) => Promise<T>) | undefined;
  /**
   * the pauses of one request that the server may ask for, all together: with a lease, as long as it lasts. What ends access
   * is tried as long when there is no answer
   */
  readonly patienceMs?: number | undefined;
  /** reads are tried as long as what ends access: they tell what is to be ended */
  readonly isClosing?: boolean | undefined;
}

const PATIENCE_MS = 300_000;
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
const ANSWER_TIMEOUT_MS = 60_000;
/** What ends or keeps access is answered at once, or not at all: soon after the server is well again, the next attempt begins. */
const STOP_OR_RENEW_TIMEOUT_MS = 8_000;

/** These change nothing when they are repeated. */
const STOP_OR_RENEW = /\/sessions\/(?:admin\/)?[^/]+\/(?:stop|renew)$/;
/** POST requests that end access, or what may become access. A DELETE does so, too, but for a lockdown's. */
const END =
  /\/sessions\/(?:admin\/)?[^/]+\/stop$|\/auth\/logout$|\/access-requests\/[^/]+\/(?:cancel|deny|withdraw)$|\/lockdown$/;
/** A person waits for the outcome of a sign-in, and repeating it makes a lock longer. */
const SIGN_IN = /\/auth\/(?!logout$)/;

/**
 * A fetch that authenticates, waits as 429 and 503 ask, and throws for every refusal. What may have had an effect is sent
 * again only when it can be repeated: reads, requests with an Idempotency-Key, and those whose effect is the same twice.
 * What ends access is the most patient: while it has no answer it is sent again, whatever lacks, until the patience or the
 * request's own signal is over.
 * @throws ApiFailure
 * @throws Unreachable
 */
export function sendingFetch({
  credential,
  onRetry,
  onWait,
  patienceMs = PATIENCE_MS,
  isClosing = false,
}: SendingOptions): (request: Request) => Promise<Response> {
  const send = async (request: Request): Promise<Response> => {
    const headers = (await credential?.headers()) ?? {};
    const prepared = request.clone();
    for (const [name, value] of Object.entries(headers)) prepared.headers.set(name, value);
    const answer = fetchOnce(prepared);
    const { origin, searchParams } = new URL(request.url);
    return onWait && !searchParams.has('waitSeconds') ? onWait(origin, answer) : answer;
  };
  const sendAuthenticated = async (request: Request): Promise<Response> => {
    const answer = await send(request);
    return answer.status === 401 && (await credential?.renew()) ? send(request) : answer;
  };
  return async (request) => {
    const began = monotonicMs();
    const isPatient = endsAccess(request) || (isClosing && request.method === 'GET');
    let unanswered = 0;
    let lack: Unreachable | ApiFailure | null = null;
    for (;;) {
      const attempted = monotonicMs();
      const outcome = await sendAuthenticated(request).catch(orUnreachable);
      if (!(outcome instanceof Unreachable) && outcome.ok) return outcome;
      const failure = outcome instanceof Unreachable ? outcome : await failureOf(outcome);
      if (isTimeout(request.signal) && failure instanceof Unreachable) throw lack ?? failure;
      lack = failure;
      if (failure instanceof ApiFailure) failure.isRepeated = unanswered > 0;
      // an earlier attempt has deleted it
      if (isGone(request, failure)) return new Response(null, { status: 204 });
      const asked = outcome instanceof Unreachable ? null : pauseOf(outcome, request);
      if (asked === null && !mayBeSentAgain(failure, request, isPatient)) throw failure;
      if (asked === null) unanswered += 1;
      const ms = asked ?? pauseAfter(unanswered, monotonicMs() - attempted);
      const elapsed = monotonicMs() - began;
      const isOver =
        asked !== null || isPatient
          ? elapsed + ms > patienceMs
          : unanswered >= MAX_ATTEMPTS || elapsed >= timeoutOf(request);
      if (isOver) throw failure;
      onRetry?.(failure.message, Math.ceil(ms / 1000));
      await delay(ms, undefined, { signal: request.signal }).catch((error: unknown) => {
        // the next attempt says what has lacked
        if (!isTimeout(request.signal)) throw error;
      });
    }
  };
}

/**
 * @param unanswered attempts so far
 * @param took the last one, in milliseconds: who has waited for an answer need not wait again
 */
export const pauseAfter = (unanswered: number, took: number): number =>
  Math.max(0, Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (unanswered - 1)) - took);

const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && (reason as Error).name === 'TimeoutError';

/** Sends a request, and reads all of an answer that ends access: half of one is none. */
async function fetchOnce(request: Request): Promise<Response> {
  const { origin } = new URL(request.url);
  const timeout = AbortSignal.timeout(timeoutOf(request));
  const began = monotonicMs();
  try {
    // followed, a redirect would take an API key to another server
    const response = await fetch(request, {
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, timeout]),
    });
    requireDrawbridge(response, origin);
    noteServerTime(response.headers.get('date'), monotonicMs() - began);
    return endsAccess(request) ? new Response((await response.text()) || null, response) : response;
  } catch (error) {
    if (error instanceof Unreachable) throw error;
    if (isTimeout(request.signal)) throw new Unreachable(origin, 'no answer in time');
    if (request.signal.aborted) throw error;
    if (!timeout.aborted) throw unreachable(origin, error);
    throw new Unreachable(origin, `no answer within ${timeoutOf(request) / 1000} s`);
  }
}

function timeoutOf(request: Request): number {
  const isQuick = endsAccess(request) || isStopOrRenew(request);
  return isQuick ? STOP_OR_RENEW_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
}

function orUnreachable(error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  throw error;
}

const isStopOrRenew = ({ method, url }: Request): boolean =>
  method === 'POST' && STOP_OR_RENEW.test(new URL(url).pathname);

function endsAccess({ method, url }: Request): boolean {
  const { pathname } = new URL(url);
  return method === 'POST' ? END.test(pathname) : method === 'DELETE' && !pathname.endsWith('/lockdown');
}

const isRepeatable = (request: Request): boolean =>
  request.method === 'GET' ||
  request.headers.has('Idempotency-Key') ||
  isStopOrRenew(request) ||
  endsAccess(request);

/** Whether a request that got no answer of use is sent again. A proxy answers for a server that is away, with 502 or 404. */
function mayBeSentAgain(failure: Unreachable | ApiFailure, request: Request, isPatient: boolean): boolean {
  if (isPatient) return failure instanceof Unreachable || failure.isTemporary || failure.code === null;
  return failure instanceof Unreachable && failure.isPassing && isRepeatable(request);
}

const isGone = ({ method }: Request, failure: Error): boolean =>
  method === 'DELETE' && failure instanceof ApiFailure && failure.status === 404 && failure.isRepeated;

/** @returns the pause that the server asks for before the request is repeated; null: it asks for none */
function pauseOf({ status, headers }: Response, request: Request): number | null {
  // a request that is one too many has had no effect
  const mayRepeat = isRepeatable(request) || !SIGN_IN.test(request.url);
  if (!(status === 429 && mayRepeat) && !(status === 503 && isRepeatable(request))) return null;
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? 1000 * Math.max(1, seconds) : null;
}
